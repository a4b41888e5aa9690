// Calls as tasks: handed on where host and server speak the same era, and not offered otherwise.
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/processes.ts';
import { configWith, createProject } from '../support/project.ts';
import { type Answer, RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { type Serving, startServing } from '../support/serve-http.ts';
import { testServer } from '../support/servers.ts';

const TASKS = 'io.modelcontextprotocol/tasks';
const envelope = (extensions = {}) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { extensions },
});

function projectWith(era: string) {
  return createProject(configWith({ job: { ...testServer('tasks', era), show: 'direct' } }));
}

async function connect(era: string): Promise<RawHost> {
  const host = await RawHost.connect(projectWith(era));
  expect(await eventually(() => host.listChanges > 0)).toBe(true);
  return host;
}

/** A host that has no handshake; the list is there once the server has been asked for it. */
async function connectModern(era: string): Promise<{ host: RawHost; tools: Answer }> {
  const host = new RawHost(projectWith(era));
  const list = () => host.request('tools/list', { _meta: envelope() });
  await expect.poll(async () => toolsOf(await list()).map(({ name }) => name)).toContain('work');
  return { host, tools: await list() };
}

test('in the handshake era', async () => {
  const host = await connect('handshake');
  const work = toolsOf(await host.request('tools/list')).find(({ name }) => name === 'work');
  expect(work?.['execution']).toEqual({ taskSupport: 'optional' });

  const params = { name: 'work', arguments: {}, task: { ttl: 1000 } };
  const { result } = await host.request('tools/call', params);
  expect(result).toMatchObject({ task: { status: 'working' } });
  const { taskId } = (result?.['task'] ?? {}) as { taskId?: string };
  expect(taskId).not.toBe('t1'); // the server's own name would not say whose it is

  expect((await host.request('tasks/get', { taskId })).result).toMatchObject({ taskId });
  const done = await host.request('tasks/result', { taskId });
  expect(textOf(done)).toBe('worked');
  expect(done.result?.['_meta']).toEqual({ 'io.modelcontextprotocol/related-task': { taskId } });
  expect((await host.request('tasks/cancel', { taskId })).result).toMatchObject({
    taskId,
    status: 'cancelled',
  });
  // Without being asked for it is a call like any other.
  expect(textOf(await host.callTool('work'))).toBe('worked');
});

test.each(['', 't1', 'am9i.t1', 'am9i..t1', 'am9i.x.t1', 'bm9ib2R5.x.t1', 7])(
  'there is no task %j',
  async (taskId) => {
    const host = await connect('handshake');
    await host.callTool('work');
    expect((await host.request('tasks/get', { taskId })).error?.code).toBe(-32602);
  },
);

test('in the modern era', async () => {
  const { host } = await connectModern('modern');
  const _meta = envelope({ [TASKS]: {} });
  const { result } = await host.request('tools/call', { name: 'work', arguments: {}, _meta });
  expect(result).toMatchObject({ resultType: 'task', status: 'working' });
  const taskId = result?.['taskId'];
  expect(taskId).not.toBe('t1');
  expect((await host.request('tasks/get', { taskId, _meta })).result).toMatchObject({ taskId });
  expect((await host.request('tasks/cancel', { taskId, _meta })).result).toMatchObject({
    status: 'cancelled',
  });
  const plain = await host.request('tools/call', { name: 'work', _meta: envelope() });
  expect(textOf(plain)).toBe('worked');
});

test('a modern host is not offered the tasks of a handshake-era server', async () => {
  const { host, tools } = await connectModern('handshake');
  expect(JSON.stringify(tools)).not.toContain('taskSupport');
  const _meta = envelope({ [TASKS]: {} });
  expect(textOf(await host.request('tools/call', { name: 'work', _meta }))).toBe('worked');
});

test('a handshake-era host is not offered the tasks of a modern server', async () => {
  const host = await connect('modern');
  expect(textOf(await host.callTool('work'))).toBe('worked');
  const params = { name: 'work', arguments: {}, task: { ttl: 1000 } };
  expect((await host.request('tools/call', params)).error?.code).toBe(-32601);
});

describe('over HTTP, where hosts share a server', () => {
  type Send = (method: string, params: object) => Promise<Answer>;

  async function post(url: string, headers: Record<string, string>, message: object) {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    const text = await response.text();
    const json = /^data: (\{.*)$/m.exec(text)?.[1] ?? (text || '{}');
    return { response, answer: JSON.parse(json) as Answer };
  }

  /** A host that has shaken hands. */
  async function connectTo({ url, headers }: Serving): Promise<Send> {
    const params = { protocolVersion: '2025-11-25', capabilities: {} };
    const begun = await post(url, headers, { id: 1, method: 'initialize', params });
    const session = begun.response.headers.get('mcp-session-id') ?? '';
    const own = { ...headers, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    await post(url, own, { method: 'notifications/initialized' });
    let id = 1;
    return async (method, asked) => {
      return (await post(url, own, { id: ++id, method, params: asked })).answer;
    };
  }

  test('another host cannot read or cancel a task, even if it knows the id', async () => {
    const serving = await startServing(projectWith('handshake'));
    const [one, other] = await Promise.all([connectTo(serving), connectTo(serving)]);
    await expect
      .poll(async () => toolsOf(await one('tools/list', {})).map(({ name }) => name))
      .toContain('work');
    const { result } = await one('tools/call', {
      name: 'work',
      arguments: {},
      task: { ttl: 1000 },
    });
    const { taskId } = (result?.['task'] ?? {}) as { taskId?: string };
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect((await other(method, { taskId })).error).toMatchObject({
        code: -32602,
        message: 'Unknown task.',
      });
    }
    expect((await one('tasks/get', { taskId })).result).toMatchObject({ status: 'working' });
  });
});
