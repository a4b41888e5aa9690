// The HTTP front with a scripted session behind it, and handwritten requests: the test sets every header.
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { DEFAULTS } from '../../src/config/defaults.ts';
import type { HttpSession, HttpSessionOptions } from '../../src/host/http/exchange.ts';
import {
  type HttpHost,
  type HttpHostOptions,
  type HttpLimits,
  openHttpHost,
} from '../../src/host/http/server.ts';
import type { Id } from '../../src/rpc/message.ts';
import { asAnswer, asNotification } from './outgoing.ts';

export const TOKEN = 'a-token-that-nobody-would-guess-0123456789';

/** Records what a session received, and lets the test send messages from it. */
export interface FakeSession extends HttpSessionOptions {
  readonly received: Record<string, unknown>[];
  readonly texts: string[];
  isClosed: boolean;
  /** Whether the client has left too much unread. */
  isFull: boolean;
  answer(id: Id, result?: unknown): void;
  /** Sends a notification, about one of the host's requests or about none. */
  tell(json: string, about?: Id): void;
}

export interface TestHost extends HttpHost {
  /** Every session that was opened, in order. */
  readonly sessions: FakeSession[];
  /** The lines that were logged as errors or warnings. */
  readonly logged: string[];
  /** Every message that reached a session. */
  readonly executed: () => Record<string, unknown>[];
}

export async function openTestHost(
  some: Partial<HttpHostOptions> & { limits?: Partial<HttpLimits> } = {},
): Promise<TestHost> {
  const sessions: FakeSession[] = [];
  const logged: string[] = [];
  const note = (line: string): void => void logged.push(line);
  const log = { debug: () => {}, info: () => {}, warn: note, error: note, child: () => {} };
  const host = await openHttpHost({
    host: '127.0.0.1',
    port: 0,
    names: [],
    token: TOKEN,
    messageLimits: { limitBytes: 1 << 20, shape: DEFAULTS.messageShape },
    eras: () => ['handshake', 'modern'],
    toolSchema: () => undefined,
    openSession: (options) => {
      const session = createFakeSession(options);
      sessions.push(session.fake);
      return session.http;
    },
    log,
    ...some,
  });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const executed = () => sessions.flatMap(({ received }) => received);
  return { ...host, sessions, logged, executed };
}

type FakeError = { code: number; message: string };

/**
 * Answers `initialize` with the requested revision, `echo` with its parameters, `progress` after the requested
 * number of notifications, `fail` with the error in its parameters, and `wait` when the test says so.
 */
function createFakeSession(options: HttpSessionOptions): { fake: FakeSession; http: HttpSession } {
  const answerWith = (id: Id, answer: Parameters<typeof asAnswer>[1]): void =>
    options.send(JSON.stringify({ jsonrpc: '2.0', id, ...answer }), asAnswer(id, answer));
  const tell = (json: string, about?: Id): void =>
    options.send(json, asNotification('news', { about }));
  const fake: FakeSession = {
    ...options,
    received: [],
    texts: [],
    isClosed: false,
    isFull: false,
    answer: (id, result = {}) => answerWith(id, { result }),
    tell,
  };
  const methods: Record<string, (id: Id, params: Record<string, unknown>) => void> = {
    initialize: (id, { protocolVersion = '2025-11-25', error }) =>
      error
        ? answerWith(id, { error: error as FakeError })
        : answerWith(id, { result: { protocolVersion } }),
    echo: (id, params) => answerWith(id, { result: params }),
    progress(id, { count = 2 }) {
      for (let step = 1; step <= Number(count); step++) {
        const params = { progressToken: id, progress: step };
        const json = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params });
        tell(json, id);
      }
      answerWith(id, { result: { done: true } });
    },
    fail: (id, error) => answerWith(id, { error: error as unknown as FakeError }),
    wait() {},
    'tools/call': (id, params) =>
      params['error']
        ? answerWith(id, { error: params['error'] as FakeError })
        : answerWith(id, { result: params }),
    'subscriptions/listen'() {},
  };
  const http: HttpSession = {
    receive({ text, value }) {
      const message = value as { id?: Id; method?: string; params?: Record<string, unknown> };
      fake.received.push({ ...message });
      fake.texts.push(text);
      const { id, method, params = {} } = message;
      if (id === undefined || method === undefined) return;
      const run = methods[method];
      if (run) run(id, params);
      else answerWith(id, { error: { code: -32601, message: 'Method not found' } });
    },
    setFull(isFull) {
      fake.isFull = isFull;
    },
    close() {
      if (fake.isClosed) throw new Error('closed twice');
      fake.isClosed = true;
    },
  };
  return { fake, http };
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** Added to those of an ordinary POST; undefined removes one. */
  readonly headers?: Record<string, string | string[] | undefined> | undefined;
  readonly body?: unknown;
}

export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON, or as the messages of a stream. */
  readonly messages: Message[];
}

export interface Message {
  readonly id?: Id | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Sends a request like a host, with overrides; waits for the whole response. */
export async function send(host: { port: number }, sent: Sent = {}): Promise<Got> {
  const response = await open(host, sent);
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece as string;
  const { statusCode = 0, headers } = response;
  return { status: statusCode, headers, text, messages: messagesOf(text, headers) };
}

/** The same; returns the response once it has started. */
export function open(host: { port: number }, sent: Sent = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = openRequest(host, sent);
    request.once('error', reject);
    request.once('response', resolve);
  });
}

/** The same; returns the request once it has been sent. */
export function openRequest({ port }: { port: number }, sent: Sent = {}): ClientRequest {
  const { method = 'POST', path = '/mcp', body } = sent;
  const bytes = bytesOf(body);
  const all = {
    authorization: `Bearer ${TOKEN}`,
    accept: 'application/json, text/event-stream',
    host: `127.0.0.1:${port}`,
    ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    ...(bytes.length === 0 ? {} : { 'content-length': String(bytes.length) }),
    ...sent.headers,
  };
  const headers = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as Record<string, string | string[]>;
  const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false });
  request.on('error', () => {}); // cut off, as some tests do
  request.end(bytes);
  onTestFinished(() => void request.destroy());
  return request;
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined || Buffer.isBuffer(body)) return body ?? Buffer.alloc(0);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function messagesOf(text: string, headers: IncomingHttpHeaders): Message[] {
  if (text === '') return [];
  if (!headers['content-type']?.startsWith('text/event-stream')) {
    const value = JSON.parse(text) as Message | Message[];
    return Array.isArray(value) ? value : [value];
  }
  return eventsOf(text).flatMap(({ data }) => (data === '' ? [] : (JSON.parse(data) as Message)));
}

export interface TestEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** The complete events in a text, parsed as in the standard; comments are skipped. */
function eventsOf(text: string): TestEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const field = (name: string) =>
        block
          .split('\n')
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trimStart());
      const data = field('data');
      return data.length === 0 ? [] : [{ id: field('id')[0], data: data.join('\n') }];
    });
}

/** Reads a stream as it arrives. */
export class StreamReader {
  readonly response: IncomingMessage;
  readonly closed: Promise<void>;
  text = '';

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8').on('data', (piece: string) => {
      this.text += piece;
    });
    response.on('error', () => {}); // being cut off is a normal end
    this.closed = new Promise((resolve) => response.once('close', () => resolve()));
  }

  get events(): TestEvent[] {
    return eventsOf(this.text);
  }

  get messages(): Message[] {
    return this.events.flatMap(({ data }) => (data === '' ? [] : (JSON.parse(data) as Message)));
  }
}

export function rpc(method: string, params: object = {}, id: Id = 1): object {
  return { jsonrpc: '2.0', id, method, params };
}

/** A complete POST without a handshake. */
export function modern(method: string, params: Record<string, unknown> = {}, id: Id = 1): Sent {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = params['name'] ?? params['uri'];
  return {
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    body: rpc(method, { ...params, _meta }, id),
  };
}

/** Completes the handshake; returns the headers for all later requests. */
export async function begin(
  host: { port: number },
  protocolVersion = '2025-11-25',
): Promise<Record<string, string>> {
  const { headers } = await send(host, { body: rpc('initialize', { protocolVersion }, 'hello') });
  const session = headers['mcp-session-id'];
  if (typeof session !== 'string') throw new Error('There is no session.');
  return { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion };
}

/** Sends bytes on a separate connection; returns everything received until it closes. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(text));
    socket.write(bytes, 'latin1');
    onTestFinished(() => void socket.destroy());
  });
}
