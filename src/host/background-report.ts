// A background process's answer to `switchboard status`: its sessions, and the servers of all of them, each process
// once.
import type { RunStatus } from '../agents/run-status.ts';
import { groupMemory } from '../base/process-table.ts';
import { VERSION } from '../base/version.ts';
import type { ChildStatus, Facts, SessionStatus, ShownState } from './status-report.ts';

export interface BackgroundReport {
  readonly version: string;
  readonly pid: number;
  /** ISO. */
  readonly startedAt: string;
  readonly memoryBytes: number | undefined;
  /** Whether new sessions can join it. */
  readonly isAccepting: boolean;
  readonly sessions: readonly BackgroundSession[];
  /** Each process once, and each server that doesn't run. */
  readonly children: readonly ChildStatus[];
  /** Running agents. */
  readonly runs: readonly RunStatus[];
}

export interface BackgroundSession extends SessionStatus {
  readonly project: string;
  /** ISO. */
  readonly startedAt: string;
  /** The pid of the program that the host started. */
  readonly entry: number;
}

/** A session's data. */
interface SessionFacts extends Pick<BackgroundSession, 'startedAt' | 'entry'> {
  /** Set for a command. Only `serve --http` has hosts. */
  readonly command?: string | undefined;
  /** Its numbers among those that share processes. */
  readonly numbers: readonly number[];
  readonly facts: Facts;
}

/** A server's process. */
interface RunningServer {
  readonly name: string;
  /** Undefined while it starts. */
  readonly live:
    | {
        readonly pid: number | undefined;
        readonly uptimeMs: number;
        readonly users: readonly number[];
      }
    | undefined;
}

export interface BackgroundFacts extends Pick<BackgroundReport, 'startedAt' | 'isAccepting'> {
  readonly sessions: readonly SessionFacts[];
  readonly running: readonly RunningServer[];
}

type ServerFacts = Omit<ChildStatus, 'memoryBytes'>;

export async function createBackgroundReport(facts: BackgroundFacts): Promise<BackgroundReport> {
  const { startedAt, isAccepting, sessions } = facts;
  const servers = mergeServers(facts);
  const memory = await groupMemory(servers.flatMap(({ pid }) => pid ?? []));
  return {
    version: VERSION,
    pid: process.pid,
    startedAt,
    memoryBytes: process.memoryUsage.rss(),
    isAccepting,
    sessions: sessions.map(describeSession),
    children: servers.map((server) => withMemory(server, memory)),
    runs: sessions.flatMap(({ facts: { runs } }) => runs),
  };
}

function withMemory(server: ServerFacts, memory: ReadonlyMap<number, number>): ChildStatus {
  const memoryBytes = server.pid === undefined ? undefined : memory.get(server.pid);
  return { ...server, memoryBytes };
}

function describeSession({ startedAt, entry, command, facts }: SessionFacts): BackgroundSession {
  const { project, sessions } = facts;
  const client = nameSession(command, sessions);
  const revision = command === undefined ? sessions[0]?.revision : undefined;
  const active = [...new Set(sessions.flatMap((session) => session.active))];
  return { project, client, revision, active, startedAt, entry };
}

/** A session's name for the user. */
export function nameSession(
  command: string | undefined,
  hosts: readonly SessionStatus[],
): string | undefined {
  const clients = [...new Set(hosts.flatMap(({ client }) => client ?? []))];
  if (command === undefined) return clients[0];
  return clients.length === 0 ? command : `${command} (${clients.join(', ')})`;
}

/** By name, in the order of the first session that has it. */
function mergeServers({ sessions, running }: BackgroundFacts): ServerFacts[] {
  const names = new Set([
    ...sessions.flatMap(({ facts }) => facts.children.map(({ name }) => name)),
    ...running.map(({ name }) => name),
  ]);
  return [...names].flatMap((name) => {
    const of = sessions.flatMap((session) => {
      const child = session.facts.children.find((one) => one.name === name);
      return child ? [{ child, numbers: session.numbers }] : [];
    });
    const processes = running.filter((server) => server.name === name);
    const rows = processes.map((server) => runningRow(server, of));
    const others = of.map(({ child }) => child).filter(({ state }) => !isUp(state));
    const failed = others.filter(({ state }) => state === 'error');
    const stopped = rows.length > 0 ? failed : others;
    return stopped.length > 0 ? rows.concat(stoppedRow(stopped)) : rows;
  });
}

interface NumberedChild {
  readonly child: ServerFacts;
  readonly numbers: readonly number[];
}

function runningRow({ name, live }: RunningServer, of: readonly NumberedChild[]): ServerFacts {
  const { users = [], pid, uptimeMs } = live ?? {};
  const mine = of.filter(({ numbers }) => numbers.some((number) => users.includes(number)));
  const children = mine.length > 0 ? mine.map(({ child }) => child) : of.map(({ child }) => child);
  const isActive = mine.some(({ child }) => child.state === 'active');
  return {
    ...UNKNOWN,
    ...children[0],
    name,
    state: live ? (isActive ? 'active' : 'ready') : 'warming',
    pid,
    uptimeMs,
    sessions: users.length,
    calls: mine.reduce((sum, { child }) => sum + child.calls, 0),
    tools: children.find(({ tools }) => tools !== undefined)?.tools,
    lastError: children.findLast(({ lastError }) => lastError !== undefined)?.lastError,
  };
}

/** Several sessions see the same server that doesn't run. */
function stoppedRow(children: readonly ServerFacts[]): ServerFacts {
  const order: readonly ShownState[] = ['error', 'warming', 'idle', 'off'];
  const [worst] = children.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return {
    ...UNKNOWN,
    ...worst,
    pid: undefined,
    uptimeMs: undefined,
    sessions: undefined,
    calls: children.reduce((sum, { calls }) => sum + calls, 0),
    tools: children.find(({ tools }) => tools !== undefined)?.tools,
  };
}

function isUp(state: ShownState): boolean {
  return state === 'ready' || state === 'active';
}

/** A server that an agent uses may be in no session's configuration. */
const UNKNOWN: ServerFacts = {
  name: '',
  show: 'suite',
  state: 'idle',
  pid: undefined,
  uptimeMs: undefined,
  calls: 0,
  tools: undefined,
  lastError: undefined,
};
