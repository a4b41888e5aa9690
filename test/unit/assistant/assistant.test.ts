import { expect, test } from 'vitest';
import { Assistant } from '../../../src/assistant/assistant.ts';
import { settleAssistant } from '../../../src/assistant/settings.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { Log } from '../../../src/base/log.ts';
import { type Script, startModelServer } from '../../support/model-server-chat.ts';

const nothing = (): void => {};
const SILENT: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: nothing,
};

async function ask(script: Script) {
  const server = await startModelServer(script);
  const env = { ...server.env('messages') };
  using assistant = new Assistant({
    childName: 'kid',
    settings: settleAssistant({}, env),
    env,
    toolServer: { command: 'none', args: [], env: {} },
    processes: { mark: {}, onProcess: nothing },
    openToolbox: async () => ({
      tools: [],
      instructions: undefined,
      call: () => Promise.reject(new Error('there are none')),
      refusal: (name) => new SwitchboardError('SUBTOOL_UNKNOWN', `No ${name}.`),
    }),
    log: SILENT,
  });
  const { value } = await assistant.answer({
    text: 'Hello',
    context: undefined,
    caller: undefined,
    cancellation: new Cancellation(),
    onProgress: undefined,
  });
  return value as { content: { text: string }[] };
}

test('an answer is plain text, with its statistics in _meta', async () => {
  expect(await ask(() => ({ text: 'Hi.' }))).toEqual({
    content: [{ type: 'text', text: 'Hi.' }],
    _meta: {
      'switchboard/assistant': expect.objectContaining({ calls: [], rounds: 1 }) as unknown,
    },
  });
});

test('a long answer is cut', async () => {
  const tooLong = await ask(() => ({ text: 'x'.repeat(3_000_000) }));
  expect(tooLong.content[0]?.text).toMatch(/x\n… \(cut off after 1000000 of 3000000 characters\)$/);
});
