// The control endpoint of a running Switchboard: a socket at which other commands of the same user
// ask what it does (`status`) or tell it something (`reload`). What can be asked is handed in. It is
// there for convenience, so nothing that happens at it may disturb serving: a connection is bounded
// in size, number and time, and one that misbehaves is closed.
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

/** What can be asked: each gives a value, or a promise of one. */
export type ControlMethods = Readonly<Record<string, (params: unknown) => unknown>>;

export interface ControlOptions {
  /** Switchboard's own folder: those who ask look there for whom to ask. */
  readonly home: string;
  readonly project: string;
  readonly methods: ControlMethods;
  readonly log: Log;
  /** Milliseconds after which a connection is closed that asks nothing. */
  readonly idleMs?: number;
}

const IDLE_MS = 10_000;
const MESSAGE_BYTES = 1 << 20;
const MOST_CONNECTIONS = 32;
/** Requests of one connection that may be under way at once. */
const MOST_RUNNING = 16;
/** What a method refuses on purpose. */
const REFUSED = -32000;

/** Listens until it is disposed of; then nothing of it is left on disk. */
export async function openControl(options: ControlOptions): Promise<AsyncDisposable> {
  const { home, project, log } = options;
  const connections = new Set<Socket>();
  const accept = (socket: Socket): void => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    socket.on('error', () => {}); // `close` follows
    serveConnection(socket, options);
  };
  const server = createServer((socket) => guard(failing(socket, log), accept)(socket));
  server.maxConnections = MOST_CONNECTIONS; // more are closed as they come
  const endpoint = await claimEndpoint(home, project);
  const forget = (): void => removeEndpoint(endpoint);
  // Whatever way we end, short of being killed, no file of ours stays.
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
  server.unref(); // it is the host that keeps us running
  await findEndpoints(home); // removes what killed runs have left
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
    else idle.refresh(); // an answer may take its time
  };
  const idle = setTimeout(guard(failing(socket, log), endIdle), idleMs).unref();
  const answer = async (request: IncomingRequest): Promise<Verbatim> => {
    if (running >= MOST_RUNNING) {
      throw new RpcError(REFUSED, `${MOST_RUNNING} requests are under way already.`);
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
  socket.once('close', () => clearTimeout(idle)); // for good: it cannot be refreshed after that
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
