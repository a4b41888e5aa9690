// Nothing a server, a host or the network does may end the process. Each scene makes one callback throw
// that runs because of them. The error must be reported once, and nobody else may notice. A throw that
// escapes fails the whole run as an uncaught error.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { Cancellation } from '../../src/base/cancellation.ts';
import type { Log } from '../../src/base/log.ts';
import { ProcessLink } from '../../src/child/process-link.ts';
import { StderrReader } from '../../src/child/stderr.ts';
import type { ChildConfig } from '../../src/config/config.ts';
import { DEFAULTS } from '../../src/config/defaults.ts';
import { openControl } from '../../src/host/control.ts';
import { askRunning } from '../../src/host/control-client.ts';
import { StdioHost } from '../../src/host/stdio.ts';
import { Catalog } from '../../src/pool/catalog.ts';
import { Flow } from '../../src/pool/flow.ts';
import { Slot, type SlotEvents } from '../../src/pool/slot.ts';
import { Outbox } from '../../src/rpc/outbox.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { Parking } from '../../src/session/parking.ts';
import { StateSeal } from '../../src/session/request-state.ts';
import { Session, type SessionOptions } from '../../src/session/session.ts';
import { childConfig } from '../support/child-config.ts';
import { EMPTY_SURFACE } from '../support/empty-surface.ts';
import { asStart, FakeChild, temporaryFolder } from '../support/fake-child.ts';
import { begin, modern, openRequest, openTestHost, rpc, send } from '../support/http-host.ts';
import { beginEvents, OddServer, result } from '../support/odd-http-server.ts';
import { asAnswer } from '../support/outgoing.ts';
import { callText } from '../support/remote-child.ts';
import { createScriptedPeer } from '../support/scripted-peer.ts';
import { SILENT_LOG } from '../support/silent-log.ts';
import { startChild } from '../support/start-child.ts';
import { startOptions } from '../support/start-options.ts';

/** A callback that throws, and two ways to report it. */
interface Injection {
  readonly boom: () => never;
  readonly onBug: (error: unknown) => void;
  readonly log: Log;
}

type Scene = (injection: Injection) => Promise<void>;

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Patient: a busy machine takes its time. */
const eventually = <T>(check: () => T) => vi.waitFor(check, { timeout: 60_000 });

const PEER: Record<string, Scene> = {
  'a notification': async ({ boom, onBug }) => {
    const { peer, receive, answer } = createScriptedPeer({ onNotification: boom, onBug });
    receive({ method: 'notifications/tools/list_changed' });
    const asked = peer.request('ping', undefined, { timeoutMs: 1_000 });
    answer('ping', {});
    await asked;
  },
  'progress of a request': async ({ boom, onBug }) => {
    const { peer, receive, last, answer } = createScriptedPeer({ onBug });
    const asked = peer.request('work', undefined, { timeoutMs: 1_000, onProgress: boom });
    const progressToken = last('work').id;
    receive({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    answer('work', {});
    await asked;
  },
  'the end of a request': async ({ boom, onBug }) => {
    const { peer, answer } = createScriptedPeer({ onBug });
    const asked = peer.request('work', undefined, { timeoutMs: 1_000, onSettled: boom });
    answer('work', { is: 'here' });
    expect((await asked).value).toEqual({ is: 'here' });
  },
  'the end of a request whose time is over': async ({ boom, onBug }) => {
    const { peer } = createScriptedPeer({ onBug });
    const asked = peer.request('work', undefined, { timeoutMs: 1, onSettled: boom });
    await expect(asked).rejects.toThrow('RPC timeout');
  },
  'the cancellation of a request under way': async ({ boom, onBug }) => {
    const { peer, receive } = createScriptedPeer({
      onBug,
      onRequest: ({ cancellation }) => {
        cancellation.listen(boom);
        return new Promise(() => {});
      },
    });
    receive({ id: 1, method: 'work' });
    receive({ method: 'notifications/cancelled', params: { requestId: 1 } });
    peer.notify('still here');
  },
  'the cancellation at the end of a connection': async ({ boom, onBug }) => {
    const { peer, receive } = createScriptedPeer({
      onBug,
      onRequest: ({ cancellation }) => {
        cancellation.listen(boom);
        return new Promise(() => {});
      },
    });
    receive({ id: 1, method: 'work' });
    peer.close(new Error('It has ended.'));
  },
  'sending an answer': async ({ boom, onBug }) => {
    const { receive } = createScriptedPeer({ onBug, send: boom });
    receive({ id: 1, method: 'ping' });
    await settled();
  },
  'sending a notification': async ({ boom, onBug }) => {
    createScriptedPeer({ onBug, send: boom }).peer.notify('news');
  },
  'writing what was sent': async ({ boom, onBug }) => {
    const outbox = new Outbox(new Writable(), onBug, boom);
    outbox.send('{}', 'newline');
    await settled();
  },
};

test('a request that cannot be sent fails at once', async () => {
  const onSettled = vi.fn();
  const { peer } = createScriptedPeer({
    send: () => {
      throw new Error('injected');
    },
  });
  const asked = peer.request('work', undefined, { timeoutMs: 60_000, onSettled });
  await expect(asked).rejects.toThrow('injected');
  expect(onSettled).toHaveBeenCalledTimes(1);
  expect(peer.requests.ids).toEqual([]);
});

/** A server that answers every request, and does what `more` says when it is called. */
const serverProgram = (more: string) => `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'initialize') {
      const { protocolVersion } = params;
      answer({ protocolVersion, capabilities: {}, serverInfo: { name: 'x', version: '1' } });
    }
    if (method === 'tools/call') { ${more}; answer({ content: [] }); }
  });`;

const NEWS = `console.log('{"jsonrpc":"2.0","method":"notifications/news"}')`;

function localServer(more = ''): ChildConfig {
  const command = { cmd: process.execPath, args: ['-e', serverProgram(more)], env: {} };
  return childConfig({ name: 'near', cwd: process.cwd(), command, messageBytes: 2_000 });
}

function remoteServer(url: string, type: 'http' | 'sse' | 'ws' = 'http'): ChildConfig {
  return childConfig({ name: 'far', command: undefined, remote: { type, url, headers: {} } });
}

type StartOptions = Parameters<typeof startChild>[1];

async function startServer(config: ChildConfig, some: Partial<StartOptions> = {}) {
  const child = await startChild(config, startOptions(some));
  onTestFinished(() => child.stop());
  return child;
}

/** Sends a notification before each answer, on a stream of events. */
const tellsNews = () =>
  OddServer.start({
    onRequest: ({ message }, reply) => {
      const events = beginEvents(reply);
      events.write('data: {"jsonrpc":"2.0","method":"notifications/news"}\n\n');
      events.end(`data: ${result(message.id, '{"content":[]}')}\n\n`);
    },
  });

async function startSocketServer(): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  server.on('connection', (client) => {
    client.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id?: number; method: string };
      if (id === undefined) return;
      const greeting = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}}';
      if (method === 'tools/call') client.send('{"jsonrpc":"2.0","method":"notifications/news"}');
      client.send(result(id, method === 'initialize' ? greeting : '{"content":[]}'));
    });
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const SERVERS: Record<string, Scene> = {
  'a notification from a process': async ({ boom, onBug }) => {
    const child = await startServer(localServer(NEWS), { onNotification: boom, onBug });
    expect(await callText(child, 'echo')).toBe('{"content":[]}');
  },
  'a line that a process prints on stderr': async ({ boom, onBug }) => {
    const config = localServer(`console.error('words')`);
    const child = await startServer(config, { onStderr: boom, onBug });
    expect(await callText(child, 'echo')).toBe('{"content":[]}');
  },
  'progress of a call': async ({ boom, onBug }) => {
    const config = localServer(
      `console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1 } }))`,
    );
    const child = await startServer(config, { onBug });
    expect(await callText(child, 'echo', {}, { onProgress: boom })).toBe('{"content":[]}');
  },
  'a message beyond the limit, which ends that server': async ({ boom, onBug }) => {
    const cmd = process.execPath;
    const args = ['-e', `console.log('x'.repeat(100)); setInterval(() => {}, 1000)`];
    const link = await ProcessLink.open({
      name: 'near',
      command: { cmd, args, cwd: process.cwd(), env: process.env },
      framing: 'newline',
      messageBytes: 10,
      messageShape: DEFAULTS.messageShape,
      stopMs: 100,
      secrets: [],
      onStderr: () => {},
      onRequest: () => Verbatim.of({}),
      onNotification: () => {},
      onOversize: boom,
      onBug,
    });
    onTestFinished(() => link.stop());
    const asked = link.peer.request('ping', undefined, { timeoutMs: 60_000 });
    await expect(asked).rejects.toThrow('The connection ended: failed.');
    expect(await link.ended).toEqual({ kind: 'failed' });
  },
  'the last words on stderr': async ({ boom, onBug }) => {
    const stream = new PassThrough();
    const reader = new StderrReader(stream, { secrets: [], onStderr: boom, onBug });
    stream.end('no line end');
    await once(stream, 'close');
    expect(reader.tail).toBe('');
  },
  'a notification over Streamable HTTP': async ({ boom, onBug }) => {
    const { url } = await tellsNews();
    const child = await startServer(remoteServer(url), { onNotification: boom, onBug });
    expect(await callText(child, 'echo')).toBe('{"content":[]}');
  },
  'a notification that no request caused, over Streamable HTTP': async ({ boom, onBug }) => {
    const server = await OddServer.start({
      onGet: (_, reply) => {
        beginEvents(reply).write('data: {"jsonrpc":"2.0","method":"notifications/news"}\n\n');
      },
    });
    const child = await startServer(remoteServer(server.url), { onNotification: boom, onBug });
    expect(await callText(child, 'echo')).toContain('done');
  },
  'a notification over WebSocket': async ({ boom, onBug }) => {
    const config = remoteServer(await startSocketServer(), 'ws');
    const child = await startServer(config, { onNotification: boom, onBug });
    expect(await callText(child, 'echo')).toBe('{"content":[]}');
  },
};

const STDIO: Record<string, Scene> = {
  'a message of the host': async ({ boom, onBug }) => {
    const { input, received } = listenTo({ onBug, receive: boom });
    input.write('{"jsonrpc":"2.0","method":"a"}\nfalse\n');
    await eventually(() => expect(received).toEqual(['not-an-object']));
  },
  'its last message, without a line end': async ({ boom, onBug }) => {
    const { input, listening } = listenTo({ onBug, receive: boom });
    input.end('{"jsonrpc":"2.0","method":"a"}');
    await listening;
  },
  'a broken message': async ({ boom, onBug }) => {
    const { input, received } = listenTo({ onBug, receiveBroken: boom });
    input.write('false\n{"jsonrpc":"2.0","method":"a"}\n');
    await eventually(() => expect(received).toHaveLength(1));
  },
  'a message that is too large': async ({ boom, onBug }) => {
    const { input, received } = listenTo({ onBug, receiveOversize: onceComplete(boom) });
    input.write(`{"big":"${'x'.repeat(5_000)}"}\n{"jsonrpc":"2.0","method":"a"}\n`);
    await eventually(() => expect(received).toHaveLength(1));
  },
  'a host that reads again': async ({ boom, onBug }) => {
    const { host, output } = listenTo({ onBug, onDrained: boom });
    host.send(`"${'x'.repeat(5 << 20)}"`, 'newline');
    await settled();
    output.resume();
    await once(output, 'drain');
  },
};

const onceComplete =
  (boom: () => never) =>
  ({ complete }: { complete: boolean }): void => {
    if (complete) boom();
  };

interface ListenOptions {
  readonly onBug: (error: unknown) => void;
  readonly receive?: () => void;
  readonly receiveBroken?: () => void;
  readonly receiveOversize?: (event: { complete: boolean }) => void;
  readonly onDrained?: () => void;
}

function listenTo({ onBug, onDrained = () => {}, ...listener }: ListenOptions) {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1024 });
  const received: unknown[] = [];
  const messageLimits = { limitBytes: 4096, shape: DEFAULTS.messageShape };
  const host = new StdioHost({
    input,
    output,
    messageLimits,
    onFull: () => {},
    onDrained,
    onGivenUp: () => {},
    onBug,
  });
  const listening = host.listen({
    receive: ({ value }) => received.push(value),
    receiveBroken: ({ reason }) => received.push(reason),
    receiveOversize: () => {},
    ...listener,
  });
  return { input, output, host, received, listening };
}

const SESSION: Record<string, Scene> = {
  'work that begins when a host is ready': async ({ boom, log }) => {
    const { tell, ask } = openSession({ onReady: boom, log });
    await ask('initialize', { protocolVersion: '2025-11-25' });
    tell('notifications/initialized');
    await settled();
  },
  'the same for a modern host': async ({ boom, log }) => {
    const { ask } = openSession({ onReady: boom, log });
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    expect(await ask('tools/list', { _meta })).toHaveProperty('result.tools');
  },
  'news of the folders that a host opens': async ({ boom, log }) => {
    const { tell, ask } = openSession({ onRootsChanged: boom, log });
    await ask('initialize', { protocolVersion: '2025-11-25' });
    tell('notifications/roots/list_changed');
    expect(await ask('ping', {})).toHaveProperty('result');
  },
  'what a host is shown': async ({ boom, log }) => {
    const { ask } = openSession({ openSurface: boom, log });
    expect(await ask('initialize', {})).toHaveProperty('error.code', -32603);
  },
};

function openSession(some: Partial<SessionOptions>) {
  const answers: Record<string, unknown>[] = [];
  const session = new Session({
    openSurface: () => EMPTY_SURFACE,
    log: SILENT_LOG,
    send: (json) => void answers.push(JSON.parse(json) as Record<string, unknown>),
    onReady: () => {},
    eras: () => 'both',
    seal: new StateSeal(),
    parking: new Parking(),
    questionMs: () => 1_000,
    onRootsChanged: () => {},
    ...some,
  });
  onTestFinished(() => session.close());
  const receive = (message: object): void => {
    const value = { jsonrpc: '2.0', ...message };
    session.receive({ text: JSON.stringify(value), value, framing: 'newline' });
  };
  let id = 0;
  const ask = async (method: string, params: object) => {
    receive({ id: ++id, method, params });
    return eventually(() => {
      const answer = answers.find((one) => one['id'] === id);
      expect(answer).toBeDefined();
      return answer;
    });
  };
  return { ask, tell: (method: string) => receive({ method }) };
}

const HTTP: Record<string, Scene> = {
  'opening a session': async ({ boom, log }) => {
    const host = await openTestHost({ log, openSession: boom });
    await expect(send(host, { body: rpc('initialize') })).rejects.toThrow('socket hang up');
    expect((await send(host, { method: 'GET', path: '/healthz' })).status).toBe(200);
  },
  'a message of a session': async ({ boom, log }) => {
    const openSession = () => ({ receive: boom, setFull: () => {}, close: () => {} });
    const host = await openTestHost({ log, openSession });
    await expect(send(host, modern('tools/list'))).rejects.toThrow('socket hang up');
    expect((await send(host, { method: 'GET', path: '/healthz' })).status).toBe(200);
  },
  'looking up what a tool takes': async ({ boom, log }) => {
    const host = await openTestHost({ log, toolSchema: boom });
    const call = modern('tools/call', { name: 'a', arguments: {} });
    await expect(send(host, call)).rejects.toThrow('socket hang up');
    expect((await send(host, modern('echo'))).status).toBe(200);
  },
  'a host that leaves in the middle of a request': async ({ boom, log }) => {
    let isOpen = false;
    const receive = () => {
      isOpen = true;
    };
    const openSession = () => ({ receive, setFull: () => {}, close: boom });
    const host = await openTestHost({ log, openSession });
    const request = openRequest(host, modern('wait'));
    await eventually(() => expect(isOpen).toBe(true));
    request.destroy();
    expect((await send(host, { method: 'GET', path: '/healthz' })).status).toBe(200);
  },
  'the end of a session': async ({ boom, log }) => {
    const host = await openTestHost({
      log,
      openSession: ({ send: answer }) => ({
        receive: ({ value }) => {
          const { id } = value as { id?: number };
          const message = { jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25' } };
          if (id !== undefined) answer(JSON.stringify(message), asAnswer(id, message));
        },
        setFull: () => {},
        close: boom,
      }),
    });
    const headers = await begin(host);
    expect((await send(host, { method: 'DELETE', headers })).status).toBe(204);
  },
};

const CONTROL: Record<string, Scene> = {
  'a connection': async ({ boom, log }) => {
    const home = temporaryFolder();
    let isBroken = true;
    const options = {
      home,
      project: '/project',
      log,
      get methods() {
        if (isBroken) boom();
        return { status: () => 'fine' };
      },
    };
    const control = await openControl(options);
    onTestFinished(() => control[Symbol.asyncDispose]());
    expect(await askRunning(home, 'status', 10_000)).toMatchObject([{ problem: 'not responding' }]);
    isBroken = false;
    expect(await askRunning(home, 'status', 10_000)).toMatchObject([{ value: 'fine' }]);
  },
};

const POOL: Record<string, Scene> = {
  'news that a server lists other tools': async ({ boom, onBug }) => {
    const { slot, child } = openSlot({ onListChanged: boom }, onBug);
    await slot.use(new Cancellation());
    child.others = {};
    await slot.warm();
    expect(slot.state).toBe('ready');
  },
  'the same, when the server says so itself': async ({ boom, onBug }) => {
    let isBroken = true;
    const onListChanged = vi.fn(() => {
      if (isBroken) boom();
    });
    const { slot, child, announce } = openSlot({ onListChanged }, onBug);
    await slot.use(new Cancellation());
    announce();
    await eventually(() => expect(onListChanged).toHaveBeenCalledTimes(1));
    isBroken = false;
    child.tools = [{ name: 'another' }];
    announce();
    await eventually(() => expect(onListChanged).toHaveBeenCalledTimes(2));
  },
  'a look at whether a server is still used': async ({ boom, onBug }) => {
    const { slot, child } = openSlot({}, onBug, { idleMs: 1 });
    Object.defineProperty(child, 'idleMs', { get: onSecondCall(boom) });
    await slot.use(new Cancellation());
  },
  'news that a server was lost': async ({ boom, onBug }) => {
    const { slot, child } = openSlot({ onLost: boom }, onBug);
    await slot.use(new Cancellation());
    child.crash();
    await eventually(() => expect(slot.state).toBe('error'));
  },
};

const onSecondCall = (boom: () => never) => {
  let calls = 0;
  return () => (++calls === 2 ? boom() : 0);
};

function openSlot(
  some: Partial<SlotEvents>,
  onBug: (error: unknown) => void,
  config: Partial<ChildConfig> = {},
) {
  const child = new FakeChild('echo');
  const silent = () => {};
  let announce = silent;
  const catalog = new Catalog(temporaryFolder(), () => {});
  const slot = new Slot(childConfig({ name: 'files', ...config }), {
    start: asStart(async (_config, { onNotification }) => {
      announce = () => onNotification('notifications/tools/list_changed', undefined);
      return child;
    }, catalog),
    catalog,
    events: { onListChanged: silent, onResourceUpdated: silent, onLost: silent, ...some },
    flow: new Flow(() => {}),
    onBug,
  });
  onTestFinished(async () => {
    await slot.close(new Error('The test is over.'));
    await catalog.written();
  });
  return { slot, child, announce: () => announce() };
}

describe.each(
  Object.entries({ PEER, SERVERS, STDIO, SESSION, HTTP, CONTROL, POOL }).flatMap(([part, scenes]) =>
    Object.entries(scenes).map(([name, scene]) => ({ part, name, scene })),
  ),
)('$part: a throw in the callback for $name', ({ scene }) => {
  test('is reported once and ends nothing else', async () => {
    const reported: string[] = [];
    const onBug = (error: unknown): void => void reported.push(String(error));
    const log = { ...SILENT_LOG, error: (line: string) => void reported.push(line) };
    const boom = (): never => {
      throw new Error('injected');
    };
    await scene({ boom, onBug, log });
    await eventually(() => expect(reported).toEqual([expect.stringContaining('injected')]));
  });
});
