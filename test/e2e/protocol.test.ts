// The protocol as a host sees it, byte for byte: handshake, framings, ids, errors.
import { afterEach, describe, expect, test } from 'vitest';
import { eventually, isAlive } from '../support/processes.ts';
import { configWith, createProject } from '../support/project.ts';
import { type HostOptions, RawHost, textOf } from '../support/raw-host.ts';
import { MOCK_CHILD, testServer } from '../support/servers.ts';

const hosts: RawHost[] = [];

afterEach(() => {
  for (const host of hosts.splice(0)) expect(host.impure).toEqual([]);
});

/** What every request of a modern host says of itself. */
const MODERN = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};

const SERVERS = { mock: MOCK_CHILD, toolbox: testServer('toolbox') };

function start(options: HostOptions = {}, servers: object = SERVERS): RawHost {
  const project = createProject(configWith(servers));
  const host = new RawHost(project, options);
  hosts.push(host);
  return host;
}

function shakeHands(host: RawHost, protocolVersion = '2025-11-25') {
  return host.request('initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
}

function frame(message: object, headerName = 'Content-Length'): string {
  const json = JSON.stringify(message);
  return `${headerName}: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

describe('the handshake', () => {
  test.each(['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'revision %s is answered with the same',
    async (revision) => {
      const { result } = await shakeHands(start(), revision);
      expect(result?.['protocolVersion']).toBe(revision);
    },
  );

  test('an unknown revision is answered with the newest handshake revision', async () => {
    const { result } = await shakeHands(start(), '1999-12-31');
    expect(result?.['protocolVersion']).toBe('2025-11-25');
  });

  test('the answer identifies us, and declares that all lists may change', async () => {
    const { result } = await shakeHands(start());
    expect(result).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
        tasks: { cancel: {}, requests: { tools: { call: {} } } },
      },
      serverInfo: {
        name: 'switchboard',
        title: 'Switchboard',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      },
      instructions: expect.stringContaining('introspect'),
      name: 'switchboard',
    });
  });

  test('tasks belong to the last handshake revision', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {} };
    const { result } = await start().request('initialize', params);
    expect(result?.['capabilities']).not.toHaveProperty('tasks');
  });

  test('initialize without parameters is answered', async () => {
    const { result } = await start().request('initialize');
    expect(result).toMatchObject({ protocolVersion: '2025-11-25', name: 'switchboard' });
  });

  test('nothing is written before the host’s first message', async () => {
    const host = start();
    host.process.stdin?.write('\n');
    await host.close();
    expect(host.messages).toEqual([]);
  });
});

describe.each(['newline', 'content-length'] as const)('with %s framing', (framing) => {
  test('ping is answered with an empty object, before and after the handshake', async () => {
    const host = start({ framing });
    expect(await host.request('ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    await shakeHands(host);
    expect(await host.request('ping')).toEqual({ jsonrpc: '2.0', id: 3, result: {} });
  });

  test('an unknown method is -32601 with its name, first or later', async () => {
    const host = start({ framing });
    const unknown = { code: -32601, message: 'Method not found: foo/bar' };
    expect((await host.request('foo/bar')).error).toEqual(unknown);
    await shakeHands(host);
    expect((await host.request('foo/bar')).error).toEqual(unknown);
  });

  test('server/discover as the first message is answered, if it names its revision', async () => {
    const host = start({ framing });
    expect((await host.request('server/discover')).error).toEqual({
      code: -32602,
      message: 'params._meta must include "io.modelcontextprotocol/protocolVersion".',
    });
    const { result } = await host.request('server/discover', MODERN);
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true } },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'switchboard' } },
    });
  });

  test('server/discover is an unknown method after a handshake', async () => {
    const host = start({ framing });
    await shakeHands(host);
    expect((await host.request('server/discover', MODERN)).error).toEqual({
      code: -32601,
      message: 'Method not found: server/discover',
    });
  });

  test('with flip servers, server/discover is unknown: they need the handshake', async () => {
    const flip = { ...MOCK_CHILD, show: 'flip', start: 'lazy' };
    const host = start({ framing }, { flip });
    expect((await host.request('server/discover', MODERN)).error).toEqual({
      code: -32601,
      message: 'Method not found: server/discover',
    });
  });

  test('a notification gets no answer, known or not', async () => {
    const host = start({ framing });
    await shakeHands(host);
    host.notify('notifications/initialized');
    host.notify('notifications/nobody_knows', { a: 1 });
    host.notify('notifications/cancelled', { requestId: 'never sent' });
    host.notify('tools/list');
    await host.request('ping');
    expect(host.messages.map(({ id }) => id)).toEqual([1, 2]);
  });

  test.each([0, -7, 1.5, 9007199254740991, '', 'a', '7', '🦊 and \n "quotes"'])(
    'the id %j comes back unchanged',
    async (id) => {
      const host = start({ framing });
      expect(await host.request('ping', {}, id)).toEqual({ jsonrpc: '2.0', id, result: {} });
    },
  );

  test('requests with the ids 7 and "7" each get their own answer', async () => {
    const host = start({ framing });
    const [number, string] = await Promise.all([
      host.call('mock', 'echo', { i: 'number' }, 7),
      host.call('mock', 'echo', { i: 'string' }, '7'),
    ]);
    expect(number.result).toMatchObject({ args: { i: 'number' } });
    expect(string.result).toMatchObject({ args: { i: 'string' } });
  });

  test('a session that only lists and calls prints only messages on stdout', async () => {
    const host = start({ framing, env: { SWITCHBOARD_LOG: 'debug' } });
    await shakeHands(host);
    host.notify('notifications/initialized');
    await host.request('tools/list');
    await host.introspect('toolbox');
    await host.call('toolbox', 'say', { text: 'to stderr' });
    expect(await host.close()).toEqual({ code: 0, signal: null });
    expect(host.messages).toHaveLength(4);
    expect(await host.lastWords()).toContain('[toolbox] to stderr');
  });

  test('tools/call without a name, or with arguments that are not an object, is -32602', async () => {
    const host = start({ framing });
    expect((await host.request('tools/call', {})).error?.code).toBe(-32602);
    expect((await host.request('tools/call')).error?.code).toBe(-32602);
    const params = { name: 'mock_suite', arguments: 'introspect' };
    expect((await host.request('tools/call', params)).error?.code).toBe(-32602);
  });
});

describe('invalid messages', () => {
  test('a line that is not JSON is ignored, and the next message answered', async () => {
    const host = start();
    host.write('hello?\n\n   \nGET / HTTP/1.1\n');
    expect(await host.request('ping')).toMatchObject({ result: {} });
    expect(host.messages).toHaveLength(1);
  });

  test('a message that breaks off is a parse error, and the next is answered', async () => {
    const host = start();
    host.write('{"jsonrpc":"2.0","id":1,"method":\n');
    expect(await host.request('ping', {}, 2)).toMatchObject({ result: {} });
    expect(host.messages).toEqual([
      {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32700, message: 'The message is not valid JSON.' },
      },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
  });

  test('a request whose id is neither string nor number is refused', async () => {
    const host = start();
    host.write('{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}\n');
    host.write('{"jsonrpc":"2.0","id":true,"method":"ping"}\n');
    await host.request('ping', {}, 3);
    expect(host.messages.map(({ id, error }) => ({ id, code: codeOf(error) }))).toEqual([
      { id: null, code: -32600 },
      { id: null, code: -32600 },
      { id: 3, code: undefined },
    ]);
  });

  test('a message without method or jsonrpc is refused under its id', async () => {
    const host = start();
    host.write('{"jsonrpc":"2.0","id":1}\n{"id":2,"method":"ping"}\n');
    await host.request('ping', {}, 3);
    expect(host.messages.map(({ id, error }) => ({ id, code: codeOf(error) }))).toEqual([
      { id: 1, code: -32600 },
      { id: 2, code: -32600 },
      { id: 3, code: undefined },
    ]);
  });

  test('an answer to an unknown request is ignored', async () => {
    const host = start();
    host.write('{"jsonrpc":"2.0","id":99,"result":{}}\n');
    host.write('{"jsonrpc":"2.0","id":98,"error":{"code":1,"message":"x"}}\n');
    await host.request('ping', {}, 1);
    expect(host.messages).toHaveLength(1);
  });
});

describe('how messages arrive', () => {
  test('lines may end in CRLF, and the last may end with the input', async () => {
    const host = start();
    host.write(
      '{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n{"jsonrpc":"2.0","id":2,"method":"ping"}',
    );
    await host.close();
    expect(host.messages).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
  });

  test('a message split at every byte is reassembled, in lines', async () => {
    const host = start();
    const message = Buffer.from('{"jsonrpc":"2.0","id":"ünï🦊","method":"ping"}\n');
    for (const byte of message) host.write(Buffer.of(byte));
    await host.request('ping', {}, 'last');
    expect(host.messages.map(({ id }) => id)).toEqual(['ünï🦊', 'last']);
  });

  test('a message split at every byte is reassembled, with headers', async () => {
    const host = start({ framing: 'content-length' });
    const message = Buffer.from(frame({ jsonrpc: '2.0', id: 'ünï🦊', method: 'ping' }));
    for (const byte of message) host.write(Buffer.of(byte));
    await host.request('ping', {}, 'last');
    expect(host.messages.map(({ id }) => id)).toEqual(['ünï🦊', 'last']);
  });

  test('two messages in one chunk are both answered, in either framing', async () => {
    const [one, two] = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const lines = start();
    lines.write(`${JSON.stringify(one)}\n${JSON.stringify(two)}\n`);
    const headers = start({ framing: 'content-length' });
    headers.write(frame(one ?? {}) + frame(two ?? {}));
    for (const host of [lines, headers]) {
      expect(await eventually(() => host.messages.length === 2)).toBe(true);
      expect(host.messages.map(({ id }) => id)).toEqual([1, 2]);
    }
  });

  test('lengths count bytes, and messages to the host are ASCII', async () => {
    const host = start({ framing: 'content-length' });
    const text = 'žluťoučký 🦊 漢字';
    const { result } = await host.call('mock', 'echo', { text });
    expect(result).toMatchObject({ ok: true, args: { text } });
    await host.request('tools/list');
    for (const sent of host.texts) expect(sent).toMatch(/^[ -~]+$/);
  });

  test('the header may be lower-case and have others next to it', async () => {
    const host = start({ framing: 'content-length' });
    host.write(frame({ jsonrpc: '2.0', id: 1, method: 'ping' }, 'content-length'));
    const type = 'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n';
    host.write(type + frame({ jsonrpc: '2.0', id: 2, method: 'ping' }));
    await eventually(() => host.messages.length === 2);
    expect(host.messages.map(({ id }) => id)).toEqual([1, 2]);
  });

  test('a header without a length is reported, and the next message answered', async () => {
    const host = start({ framing: 'content-length' });
    host.write('X: 1\r\n\r\n');
    expect(await host.request('ping', {}, 2)).toMatchObject({ result: {} });
    expect(host.messages).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Missing Content-Length' } },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
  });
});

describe('batches', () => {
  const BATCH = [
    { jsonrpc: '2.0', id: 11, method: 'ping' },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 12, method: 'foo/bar' },
  ];

  test.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    'are refused in revision %s',
    async (revision) => {
      const host = start();
      await shakeHands(host, revision);
      host.send(BATCH);
      await host.request('ping', {}, 'after');
      expect(host.messages.slice(1)).toEqual([
        {
          jsonrpc: '2.0',
          id: null,
          error: { code: -32600, message: expect.stringContaining('Batches') },
        },
        { jsonrpc: '2.0', id: 'after', result: {} },
      ]);
    },
  );

  test('are answered as a batch in revision 2025-03-26, without the notifications', async () => {
    const host = start();
    await shakeHands(host, '2025-03-26');
    host.send(BATCH);
    await eventually(() => host.messages.length === 2);
    expect(host.messages[1]).toEqual([
      { jsonrpc: '2.0', id: 11, result: {} },
      { jsonrpc: '2.0', id: 12, error: { code: -32601, message: 'Method not found: foo/bar' } },
    ]);
  });

  test('of only notifications get no answer, and an empty one is refused', async () => {
    const host = start();
    await shakeHands(host, '2025-03-26');
    host.send([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
    host.send([]);
    await host.request('ping', {}, 'after');
    expect(host.messages.slice(1)).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'A batch must not be empty.' } },
      { jsonrpc: '2.0', id: 'after', result: {} },
    ]);
  });
});

describe('failures', () => {
  const BAD_ACTION = { name: 'mock_suite', arguments: { action: 'dance' } };

  test('of a tool are results in lines, for the model to read', async () => {
    const answer = await start().request('tools/call', BAD_ACTION);
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toMatchInlineSnapshot(
      `"mock_suite has no action "dance". Valid actions: 'introspect' (list the subtools), 'call' (run one, with "subtool" and "args")."`,
    );
  });

  test('of a tool are errors -32000 with headers, with the same text', async () => {
    const host = start({ framing: 'content-length' });
    const { error } = await host.request('tools/call', BAD_ACTION);
    expect(error).toMatchInlineSnapshot(`
      {
        "code": -32000,
        "data": {
          "code": "TOOL_ARGUMENTS",
        },
        "message": "mock_suite has no action "dance". Valid actions: 'introspect' (list the subtools), 'call' (run one, with "subtool" and "args").",
      }
    `);
  });

  test('an unknown tool is -32602 in lines and -32000 with headers', async () => {
    const params = { name: 'mok_suite', arguments: { action: 'introspect' } };
    const lines = await start().request('tools/call', params);
    expect(lines.error).toMatchInlineSnapshot(`
      {
        "code": -32602,
        "message": "Unknown tool: mok_suite. Did you mean mock_suite?",
      }
    `);
    const headers = await start({ framing: 'content-length' }).request('tools/call', params);
    expect(headers.error).toMatchInlineSnapshot(`
      {
        "code": -32000,
        "data": {
          "code": "TOOL_UNKNOWN",
        },
        "message": "Unknown tool: mok_suite. Did you mean mock_suite?",
      }
    `);
  });

  test('missing arguments count as none: the action is missing', async () => {
    const answer = await start().request('tools/call', { name: 'mock_suite' });
    expect(textOf(answer)).toMatchInlineSnapshot(
      `"mock_suite needs an action. Valid actions: 'introspect' (list the subtools), 'call' (run one, with "subtool" and "args")."`,
    );
  });

  test.each(['newline', 'content-length'] as const)(
    'a server’s error keeps its code and data with %s framing, and the connection stays open',
    async (framing) => {
      const host = start({ framing });
      const failure = { code: -32123, message: 'Out of tea.', data: { kettle: ['cold', 1] } };
      const { error } = await host.call('toolbox', 'fail', failure);
      expect(error).toEqual({
        ...failure,
        message: 'Out of tea. (server "toolbox", subtool "fail")',
      });
      const { result } = await host.call('toolbox', 'echo', { a: 1 });
      expect(result).toEqual({ content: [{ type: 'text', text: '{"a":1}' }] });
    },
  );
});

describe('the end', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s stops the program and its servers',
    async (signal) => {
      const host = start();
      const { pid } = JSON.parse(textOf(await host.call('toolbox', 'where_am_i'))) as {
        pid: number;
      };
      host.process.kill(signal);
      expect(await host.exited).toEqual({ code: 0, signal: null });
      expect(isAlive(pid)).toBe(false);
    },
  );

  test('the end of input stops the program and its servers', async () => {
    const host = start();
    const { pid } = JSON.parse(textOf(await host.call('toolbox', 'where_am_i'))) as { pid: number };
    expect(await host.close()).toEqual({ code: 0, signal: null });
    expect(isAlive(pid)).toBe(false);
  });
});

function codeOf(error: unknown): unknown {
  return (error as { code: number } | undefined)?.code;
}
