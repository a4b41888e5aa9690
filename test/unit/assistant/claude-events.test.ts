import { expect, test } from 'vitest';
import { ClaudeEvents } from '../../../src/assistant/providers/claude-events.ts';

/** What is heard of a text that comes in pieces of so many characters. */
function listen(text: string, size = text.length) {
  const heard: string[] = [];
  const events = new ClaudeEvents({
    onServer: (name, state) => heard.push(`${name} ${state}`),
    onUse: (tool) => {
      heard.push(`uses ${tool}`);
      return (isOk) => heard.push(`${tool} ${isOk ? 'worked' : 'failed'}`);
    },
    onResults: () => heard.push('asked again'),
  });
  for (let at = 0; at < text.length; at += size) events.take(text.slice(at, at + size));
  events.end();
  return { heard, answer: events.answer, words: events.words };
}

const lines = (...values: unknown[]): string =>
  values.map((value) => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`).join('');
const use = (id: string, name: string) => ({ type: 'tool_use', id, name });
const result = (id: string, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  ...more,
});
const from = (type: string, ...content: unknown[]) => ({ type, message: { content } });

test.each([1, 7, 10_000])('its events are parsed in chunks of %i', (size) => {
  const text = lines(
    { type: 'system', subtype: 'init', mcp_servers: [{ name: 'kid', status: 'connected' }] },
    from('assistant', { type: 'text', text: 'I look.' }, use('a', 'look'), use('b', 'find')),
    from('assistant', use('a', 'look')),
    from('user', result('a')),
    from('user', result('b', { is_error: true })),
    { type: 'result', result: 'Done.' },
  );
  const { heard, answer, words } = listen(text, size);
  expect(heard).toEqual([
    'kid connected',
    'uses look',
    'uses find',
    'look worked',
    'find failed',
    'asked again',
  ]);
  expect(answer).toEqual({ type: 'result', result: 'Done.' });
  expect(words).toBe('');
});

test('an answer without a line end counts', () => {
  expect(listen('{"type":"result","result":"Done."}').answer).toMatchObject({ result: 'Done.' });
});

test('anything else is ignored, and plain output is kept', () => {
  const text = lines(
    'Please run /login',
    '[1]',
    'null',
    { type: 'assistant' },
    from('assistant', null, 'x', { type: 'tool_use' }, { type: 'tool_use', id: 7, name: 'x' }),
    from('user', result('unknown')),
    { type: 'user', message: { content: 'Hello' } },
    { type: 'system', subtype: 'init', mcp_servers: 'none' },
  );
  const { heard, answer, words } = listen(text);
  expect(heard).toEqual([]);
  expect(answer).toBeUndefined();
  expect(words).toBe('Please run /login\n[1]\nnull\n');
});

test('an endless line does not hide what comes after it', () => {
  const { answer } = listen(
    lines('x'.repeat(17 << 20), { type: 'result', result: 'Done.' }),
    1 << 20,
  );
  expect(answer).toMatchObject({ result: 'Done.' });
});
