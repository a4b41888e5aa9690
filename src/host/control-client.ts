// Queries all running Switchboard processes through their control endpoints, concurrently and with a time limit.
import { connect } from 'node:net';
import { processPlace } from '../base/process-table.ts';
import { codeOf } from '../base/system-error.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import { type ControlEndpoint, findEndpoints, removeEndpoint } from './endpoints.ts';
import { createSocketPeer } from './socket-peer.ts';

/** One process's response, or why it didn't respond. */
export interface ControlAnswer {
  readonly pid: number;
  readonly project: string;
  readonly value?: unknown;
  readonly problem?: string;
}

/** Responses may be larger than requests. */
const ANSWER_BYTES = 16 << 20;

/** The responses of all Switchboard processes with this home, or only those for some projects. */
export async function askRunning(
  home: string,
  method: string,
  limitMs: number,
  isMeant: (project: string) => boolean = () => true,
): Promise<ControlAnswer[]> {
  const found = await findEndpoints(home);
  const endpoints = found.filter(({ project }) => isMeant(project));
  const answers = await Promise.all(endpoints.map((endpoint) => ask(endpoint, method, limitMs)));
  return answers.filter((answer) => answer !== undefined);
}

/** Undefined if nothing listens there anymore. */
async function ask(
  endpoint: ControlEndpoint,
  method: string,
  limitMs: number,
): Promise<ControlAnswer | undefined> {
  const { pid, project, address } = endpoint;
  const socket = connect(address);
  const peer = createSocketPeer(socket, {
    messageBytes: ANSWER_BYTES,
    onRequest: ({ method: asked }) => {
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${asked}`);
    },
    onBug: () => {}, // this side runs no code that could fail
  });
  try {
    const answer = await peer.request(method, undefined, { timeoutMs: limitMs });
    return { pid, project, value: answer.value };
  } catch (error) {
    if (error instanceof RpcError) return { pid, project, problem: error.message };
    if (!isNobodyThere(error, endpoint)) return { pid, project, problem: 'not responding' };
    if (endpoint.place === processPlace()) removeEndpoint(endpoint);
    return undefined;
  } finally {
    socket.destroy();
  }
}

/**
 * Whether nothing listens at the address. An owner known to be alive is only unreachable. On Windows its start time
 * is unknown, and nothing is known about an owner in another container.
 */
function isNobodyThere(error: unknown, { start, place }: ControlEndpoint): boolean {
  const code = codeOf(error);
  const isRefused = code === 'ECONNREFUSED' || code === 'ENOENT';
  return isRefused && (start === 'unknown' || place !== processPlace());
}
