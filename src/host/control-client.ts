// Queries all running Switchboard processes through their control endpoints, concurrently and with a time limit.
import { connect } from 'node:net';
import { isObject } from '../base/object.ts';
import { processPlace } from '../base/process-table.ts';
import { codeOf } from '../base/system-error.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { EACH_SESSION, SESSION_PROJECTS } from './background-methods.ts';
import { type ControlEndpoint, findEndpoints, removeEndpoint } from './endpoints.ts';
import { createSocketPeer } from './socket-peer.ts';

/** One session's response, or why it didn't respond. */
export interface ControlAnswer {
  readonly pid: number;
  /** Empty for a background process as a whole. */
  readonly project: string;
  readonly value?: unknown;
  readonly problem?: string;
}

/** One process's response. */
export interface ProgramAnswer extends ControlAnswer {
  readonly endpoint: ControlEndpoint;
}

/** Responses may be larger than requests. */
const ANSWER_BYTES = 16 << 20;

/**
 * The responses of all sessions and Switchboard processes with this home, or only those for some projects. A background
 * process answers for each of its sessions.
 */
export async function askRunning(
  home: string,
  method: string,
  limitMs: number,
  isMeant?: (project: string) => boolean,
): Promise<ControlAnswer[]> {
  const endpoints = await findEndpoints(home);
  const answers = await Promise.all(
    endpoints.map(async (endpoint) => {
      if (endpoint.background !== undefined) {
        return askSessions(endpoint, method, limitMs, isMeant);
      }
      if (isMeant?.(endpoint.project) === false) return [];
      const { value, problem } = (await askEndpoint(endpoint, { method, limitMs })) ?? {};
      if (value === undefined && problem === undefined) return [];
      const { pid, project } = endpoint;
      return problem === undefined ? { pid, project, value } : { pid, project, problem };
    }),
  );
  return answers.flat();
}

async function askSessions(
  endpoint: ControlEndpoint,
  method: string,
  limitMs: number,
  isMeant: ((project: string) => boolean) | undefined,
): Promise<ControlAnswer[]> {
  const { pid } = endpoint;
  let projects: readonly string[] | undefined;
  if (isMeant) {
    const { value } = (await askEndpoint(endpoint, { method: SESSION_PROJECTS, limitMs })) ?? {};
    const all = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
    projects = all.filter(isMeant);
    if (projects.length === 0) return [];
  }
  const params = { method, projects };
  const answer = await askEndpoint(endpoint, { method: EACH_SESSION, limitMs, params });
  if (!answer) return [];
  const { value, problem = 'sent an invalid response' } = answer;
  if (!Array.isArray(value)) return [{ pid, project: '', problem }];
  return value.filter(isObject).map((one) => {
    const project = String(one['project']);
    const why = one['problem'];
    return typeof why === 'string'
      ? { pid, project, problem: why }
      : { pid, project, value: one['value'] };
  });
}

export interface ProgramRequest {
  readonly method: string;
  readonly limitMs: number;
  readonly params?: object;
}

/** One response of each running process with this home, in no particular order. */
export async function askPrograms(home: string, request: ProgramRequest): Promise<ProgramAnswer[]> {
  const endpoints = await findEndpoints(home);
  const answers = await Promise.all(endpoints.map((endpoint) => askEndpoint(endpoint, request)));
  return answers.filter((answer) => answer !== undefined);
}

/** Undefined if nothing listens there anymore. */
export async function askEndpoint(
  endpoint: ControlEndpoint,
  { method, limitMs, params }: ProgramRequest,
): Promise<ProgramAnswer | undefined> {
  const { pid, project, address } = endpoint;
  const who = { pid, project, endpoint };
  const socket = connect(address);
  const peer = createSocketPeer(socket, {
    messageBytes: ANSWER_BYTES,
    onRequest: ({ method: asked }) => {
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${asked}`);
    },
    onBug: () => {}, // this side runs no code that could fail
  });
  try {
    const sent = params && Verbatim.of(params);
    const answer = await peer.request(method, sent, { timeoutMs: limitMs });
    return { ...who, value: answer.value };
  } catch (error) {
    if (error instanceof RpcError) return { ...who, problem: error.message };
    if (!isNobodyThere(error, endpoint)) return { ...who, problem: NOT_RESPONDING };
    if (endpoint.place === processPlace()) removeEndpoint(endpoint);
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** The problem of a process that is alive but doesn't answer. */
export const NOT_RESPONDING = 'not responding';

/**
 * Whether nothing listens at the address. An owner known to be alive is only unreachable. On Windows its start time
 * is unknown, and nothing is known about an owner in another container.
 */
function isNobodyThere(error: unknown, { start, place }: ControlEndpoint): boolean {
  const code = codeOf(error);
  const isRefused = code === 'ECONNREFUSED' || code === 'ENOENT';
  return isRefused && (start === 'unknown' || place !== processPlace());
}
