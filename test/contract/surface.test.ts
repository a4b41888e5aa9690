// What a session may expect of any surface.
import { describe, expect, test } from 'vitest';
import { Assistant } from '../../src/assistant/assistant.ts';
import { settleAssistant } from '../../src/assistant/settings.ts';
import { Cancellation } from '../../src/base/cancellation.ts';
import type { CallContext } from '../../src/calls/call.ts';
import type { LogLevel } from '../../src/mcp/logging.ts';
import { RpcError } from '../../src/rpc/message.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { AssistantSurface } from '../../src/surface/assistant.ts';
import type { Surface } from '../../src/surface/surface.ts';
import { childConfig } from '../support/child-config.ts';
import { createBoard, openView } from '../support/fake-board.ts';
import { createFakePool, FakeChild } from '../support/fake-child.ts';
import { SILENT_LOG } from '../support/silent-log.ts';

const box = childConfig({ name: 'box', description: 'boxes' });

interface Opened {
  readonly surface: Surface;
  readonly child: FakeChild;
  readonly starts: () => number;
  /** Starts the server, as a session's first use would. */
  readonly start: () => Promise<unknown>;
}

function openViewOfBox(): Opened {
  const child = new FakeChild('echo');
  let starts = 0;
  const { board, pool } = createBoard([box], async () => {
    starts++;
    return child;
  });
  const start = async () => pool.use('box', new Cancellation());
  return { surface: openView(board).view, child, starts: () => starts, start };
}

function openAssistant(): Opened {
  const child = new FakeChild('echo');
  let starts = 0;
  const { pool } = createFakePool([box], async () => {
    starts++;
    return child;
  });
  const assistant = new Assistant({
    childName: 'box',
    settings: settleAssistant({}, {}),
    env: {},
    toolServer: { command: 'x', args: [], env: {} },
    processes: { mark: {}, onProcess: () => {} },
    openToolbox: () => Promise.reject(new Error('No model asked for tools.')),
    log: SILENT_LOG,
  });
  const start = async () => pool.use('box', new Cancellation());
  const surface = new AssistantSurface(box, pool, assistant);
  return { surface, child, starts: () => starts, start };
}

const SURFACES: readonly (readonly [string, () => Opened])[] = [
  ['a view of the board', openViewOfBox],
  ['an assistant', openAssistant],
];

describe.each(SURFACES)('%s', (_title, open) => {
  const context: CallContext = { cancellation: new Cancellation() };

  test('lists the same tools again, without starting a server', () => {
    const { surface, starts } = open();
    const list = JSON.stringify(surface.listTools());
    expect(surface.listTools().length).toBeGreaterThan(0);
    expect(JSON.stringify(surface.listTools())).toBe(list);
    expect(JSON.stringify(open().surface.listTools())).toBe(list);
    expect(starts()).toBe(0);
  });

  test('gives every tool a name of its own, a description and a schema', () => {
    const tools = open().surface.listTools();
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    for (const tool of tools) {
      expect(tool.name).toMatch(/^[\w.-]{1,64}$/);
      expect(tool['description']).toContain('boxes');
      expect(tool['inputSchema']).toMatchObject({ type: 'object' });
    }
  });

  test('explains itself to the model: each tool, and what the server is for', () => {
    const { surface } = open();
    expect(surface.instructions).toContain('boxes');
    for (const { name } of surface.listTools()) expect(surface.instructions).toContain(name);
  });

  test('a tool it does not list is TOOL_UNKNOWN and starts nothing', async () => {
    const { surface, starts } = open();
    const call = async () => surface.callTool('nope', Verbatim.of({}), context);
    await expect(call()).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
    expect(starts()).toBe(0);
  });

  test('a call without its required arguments is TOOL_ARGUMENTS and starts nothing', async () => {
    const { surface, starts } = open();
    for (const { name } of surface.listTools()) {
      const call = async () => surface.callTool(name, Verbatim.of({}), context);
      await expect(call()).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' });
    }
    expect(starts()).toBe(0);
  });

  test('has nothing listed that it was not told of, and nothing switched on', () => {
    const { surface } = open();
    expect(surface.listPrompts()).toEqual([]);
    expect(surface.listResources()).toEqual([]);
    expect(surface.listTemplates()).toEqual([]);
    expect(surface.active).toEqual([]);
  });

  test.each([
    ['prompts/get', { name: 'nope' }],
    ['resources/read', { uri: 'nope:1' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'nope' } }],
    ['tasks/get', { taskId: 'nope' }],
  ])('%s for something it does not have is a protocol error', async (method, params) => {
    const { surface, starts } = open();
    const asked = async () => surface.ask(method, Verbatim.of(params), context);
    await expect(asked()).rejects.toBeInstanceOf(RpcError);
    expect(starts()).toBe(0);
  });

  test('watching resources nobody has is no error', async () => {
    const { surface, child, start } = open();
    await start();
    await surface.watch(new Set(['nope:1']));
    await surface.watch(new Set());
    expect(child.watched.flat()).toEqual([]);
  });

  test('the log level reaches running servers', async () => {
    const { surface, child, start } = open();
    await start();
    const level: LogLevel = 'warning';
    surface.setLogLevel(level);
    expect(child.logLevels).toContain(level);
  });

  test('closing it leaves the server to others', async () => {
    const { surface, child, start } = open();
    await start();
    surface.close();
    surface.close();
    expect(child.stopped).toBe(false);
  });
});
