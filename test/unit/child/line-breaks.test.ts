// Messages to a server are one line to every reader, on every transport.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { ProcessLink } from '../../../src/child/process-link.ts';
import { DEFAULTS } from '../../../src/config/defaults.ts';
import type { Framing } from '../../../src/rpc/framing.ts';
import { RpcError } from '../../../src/rpc/message.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { onBug } from '../../support/fake-child.ts';
import { expectOneLine, LINE_BREAKS, messagesOf, withHidden } from '../../support/line-breaks.ts';
import { beginEvents, event, OddServer, result } from '../../support/odd-http-server.ts';
import { startRemote } from '../../support/remote-child.ts';

const GREETING =
  '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}';
const DONE = '{"content":[]}';

/** Asks two things, and at the end of its input repeats that input in hexadecimal. */
const RECORDER = `
  const chunks = [];
  process.stdin.on('data', (chunk) => chunks.push(chunk));
  process.stdin.on('end', () => {
    const params = { hex: Buffer.concat(chunks).toString('hex') };
    process.stdout.end(JSON.stringify({ jsonrpc: '2.0', method: 'recorded', params }) + '\\n');
  });
  process.stdout.write('{"jsonrpc":"2.0","id":1,"method":"question"}\\n');
  process.stdout.write('{"jsonrpc":"2.0","id":2,"method":"refused"}\\n');
`;

/** The bytes a process is sent: a request, a notification, a result and an error. */
async function recordBytes(framing: Framing, json: string): Promise<Buffer> {
  const value = new Verbatim(json, undefined);
  const answered: string[] = [];
  let recorded: (bytes: Buffer) => void = () => {};
  const bytes = new Promise<Buffer>((resolve) => {
    recorded = resolve;
  });
  const link = await ProcessLink.open({
    name: 'recorder',
    command: {
      cmd: process.execPath,
      args: ['-e', RECORDER],
      cwd: process.cwd(),
      env: process.env,
    },
    framing,
    messageBytes: 1 << 20,
    messageShape: DEFAULTS.messageShape,
    stopMs: 60_000,
    secrets: [],
    onStderr: () => {},
    onBug,
    onRequest: ({ method }) => {
      answered.push(method);
      if (method === 'refused') throw new RpcError(1, 'No.', value);
      return value;
    },
    onNotification: (_method, params) => {
      recorded(Buffer.from(String(params?.member('hex')?.value), 'hex'));
    },
  });
  onTestFinished(() => link.stop());
  link.peer.request('ask', value, { timeoutMs: 60_000 }).catch(() => {}); // never answered
  link.peer.notify('tell', value);
  await expect.poll(() => answered).toEqual(['question', 'refused']);
  void link.stop();
  return bytes;
}

function bodiesIn(bytes: Buffer): string[] {
  const bodies: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [header = '', digits] =
      /^Content-Length: (\d+)\r\n\r\n/.exec(bytes.toString('latin1', at)) ?? [];
    expect(digits).toBeDefined();
    const start = at + header.length;
    at = start + Number(digits);
    bodies.push(bytes.toString('utf8', start, at));
  }
  return bodies;
}

/** A server over Streamable HTTP or the older transport. */
async function startHttp(isOlder: boolean) {
  let stream: ReturnType<typeof beginEvents> | undefined;
  const server = await OddServer.start({
    before: ({ httpMethod, message }, reply) => {
      if (!isOlder) return false;
      if (httpMethod === 'GET') {
        stream = beginEvents(reply);
        stream.write('event: endpoint\ndata: /messages\n\n');
        return true;
      }
      const text = message.method === 'initialize' ? GREETING : DONE;
      reply.writeHead(202).end();
      if (message.id !== undefined) stream?.write(event(result(message.id, text)));
      return true;
    },
  });
  return { url: server.url, last: () => server.requests.at(-1)?.text ?? '' };
}

async function startSocket() {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  let last = '';
  sockets.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      last = data.toString();
      const { id, method } = JSON.parse(last) as { id?: number; method: string };
      if (id !== undefined) socket.send(result(id, method === 'initialize' ? GREETING : DONE));
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}`, last: () => last };
}

const REMOTE = {
  http: () => startHttp(false),
  sse: () => startHttp(true),
  ws: startSocket,
} as const;

describe.each(Object.entries(LINE_BREAKS))('%s', (_name, lineBreak) => {
  const json = withHidden(lineBreak);
  const value = JSON.parse(json) as unknown;

  test('does not split a message to a process', async () => {
    const messages = await messagesOf(await recordBytes('newline', json));
    const expected = [
      { jsonrpc: '2.0', id: 1, method: 'ask', params: value },
      { jsonrpc: '2.0', method: 'tell', params: value },
      { jsonrpc: '2.0', id: 1, result: value },
      { jsonrpc: '2.0', id: 2, error: { code: 1, message: 'No.', data: value } },
    ];
    expect(messages).toHaveLength(expected.length);
    expect(messages).toEqual(expect.arrayContaining(expected));
  });

  test('is not in a body that a process reads by its length', async () => {
    const bodies = bodiesIn(await recordBytes('content-length', json));
    expect(bodies).toHaveLength(4);
    for (const body of bodies) await expectOneLine(body);
  });

  test.each(Object.entries(REMOTE))(
    'is not in a message to a server over %s',
    async (type, start) => {
      const server = await start();
      const { child } = await startRemote(server.url, { type: type as keyof typeof REMOTE });
      await child.callTool('any', new Verbatim(json, value), {});
      await expectOneLine(server.last());
      expect(server.last()).toContain('"big":12345678901234567890,"one":1.0');
      expect(JSON.parse(server.last())).toMatchObject({
        params: { name: 'any', arguments: value },
      });
    },
  );
});
