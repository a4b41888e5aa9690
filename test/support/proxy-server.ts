// A small HTTP proxy on loopback. Whatever host it is asked for, it connects to one local port, so that
// tests can use names that exist nowhere else.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenOnLoopback } from './loopback.ts';

interface Proxied {
  readonly method: string;
  /** An absolute URL, or `host:port` for CONNECT. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface TestProxy {
  /** `127.0.0.1:port` */
  readonly address: string;
  readonly requests: Proxied[];
}

/** `refuse` is a status for every request; `drop` closes connections without a word. */
export async function startProxy(
  port: number,
  { refuse, drop = false }: { refuse?: number; drop?: boolean } = {},
): Promise<TestProxy> {
  const requests: Proxied[] = [];
  const record = ({ method = '', url: target = '', headers }: IncomingMessage): void => {
    requests.push({ method, target, headers });
  };
  const server = createServer((incoming, reply) => {
    record(incoming);
    if (drop) return void incoming.socket.destroy();
    if (refuse !== undefined) return void reply.writeHead(refuse).end();
    const { method, headers } = incoming;
    const { pathname, search } = new URL(incoming.url ?? '');
    const path = `${pathname}${search}`;
    const forwarded = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(reply);
    });
    forwarded.on('error', () => reply.destroy());
    return void incoming.pipe(forwarded);
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    record(incoming);
    socket.on('error', () => {});
    if (drop) return void socket.destroy();
    if (refuse !== undefined) return void socket.end(`HTTP/1.1 ${refuse} No\r\n\r\n`);
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    return undefined;
  });
  const { port: own } = await listenOnLoopback(server);
  return { address: `127.0.0.1:${own}`, requests };
}
