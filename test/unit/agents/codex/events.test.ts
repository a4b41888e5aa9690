// What happens in a run, in words for people: clean, bounded, and without secrets.
import { expect, test } from 'vitest';
import { describeNotification } from '../../../../src/agents/codex/events.ts';
import { createMask } from '../../../../src/base/secrets.ts';

const mask = createMask(['value-of-a-server']);
const started = (item: object) => describeNotification('item/started', { item }, mask);

test.each([
  [
    {
      type: 'commandExecution',
      command: "/bin/bash -lc 'cd x && ls | xargs rm'",
      commandActions: [{ command: 'ls' }],
    },
    'running: cd x && ls | xargs rm',
  ],
  [{ type: 'commandExecution', command: '/bin/sh -c ls' }, 'running: ls'],
  [{ type: 'commandExecution', command: 'x value-of-a-server' }, 'running: x ***'],
  [
    { type: 'commandExecution', command: 'a\u001b[31m\nb\u202e' },
    'running: a<U+001B>[31m ⏎ b<U+202E>',
  ],
  [{ type: 'fileChange', changes: [{ path: '/w/a.txt' }] }, 'editing /w/a.txt'],
  [{ type: 'fileChange', changes: [{ path: '/w/a' }, { path: '/w/b' }] }, 'editing /w/a, /w/b'],
  [{ type: 'mcpToolCall', server: 'memory', tool: 'read_graph' }, 'calling memory.read_graph'],
  [{ type: 'webSearch', query: '' }, 'searching the web'],
  [{ type: 'webSearch', query: 'cats' }, 'searching the web for cats'],
  [{ type: 'imageView', path: '/w/a.png' }, 'viewing /w/a.png'],
])('%j', (item, text) => {
  expect(started(item)).toEqual({ kind: 'step', text });
});

test('a step is never longer than the limit', () => {
  const event = started({
    type: 'commandExecution',
    command: 'x'.repeat(9_999),
  });
  expect(event?.text).toHaveLength(301);
});

test.each([
  ['item/started', { item: { type: 'userMessage' } }],
  ['item/started', {}],
  ['item/completed', { item: { type: 'commandExecution' } }],
  ['item/started', null],
  ['error', { error: { message: 'the last one' }, willRetry: false }],
  ['mcpServer/startupStatus/updated', { name: 'memory', status: 'ready' }],
  ['configWarning', { summary: 'the same in every run' }],
  ['something/new', { text: 'x' }],
])('%s %j is not reported', (method, params) => {
  expect(describeNotification(method, params, mask)).toBeUndefined();
});

test('a server that does not start is a warning', () => {
  const params = { name: 'memory', status: 'failed', error: 'value-of-a-server refused' };
  expect(describeNotification('mcpServer/startupStatus/updated', params, mask)).toEqual({
    kind: 'warning',
    text: 'server memory did not start: *** refused',
  });
});
