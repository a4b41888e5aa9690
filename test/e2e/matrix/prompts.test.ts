// Prompts, and the completion of their arguments.
import { expect } from 'vitest';
import { describeMatrix } from './matrix.ts';
import { waitFor } from './wait.ts';

describeMatrix('prompts', ['direct', 'switchboard', 'http'], (tryCell) => {
  tryCell('list-prompts', async ({ host }) => {
    await waitFor(
      () => host.listPrompts(),
      [
        {
          name: 'greet',
          description: 'Greets somebody.',
          arguments: [
            { name: 'who', description: 'Whom', required: true },
            { name: 'color', description: 'In which color' },
          ],
        },
        { name: 'interview', description: 'Asks for a name first.' },
      ],
    );
  });

  tryCell('get-prompt', async ({ host }) => {
    expect(await host.getPrompt('greet', { who: 'Bo', color: 'red' })).toEqual({
      description: 'A prompt.',
      messages: [{ role: 'user', content: { type: 'text', text: 'Greet Bo in red.' } }],
    });
    await expect(host.getPrompt('nope')).rejects.toMatchObject({ code: -32_602 });
  });

  tryCell('prompt-completion', async ({ host }) => {
    const ref = { type: 'ref/prompt' as const, name: 'greet' };
    const argument = { name: 'color', value: 'r' };
    expect(await host.complete({ ref, argument })).toEqual({
      completion: { values: ['red', 'rose'], total: 2, hasMore: false },
    });
    const context = { arguments: { who: 'nobody' } };
    expect(await host.complete({ ref, argument, context })).toEqual({
      completion: { values: [], total: 0, hasMore: false },
    });
  });
});
