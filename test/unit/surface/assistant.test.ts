import { expect, test } from 'vitest';
import { Assistant } from '../../../src/assistant/assistant.ts';
import { settleAssistant } from '../../../src/assistant/settings.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import type { Pool } from '../../../src/pool/pool.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { AssistantSurface } from '../../../src/surface/assistant.ts';
import { childConfig } from '../../support/child-config.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

/** An assistant without a model, whose server must not be needed. */
function open(some: Partial<ChildConfig> = {}): AssistantSurface {
  const assistant = new Assistant({
    childName: 'kid',
    settings: settleAssistant({}, {}),
    env: {},
    toolServer: { command: 'x', args: [], env: {} },
    processes: { mark: {}, onProcess: () => {} },
    openToolbox: () => Promise.reject(new Error('The server was started.')),
    log: SILENT_LOG,
  });
  return new AssistantSurface(childConfig({ name: 'kid', ...some }), {} as Pool, assistant);
}

const call = (name: string, args: object = {}, task?: Verbatim) =>
  [name, Verbatim.of(args), { cancellation: new Cancellation(), task }] as const;

test.each([
  [{}, 'Use this tool for the server "kid": describe what you want in plain language.'],
  [
    { description: 'long-term memory.' },
    'Use this tool for long-term memory: describe what you want in plain language.',
  ],
  [
    { description: 'memory', suiteDescription: 'Remembers things for you.' },
    'Remembers things for you: describe what you want in plain language.',
  ],
  [
    { suiteDescription: 'no', switchboardDescription: 'Keep \u200bnotes' },
    'Keep notes: describe what you want in plain language.',
  ],
])('the tool describes its server: %j', (some, description) => {
  expect(open(some).listTools()).toMatchObject([{ name: 'natural_language', description }]);
});

test('includes search words for hosts', () => {
  expect(open({ keywords: ['notes', 'graph'] }).listTools()[0]?.['_meta']).toEqual({
    'anthropic/alwaysLoad': true,
    'anthropic/searchHint': 'notes graph',
  });
});

test.each([{}, { query: '' }, { query: ' ' }, { query: 7 }])('%j is not a query', async (args) => {
  await expect(open().callTool(...call('natural_language', args))).rejects.toMatchObject({
    code: 'TOOL_ARGUMENTS',
  });
});

test('without a model the server is not started', async () => {
  const asked = open().callTool(...call('converse', { query: 'hello', context: { a: 1 } }));
  await expect(asked).rejects.toMatchObject({ code: 'ASSISTANT_NOT_CONFIGURED' });
});

test('has only the one tool, which does not support tasks', async () => {
  const surface = open();
  await expect(surface.callTool(...call('read_graph'))).rejects.toMatchObject({
    code: 'TOOL_UNKNOWN',
  });
  const task = call('natural_language', { query: 'hello' }, Verbatim.of({}));
  await expect(surface.callTool(...task)).rejects.toThrow('cannot run as a task');
  await expect(surface.ask('prompts/get')).rejects.toThrow('An assistant only has tools');
  expect(surface.listPrompts()).toEqual([]);
  expect(surface.listResources()).toEqual([]);
  expect(surface.listTemplates()).toEqual([]);
  expect(surface.active).toEqual([]);
});
