// The control endpoint of a running Switchboard: a socket through which the same user's other commands request its
// status or a reload. Nothing here may disturb serving, so connections are limited in number, size and time, and
// one that misbehaves is closed.
import { createServer, type Server, type Socket } from 'node:net';
import { describeBug, SwitchboardError } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { Log } from '../base/log.ts';
import { makePrivateSocket } from '../base/process.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { IncomingRequest } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { claimEndpoint, findEndpoints, removeEndpoint } from './endpoints.ts';
import { createSocketPeer } from './socket-peer.ts';

/** The available requests. Each method returns a value or a promise. */
export type ControlMethods = Readonly<Record<string, (params: unknown) => unknown>>;

export interface ControlOptions {
  /** Switchboard's own folder, where clients look for endpoints. */
  readonly home: string;
  /** Empty for a background process, which serves many. */
  readonly project: string;
  /** The version of a background process. */
  readonly background?: string | undefined;
  readonly methods: ControlMethods;
  readonly log: Log;
  /** Milliseconds after which an idle connection is closed. */
  readonly idleMs?: number;
}

const IDLE_MS = 10_000;
const MESSAGE_BYTES = 1 << 20;
const MOST_CONNECTIONS = 32;
/** Requests of one connection that may run at once. */
const MOST_RUNNING = 16;
/** The code for a method's own refusals. */
const REFUSED = -32000;

/** Listens until disposed, then leaves nothing on disk. */
export async function openControl(options: ControlOptions): Promise<AsyncDisposable> {
  const { home, log } = options;
  const connections = new Set<Socket>();
  const accept = (socket: Socket): void => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    socket.on('error', () => {}); // `close` follows
    serveConnection(socket, options);
  };
  const server = createServer((socket) => guard(failing(socket, log), accept)(socket));
  server.maxConnections = MOST_CONNECTIONS; // further ones are closed at once
  const endpoint = await claimEndpoint(home, options);
  const forget = (): void => removeEndpoint(endpoint);
  // Our files are removed on any exit, except when we're killed.
  process.once('exit', forget);
  const close = async (): Promise<void> => {
    for (const socket of connections) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    forget();
    process.off('exit', forget);
  };
  try {
    await listen(server, endpoint.address);
    makePrivateSocket(endpoint.address);
  } catch (error) {
    await close();
    throw error;
  }
  server.on('error', (error) => log.debug(`control endpoint: ${error.message}`));
  server.unref(); // only the host keeps us running
  await findEndpoints(home); // removes what killed runs left behind
  return { [Symbol.asyncDispose]: close };
}

function listen(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Logs a bug and closes the connection it happened on. */
function failing(socket: Socket, log: Log): (error: unknown) => void {
  return (error) => {
    log.error(`control endpoint: ${describeBug(error)}`);
    socket.destroy();
  };
}

function serveConnection(socket: Socket, options: ControlOptions): void {
  const { methods, log, idleMs = IDLE_MS } = options;
  let running = 0;
  const endIdle = (): void => {
    if (running === 0) socket.destroy();
    else idle.refresh(); // answers may take a while
  };
  const idle = setTimeout(guard(failing(socket, log), endIdle), idleMs).unref();
  const answer = async (request: IncomingRequest): Promise<Verbatim> => {
    if (running >= MOST_RUNNING) {
      throw new RpcError(REFUSED, `${MOST_RUNNING} requests are already running.`);
    }
    running++;
    try {
      return await callMethod(methods, request);
    } finally {
      running--;
      idle.refresh();
    }
  };
  socket.unref();
  socket.once('close', () => clearTimeout(idle)); // a cleared timer can't be refreshed
  createSocketPeer(socket, {
    messageBytes: MESSAGE_BYTES,
    onRequest: answer,
    onBug: (error) => log.error(`control endpoint: ${describeBug(error)}`),
  });
}

async function callMethod(
  methods: ControlMethods,
  { method, params }: IncomingRequest,
): Promise<Verbatim> {
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!run) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
  try {
    return Verbatim.of(await run(params?.value));
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    throw new RpcError(REFUSED, error.text, Verbatim.of({ code: error.code }));
  }
}
