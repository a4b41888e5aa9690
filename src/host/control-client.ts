// Asking running Switchboards something at their control endpoints: all at once, each with a limit.
import { connect } from 'node:net';
import { processPlace } from '../base/process-table.ts';
import { codeOf } from '../base/system-error.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import { type Endpoint, findEndpoints, removeEndpoint } from './endpoints.ts';
import { createSocketPeer } from './socket-peer.ts';

/** What came of asking one program: a value, or a sentence about why there is none. */
export interface Answer {
  readonly pid: number;
  readonly project: string;
  readonly value?: unknown;
  readonly problem?: string;
}

/** An answer may be larger than what is accepted as a question. */
const ANSWER_BYTES = 16 << 20;

/** The answers of all running Switchboards of a home, those of programs that are gone left out. */
export async function askAll(home: string, method: string, limitMs: number): Promise<Answer[]> {
  const endpoints = await findEndpoints(home);
  const answers = await Promise.all(endpoints.map((endpoint) => ask(endpoint, method, limitMs)));
  return answers.filter((answer) => answer !== undefined);
}

/** Undefined if it turns out that nobody is there. */
async function ask(
  endpoint: Endpoint,
  method: string,
  limitMs: number,
): Promise<Answer | undefined> {
  const { pid, project, address } = endpoint;
  const socket = connect(address);
  const peer = createSocketPeer(socket, {
    messageBytes: ANSWER_BYTES,
    onRequest: ({ method: asked }) => {
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${asked}`);
    },
    onBug: () => {}, // nothing is done here that could have one
  });
  try {
    const answer = await peer.request(method, undefined, { timeoutMs: limitMs });
    return { pid, project, value: answer.value };
  } catch (error) {
    if (error instanceof RpcError) return { pid, project, problem: error.message };
    if (!isNobodyThere(error, endpoint)) return { pid, project, problem: 'does not answer' };
    if (endpoint.place === processPlace()) removeEndpoint(endpoint);
    return undefined;
  } finally {
    socket.destroy();
  }
}

/**
 * Nobody listens at the address. Where its owner is known to be alive, it is only out of reach; its
 * age is not known on Windows, nor anything of an owner in another container.
 */
function isNobodyThere(error: unknown, { start, place }: Endpoint): boolean {
  const code = codeOf(error);
  const isRefused = code === 'ECONNREFUSED' || code === 'ENOENT';
  return isRefused && (start === 'unknown' || place !== processPlace());
}
