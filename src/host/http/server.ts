// The HTTP server for hosts: where it listens, and its limits. Requests are served in front.ts.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { SwitchboardError } from '../../base/errors.ts';
import { guard } from '../../base/guard.ts';
import { formatHost, type ListenAddress, urlOf } from './address.ts';
import { Front, type FrontParts, type FrontTimes } from './front.ts';
import { MCP_PATH } from './gate.ts';
import { reportBug } from './report-bug.ts';
import { UnauthorizedConnections } from './unauthorized.ts';
import { WrongTokens } from './wrong-tokens.ts';

export interface HttpHostOptions extends ListenAddress, FrontParts {
  readonly limits?: Partial<HttpLimits>;
}

export interface HttpLimits extends FrontTimes {
  /** Connections at once; further ones are closed. A quarter may be without an authorized request. */
  readonly connections: number;
  /** Milliseconds for a request's headers to arrive. */
  readonly headersMs: number;
  /** Milliseconds for a whole request to arrive. */
  readonly requestMs: number;
  /** Milliseconds an idle connection is kept for the next request. */
  readonly idleConnectionMs: number;
}

export interface HttpHost extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

const LIMITS: HttpLimits = {
  connections: 1_024,
  headersMs: 2_000,
  requestMs: 60_000,
  idleConnectionMs: 30_000,
  sessionIdleMs: 30 * 60_000,
  keepAliveMs: 5_000,
  slowAnswerMs: 15_000,
};
const HEADER_BYTES = 16 << 10;
const MOST_HEADERS = 100;
/** A flood of connections must not become a flood of log lines. */
const WARN_AGAIN_MS = 60_000;
/** For the last responses on close. */
const LAST_RESPONSES_MS = 500;

/** Listens until disposed. */
export async function openHttpHost(options: HttpHostOptions): Promise<HttpHost> {
  const { log } = options;
  const onBug = reportBug(log);
  const limits = { ...LIMITS, ...options.limits };
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(5_000, limits.headersMs / 2),
    keepAliveTimeout: limits.idleConnectionMs,
    noDelay: true,
  });
  server.maxHeadersCount = MOST_HEADERS;
  server.maxConnections = limits.connections;
  let warnedAt = -Infinity;
  const warn = (message: string): void => {
    if (performance.now() - warnedAt < WARN_AGAIN_MS) return;
    warnedAt = performance.now();
    log.warn(message);
  };
  const noteDropped = (): void => {
    server.closeIdleConnections();
    warn(`more than ${limits.connections} HTTP connections: some were refused.`);
  };
  server.on('drop', guard(onBug, noteDropped));
  const most = Math.ceil(limits.connections / 4);
  const unauthorized = new UnauthorizedConnections({
    most,
    onEvict: () =>
      warn(`more than ${most} HTTP connections without an authorized request: closing the oldest.`),
  });
  const noteConnection = (socket: Socket): void => unauthorized.add(socket);
  server.on('connection', guard(onBug, noteConnection));
  const port = await listen(server, options);
  const address = { ...options, port };
  const onAuthorized = (socket: Socket): void => unauthorized.release(socket);
  const wrongTokens = new WrongTokens();
  const front = new Front({ ...options, ...limits, address, wrongTokens, onAuthorized });
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    front.serve(request, response).catch((error: unknown) => {
      onBug(error);
      response.destroy();
    });
  };
  server.on('request', guard(onBug, serve));
  server.on('checkContinue', guard(onBug, serve)); // the client sends the body only once we ask for it
  server.on('error', (error) => log.error(`HTTP: ${error.message}`));
  return {
    url: urlOf(address, MCP_PATH),
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      front.close();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), LAST_RESPONSES_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}

async function listen(server: Server, { host, port }: ListenAddress): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => {
      const where = `${formatHost(host)}:${port}`;
      const reason = cause.code === 'EADDRINUSE' ? 'the port is already in use' : cause.message;
      reject(
        new SwitchboardError('LISTEN_FAILED', `Cannot listen on ${where}: ${reason}.`, {
          hint: 'Choose another with --port or --host. --port 0 picks a free port.',
          cause,
        }),
      );
    };
    server.once('error', guard(reject, refuse));
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}
