// What `RemoteLink` expects of a Wire, for every transport. Each implementation needs a way to start a
// server that speaks it, and a way to connect.
import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { SwitchboardError } from '../../src/base/errors.ts';
import { OlderSseWire } from '../../src/child/remote/older-sse.ts';
import { Sender } from '../../src/child/remote/sender.ts';
import { type RemoteServer, Secrets } from '../../src/child/remote/server.ts';
import { StreamableWire } from '../../src/child/remote/streamable.ts';
import { WebSocketWire } from '../../src/child/remote/websocket.ts';
import type { Wire, WireEvents } from '../../src/child/remote/wire.ts';
import { DEFAULTS } from '../../src/config/defaults.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { beginEvents, event, result, sendJson } from '../support/odd-http-server.ts';
import { asAnswer, asNotification, asRequest } from '../support/outgoing.ts';
import { until } from '../support/remote-child.ts';

/** Sends a message with what a peer would say about it. */
function send(wire: Wire, json: string): void {
  const { id, method, params } = JSON.parse(json) as {
    id?: number;
    method?: string;
    params?: { requestId?: number };
  };
  if (method === undefined) wire.send(json, asAnswer(id ?? 0, { result: {} }));
  else if (id === undefined)
    wire.send(json, asNotification(method, { cancels: params?.requestId }));
  else wire.send(json, asRequest(id, method));
}

interface Message {
  readonly id?: number;
  readonly method?: string;
}

/** Handles a request; `answer` sends a JSON-RPC message in reply. */
type Handler = (message: Message, answer: (json: string) => void) => void;

interface TestServer {
  readonly url: URL;
  /** Everything that arrived, as it came. */
  readonly received: string[];
  /** Sends a message that answers nothing. */
  push(json: string): void;
  openConnections(): number;
}

interface Transport {
  readonly start: (onRequest: Handler) => Promise<TestServer>;
  readonly connect: (server: RemoteServer, url: URL, events: WireEvents) => Wire;
  /** A reply of its own can fail alone; a stream of all messages can't be read on. */
  readonly onOversize: readonly unknown[];
}

const MESSAGE_BYTES = 1 << 20;
const GREETING = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}}';
const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const EXACT = '{"n":18446744073709551615,"x":1.0}';
const call = (id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"arguments":${EXACT}}}`;

/** Greets, and hands the rest to the test. */
function dispatch(text: string, onRequest: Handler, answer: (json: string) => void): void {
  const message = JSON.parse(text) as Message;
  if (message.method === 'initialize') answer(result(message.id, GREETING));
  else onRequest(message, answer);
}

/** A server whose GET is an event stream; `post` answers the rest. */
async function startHttp(
  begin: (stream: ServerResponse) => void,
  post: (text: string, reply: ServerResponse, stream: () => ServerResponse | undefined) => void,
): Promise<TestServer> {
  const received: string[] = [];
  let stream: ServerResponse | undefined;
  const server = createServer((request, reply) => {
    if (request.method === 'GET') {
      stream = beginEvents(reply);
      return begin(stream);
    }
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    return void request.once('end', () => {
      if (text !== '') received.push(text);
      post(text, reply, () => stream);
    });
  });
  const { port, openConnections } = await listenOnLoopback(server);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  return { url, received, openConnections, push: (json) => void stream?.write(event(json)) };
}

const isRequest = (text: string): boolean =>
  text !== '' && (JSON.parse(text) as Message).id !== undefined && text.includes('"method"');

const TRANSPORTS: Record<string, Transport> = {
  'Streamable HTTP': {
    onOversize: [[1, 'MESSAGE_TOO_LARGE']],
    start: (onRequest) =>
      startHttp(
        () => {},
        (text, reply) => {
          if (!isRequest(text)) reply.writeHead(202).end();
          else dispatch(text, onRequest, (json) => sendJson(reply, json));
        },
      ),
    connect: (server, url, events) =>
      new StreamableWire({
        server,
        url,
        sender: new Sender({ server, headers: {}, credentials: undefined }),
        handshakeMs: 5_000,
        onOlder: (_, error) => events.onFailure(0, error),
        ...events,
      }),
  },
  'HTTP+SSE': {
    onOversize: ['oversized'],
    start: (onRequest) =>
      startHttp(
        (stream) => void stream.write('event: endpoint\ndata: /messages\n\n'),
        (text, reply, stream) => {
          reply.writeHead(202).end();
          const answer = (json: string): void => void stream()?.write(event(json));
          if (isRequest(text)) dispatch(text, onRequest, answer);
        },
      ),
    connect: (server, url, events) =>
      new OlderSseWire({
        server,
        url,
        sender: new Sender({ server, headers: {}, credentials: undefined }),
        handshakeMs: 5_000,
        ...events,
      }),
  },
  WebSocket: {
    onOversize: ['oversized'],
    start: async (onRequest) => {
      const received: string[] = [];
      const http = createServer();
      const sockets = new WebSocketServer({ server: http });
      sockets.on('connection', (client) => {
        client.on('message', (data: Buffer) => {
          const text = data.toString();
          received.push(text);
          if (isRequest(text)) dispatch(text, onRequest, (json) => client.send(json));
        });
      });
      const { port, openConnections } = await listenOnLoopback(http);
      const url = new URL(`ws://127.0.0.1:${port}/mcp`);
      const push = (json: string): void => {
        for (const client of sockets.clients) client.send(json);
      };
      return { url, received, openConnections, push };
    },
    connect: (server, url, events) => new WebSocketWire({ server, url, headers: {}, ...events }),
  },
};

describe.each(Object.entries(TRANSPORTS))('%s', (_, transport) => {
  function connectTo(url: URL) {
    const events = {
      onMessage: vi.fn<WireEvents['onMessage']>(),
      onFailure: vi.fn<WireEvents['onFailure']>(),
      onEnd: vi.fn<WireEvents['onEnd']>(),
      onBug: vi.fn<WireEvents['onBug']>(),
    };
    const server: RemoteServer = {
      name: 'far',
      origin: 'somewhere',
      place: url.origin,
      hasAuthorization: false,
      canSignIn: false,
      messageBytes: MESSAGE_BYTES,
      messageShape: DEFAULTS.messageShape,
      secrets: new Secrets([]),
    };
    // As the peer does: an answered request can't fail any more.
    const isAnswered = (id: number): boolean =>
      events.onMessage.mock.calls.some(([, value]) => (value as Message).id === id);
    const wire = transport.connect(server, url, {
      ...events,
      onFailure: (id, error) => {
        if (!isAnswered(id)) events.onFailure(id, error);
      },
    });
    onTestFinished(() => wire.close());
    const texts = (): string[] => events.onMessage.mock.calls.map(([text]) => text);
    return { wire, events, texts };
  }

  /** Connected, with the handshake done. */
  async function open(onRequest: Handler = () => {}) {
    const server = await transport.start(onRequest);
    const { wire, events, texts } = connectTo(server.url);
    send(wire, INITIALIZE);
    await until(() => texts().length === 1);
    send(wire, INITIALIZED);
    await until(() => server.received.includes(INITIALIZED));
    return { server, wire, events, texts: () => texts().slice(1) };
  }

  test('carries requests and answers unchanged', async () => {
    const { wire, server, texts, events } = await open(({ id }, answer) =>
      answer(result(id, EXACT)),
    );
    send(wire, call(1));
    await until(() => texts().length === 1);
    expect(server.received.at(-1)).toBe(call(1));
    expect(events.onMessage).toHaveBeenCalledWith(
      result(1, EXACT),
      expect.objectContaining({ id: 1 }),
    );
  });

  test('keeps many requests apart, whatever the order of the answers', async () => {
    const waiting: (() => void)[] = [];
    const { wire, texts } = await open(({ id }, answer) => {
      waiting.push(() => answer(result(id, `{"own":${id}}`)));
      if (waiting.length === 20) for (const one of waiting.toReversed()) one();
    });
    for (let id = 1; id <= 20; id++) send(wire, call(id));
    await until(() => texts().length === 20);
    const expected = Array.from({ length: 20 }, (__, at) => result(at + 1, `{"own":${at + 1}}`));
    expect(texts().sort()).toEqual(expected.sort());
  });

  test('carries notifications and answers of ours', async () => {
    const { wire, server, events } = await open();
    const sent = [
      '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
      '{"jsonrpc":"2.0","id":"theirs","result":{}}',
    ];
    for (const json of sent) send(wire, json);
    await until(() => server.received.length >= 4);
    expect(server.received).toEqual(expect.arrayContaining(sent));
    expect(events.onFailure).not.toHaveBeenCalled();
  });

  test('brings what the server sends on its own', async () => {
    const { server, texts } = await open();
    const json = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
    // Streamable HTTP opens its stream right after the handshake.
    await until(() => {
      if (texts().length === 0) server.push(json);
      return texts().length > 0;
    });
    expect(texts()[0]).toBe(json);
  });

  test('brings nothing while it is paused', async () => {
    let isAnswered = false;
    const { wire, texts } = await open(({ id }, answer) => {
      answer(result(id, EXACT));
      isAnswered = true;
    });
    wire.pause();
    send(wire, call(1));
    await until(() => isAnswered);
    await new Promise((resolve) => setImmediate(resolve));
    expect(texts()).toEqual([]);
    wire.resume();
    await until(() => texts().length === 1);
    expect(texts()).toEqual([result(1, EXACT)]);
  });

  test('fails the request or ends if a message is too large', async () => {
    const { wire, events, texts } = await open(({ id }, answer) =>
      answer(result(id, `"${'x'.repeat(MESSAGE_BYTES)}"`)),
    );
    send(wire, call(1));
    const { onFailure, onEnd } = events;
    await until(() => onFailure.mock.calls.length + onEnd.mock.calls.length > 0);
    expect([
      ...onFailure.mock.calls.map(([id, error]) => [id, (error as SwitchboardError).code]),
      ...onEnd.mock.calls.map(([{ kind }]) => kind),
    ]).toEqual(transport.onOversize);
    expect(texts()).toEqual([]);
  });

  test('says why if the server cannot be reached', async () => {
    const { url } = await transport.start(() => {});
    const { wire, events } = connectTo(new URL(url.href.replace(/:\d+/, ':9')));
    send(wire, INITIALIZE);
    const { onFailure, onEnd } = events;
    await until(() => onFailure.mock.calls.length + onEnd.mock.calls.length > 0);
    const error = onFailure.mock.calls[0]?.[1] ?? onEnd.mock.calls[0]?.[1];
    expect(error).toMatchObject({ code: 'CHILD_UNREACHABLE' });
  });

  test('closes every connection, and is silent from then on', async () => {
    const { server, wire, events, texts } = await open(() => {});
    send(wire, call(1)); // never answered
    await until(() => server.received.at(-1) === call(1));
    await wire.close();
    await until(() => server.openConnections() === 0);
    expect(() => send(wire, call(2))).not.toThrow();
    await wire.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.received).not.toContain(call(2));
    expect(texts()).toEqual([]);
    const { onFailure, onEnd, onBug } = events;
    for (const listener of [onFailure, onEnd, onBug]) expect(listener).not.toHaveBeenCalled();
  });
});
