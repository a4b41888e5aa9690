import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import type { SwitchboardError } from '../../../../src/base/errors.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';
import { result } from '../../../support/odd-http-server.ts';
import { callText, failureOf, startRemote, until } from '../../../support/remote-child.ts';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
}

interface SocketServer {
  readonly url: string;
  readonly upgrades: IncomingMessage[];
  readonly texts: string[];
  readonly sockets: Set<WebSocket>;
}

const GREETING =
  '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"socket","version":"1"}}';

/** A server that shakes hands and leaves the rest to the test; `refuse` may deny the connection. */
async function startSockets(
  onMessage: (message: Message, socket: WebSocket) => void,
  refuse?: (request: IncomingMessage) => string | undefined,
): Promise<SocketServer> {
  const upgrades: IncomingMessage[] = [];
  const texts: string[] = [];
  const http = createServer((_: IncomingMessage, reply: ServerResponse) =>
    reply.writeHead(426).end(),
  );
  const server = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    upgrades.push(request);
    const refusal = refuse?.(request);
    if (refusal !== undefined) return void socket.end(refusal);
    server.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data: Buffer) => {
        const text = data.toString();
        texts.push(text);
        const message = JSON.parse(text) as Message;
        if (message.method === 'initialize') client.send(result(message.id, GREETING));
        else if (message.method !== 'notifications/initialized') onMessage(message, client);
      });
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}/mcp`, upgrades, texts, sockets: server.clients };
}

const EXACT = '{"content":[],"big":18446744073709551615,"x":1.0,"unknown":{}}';

describe('a server over WebSocket', () => {
  test('receives exact messages, with the configured headers', async () => {
    const server = await startSockets(({ id }, socket) => {
      socket.send(`{"stray":1,"jsonrpc":"2.0","id":${id},"result":${EXACT}}`);
    });
    const headers = { Authorization: 'Bearer abc', 'X-Key': 'value' };
    const { child } = await startRemote(server.url, { type: 'ws', headers });
    const args = new Verbatim('{"n":18446744073709551615}', undefined);
    expect((await child.callTool('any', args, {})).text).toBe(EXACT);
    expect(server.texts.at(-1)).toContain('"arguments":{"n":18446744073709551615}');
    expect(server.upgrades[0]?.headers).toMatchObject({
      authorization: 'Bearer abc',
      'x-key': 'value',
      'sec-websocket-protocol': 'mcp',
    });
    await child.stop();
    await until(() => server.sockets.size === 0);
  });

  test('reports progress and changes, and is notified of a cancellation', async () => {
    const server = await startSockets(({ method, params }, socket) => {
      if (method !== 'tools/call' || !params) return;
      const { progressToken } = params['_meta'] as { progressToken: number };
      socket.send('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
      socket.send(
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${progressToken},"progress":1}}`,
      );
    });
    const { child, notifications } = await startRemote(server.url, { type: 'ws' });
    const cancellation = new Cancellation();
    const progress: unknown[] = [];
    const call = callText(
      child,
      'any',
      {},
      {
        cancellation,
        meta: Verbatim.of({ progressToken: 'host' }),
        onProgress: ({ value }) => progress.push(value),
      },
    );
    await until(() => progress.length > 0);
    expect(notifications.map(({ method }) => method)).toEqual(['notifications/tools/list_changed']);
    cancellation.cancel(new Error('enough'));
    expect((await failureOf(call)).message).toBe('enough');
    await until(() => server.texts.some((text) => text.includes('notifications/cancelled')));
  });

  test('that closes ends the link: pending calls fail, and were sent once', async () => {
    const server = await startSockets((_, socket) => socket.close(1011, 'out of order'));
    const { child } = await startRemote(server.url, { type: 'ws' });
    const error = await failureOf(callText(child, 'any'));
    expect((error as SwitchboardError).text).toBe(
      'Server "far" ended the connection while working on subtool "any" (code 1011: out of order). Switchboard reconnects the next time the server is used.',
    );
    expect(await child.ended).toMatchObject({ kind: 'disconnected' });
    expect(server.texts.filter((text) => text.includes('tools/call')).length).toBe(1);
  });

  test('that sends an oversized message fails the request', async () => {
    const server = await startSockets(({ id }, socket) =>
      socket.send(result(id, `"${'x'.repeat(10_000)}"`)),
    );
    const config = { messageBytes: 5_000 };
    const { child } = await startRemote(server.url, { type: 'ws', config });
    expect(await failureOf(callText(child, 'any'))).toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      message: 'Server "far" sent a message larger than 5000 bytes.',
    });
    expect(await child.ended).toEqual({ kind: 'oversized' });
  });

  test('that requires a token needs headers, not a sign-in', async () => {
    const server = await startSockets(
      () => {},
      () => 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n',
    );
    const hintFor = async (headers: Record<string, string>) =>
      ((await failureOf(startRemote(server.url, { type: 'ws', headers }))) as SwitchboardError)
        .hint;
    expect(await hintFor({})).toBe(
      'Check "headers" in /project/switchboard.config.json: WebSocket servers can only be authenticated with headers.',
    );
    expect(await hintFor({ Authorization: 'Bearer wrong' })).toBe(
      'It rejected the configured Authorization header. Check it in /project/switchboard.config.json.',
    );
  });

  test.each([
    [
      'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n',
      'CHILD_SIGN_IN',
      'Server "far" requires you to sign in (HTTP 401).',
    ],
    [
      'HTTP/1.1 302 Found\r\nLocation: ws://elsewhere.example/x\r\nContent-Length: 0\r\n\r\n',
      'CHILD_UNREACHABLE',
      'Server "far" redirects to ws://elsewhere.example (HTTP 302), which Switchboard doesn\'t follow.',
    ],
    [
      'HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nlater',
      'CHILD_UNREACHABLE',
      'Server "far" responded with HTTP 503: later',
    ],
  ])('that refuses the connection: %s', async (refusal, code, message) => {
    const server = await startSockets(
      () => {},
      () => refusal,
    );
    const error = await failureOf(startRemote(server.url, { type: 'ws' }));
    expect(error).toMatchObject({ code, message });
    expect(server.upgrades.length).toBe(1);
  });

  test('that is unreachable', async () => {
    const error = await failureOf(startRemote('ws://127.0.0.1:9/mcp', { type: 'ws' }));
    expect(error.message).toBe(
      'Server "far" can\'t be reached at ws://127.0.0.1:9: nothing is listening there (ECONNREFUSED).',
    );
  });

  test('that never answers the handshake is abandoned', async () => {
    const server = await startSockets(
      () => {},
      () => '',
    );
    const silent = createServer().on('upgrade', () => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => silent.closeAllConnections());
    onTestFinished(() => void silent.close());
    const config = { timeouts: { spawnMs: 300, rpcMs: 300, stopMs: 300 } };
    const url = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const error = await failureOf(startRemote(url, { type: 'ws', config }));
    expect(error.message).toBe('Server "far" did not respond to the handshake within 300 ms.');
    const cut = await failureOf(startRemote(server.url, { type: 'ws' }));
    expect(cut).toMatchObject({ code: 'CHILD_UNREACHABLE' });
  });
});
