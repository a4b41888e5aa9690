// What every link promises the child that uses it, whichever way its server is reached.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { type Link, LinkEnded } from '../../src/child/link.ts';
import { ProcessLink } from '../../src/child/process-link.ts';
import { RemoteLink } from '../../src/child/remote/remote-link.ts';
import type { Remote } from '../../src/config/config.ts';
import { DEFAULTS } from '../../src/config/defaults.ts';
import type { IncomingRequest } from '../../src/rpc/peer.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { createAnswers, EXACT, LIMIT_BYTES } from '../fixtures/servers/answers.mjs';
import { childConfig } from '../support/child-config.ts';
import { eventually } from '../support/processes.ts';
import { FIXTURES, ROOT } from '../support/project.ts';

const SECRET = 'hunter2hunter2';
const LONG = { timeoutMs: 60_000 };

interface LinkEvents {
  readonly onRequest: (request: IncomingRequest) => Verbatim;
  readonly onNotification: (method: string, params: Verbatim | undefined) => void;
  readonly onBug: (error: unknown) => void;
  /** The server has answered something. */
  readonly onAnswered: () => void;
}

interface LinkUnderTest {
  readonly name: string;
  /** Opens a link to a server that answers as `answers.mjs` does and is given the secret. */
  readonly openLink: (events: LinkEvents) => Promise<Link>;
  /** How the next request ends after a message beyond the limit. Not every wire can skip one. */
  readonly afterOversize: string;
}

const LINKS: readonly LinkUnderTest[] = [
  { name: 'to a process', openLink: openProcess, afterOversize: EXACT },
  { name: 'over Streamable HTTP', openLink: openStreamable, afterOversize: EXACT },
  { name: 'over HTTP+SSE', openLink: openSse, afterOversize: 'oversized' },
  { name: 'over WebSocket', openLink: openWebSocket, afterOversize: 'oversized' },
];

describe.each(LINKS)('a link $name', ({ openLink, afterOversize }) => {
  const open = async () => {
    const news: (string | undefined)[] = [];
    const bugs: unknown[] = [];
    let answered = 0;
    const link = await openLink({
      onRequest: ({ method }) => Verbatim.of(`asked: ${method}`),
      onNotification: (_, params) => news.push(params?.text),
      onBug: (error) => bugs.push(error),
      onAnswered: () => answered++,
    });
    onTestFinished(() => link.stop());
    onTestFinished(() => expect(bugs).toEqual([]));
    const request = (method: string) => link.peer.request(method, Verbatim.of({}), LONG);
    return { link, news, request, answered: () => answered };
  };

  test('answers arrive as they were written', async () => {
    const { request } = await open();
    const answers = await Promise.all([request('exact'), request('exact')]);
    expect(answers.map(({ text }) => text)).toEqual([EXACT, EXACT]);
  });

  test('the server can tell and ask', async () => {
    const { news, request } = await open();
    await request('tell');
    expect(news).toEqual(['{"n":1.0}']);
    expect((await request('ask')).value).toBe('asked: who');
  });

  test('an answer beyond the limit fails its request', async () => {
    const { request } = await open();
    await expect(request('large')).rejects.toMatchObject({ code: 'MESSAGE_TOO_LARGE' });
    const next = await request('exact').then(
      ({ text }) => text,
      (error: unknown) => (error instanceof LinkEnded ? error.end.kind : error),
    );
    expect(next).toBe(afterOversize);
  });

  test('while it is paused nothing arrives, and nothing is lost', async () => {
    const { link, news, request, answered } = await open();
    await request('exact');
    link.pause();
    const told = request('tell');
    expect(await eventually(() => answered() === 2)).toBe(true);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(news).toEqual([]);
    link.resume();
    await told;
    expect(news).toHaveLength(1);
  });

  test('when the server goes, requests in flight fail', async () => {
    const { request } = await open();
    await request('exact');
    const waiting = request('wait');
    request('leave').catch(() => {});
    await expect(waiting).rejects.toBeInstanceOf(Error);
  });

  test('stopping ends it once, and fails what waits and what comes later', async () => {
    const { link, request } = await open();
    await request('exact');
    const waiting = request('wait').catch((error: unknown) => error);
    await Promise.all([link.stop(), link.stop()]);
    await link.ended;
    expect(await waiting).toBeInstanceOf(LinkEnded);
    await expect(request('exact')).rejects.toBeInstanceOf(LinkEnded);
  });

  test('it hides what must not be repeated', async () => {
    const { link } = await open();
    expect(link.mask(`key: ${SECRET}`)).toBe('key: ***');
  });

  test('it has spoken once an answer has come', async () => {
    const { link, request } = await open();
    await request('exact');
    link.endOutput();
    expect(link.hasSpoken).toBe(true);
  });
});

function openProcess({ onAnswered, ...events }: LinkEvents): Promise<Link> {
  const args = [join(FIXTURES, 'servers/answers.mjs')];
  return ProcessLink.open({
    name: 'near',
    command: { cmd: process.execPath, args, cwd: ROOT, env: process.env },
    framing: 'newline',
    messageBytes: LIMIT_BYTES,
    messageShape: DEFAULTS.messageShape,
    stopMs: 2_000,
    secrets: [SECRET],
    onStderr: onAnswered,
    ...events,
  });
}

/** Listens until the test ends; gives the address and a way to be gone at once. */
async function listen(server: Server, scheme: string) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const leave = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(leave);
  const { port } = server.address() as AddressInfo;
  return { url: `${scheme}://127.0.0.1:${port}/mcp`, leave };
}

function openRemote(type: Remote['type'], url: string, events: LinkEvents): Link {
  const remote: Remote = { type, url, headers: { 'x-key': SECRET } };
  const config = childConfig({
    name: 'far',
    command: undefined,
    remote,
    messageBytes: LIMIT_BYTES,
  });
  return new RemoteLink(config, remote, { env: {}, onStderr: () => {}, ...events });
}

function readText(request: IncomingMessage, take: (text: string) => void): void {
  let text = '';
  request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  request.on('end', () => take(text));
}

function beginEvents(reply: ServerResponse): void {
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  reply.flushHeaders();
}

async function openStreamable(events: LinkEvents): Promise<Link> {
  const server = createServer((request, reply) => {
    reply.on('error', () => {});
    if (request.method !== 'POST') return void reply.writeHead(405).end();
    readText(request, (text) => {
      const { id, method } = JSON.parse(text) as { id?: unknown; method?: string };
      if (id !== undefined && method !== undefined) beginEvents(reply);
      else reply.writeHead(202).end();
      answer(text, (json) => {
        reply.write(`data: ${json}\n\n`);
        if (!json.includes('"method"')) reply.end();
      });
    });
  });
  const { url, leave } = await listen(server, 'http');
  const answer = createAnswers({ leave, onAnswered: events.onAnswered });
  return openRemote('http', url, events);
}

async function openSse(events: LinkEvents): Promise<Link> {
  let stream: ServerResponse | undefined;
  const server = createServer((request, reply) => {
    reply.on('error', () => {});
    if (request.method === 'GET') {
      stream = reply;
      beginEvents(reply);
      reply.write('event: endpoint\ndata: /post\n\n');
      return;
    }
    readText(request, (text) => {
      reply.writeHead(202).end();
      answer(text, (json) => stream?.write(`data: ${json}\n\n`));
    });
  });
  const { url, leave } = await listen(server, 'http');
  const answer = createAnswers({ leave, onAnswered: events.onAnswered });
  return openRemote('sse', url, events);
}

async function openWebSocket(events: LinkEvents): Promise<Link> {
  const server = createServer();
  const { url, leave } = await listen(server, 'ws');
  const sockets = new WebSocketServer({ server });
  const leaveAll = (): void => {
    for (const client of sockets.clients) client.terminate();
    leave();
  };
  onTestFinished(leaveAll);
  const answer = createAnswers({ leave: leaveAll, onAnswered: events.onAnswered });
  sockets.on('connection', (client) =>
    client.on('message', (data: Buffer) => answer(data.toString(), (json) => client.send(json))),
  );
  return openRemote('ws', url, events);
}
