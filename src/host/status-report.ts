// What a running Switchboard says of itself and its children when `switchboard status` asks.
import type { RunStatus } from '../agents/run-status.ts';
import { groupMemory } from '../base/process-table.ts';
import { VERSION } from '../base/version.ts';
import type { Show } from '../config/config.ts';
import type { RefusedTool } from '../mcp/clean-lists.ts';

export interface StatusReport {
  readonly version: string;
  readonly pid: number;
  /** ISO. */
  readonly startedAt: string;
  readonly project: string;
  readonly files: readonly string[];
  readonly memoryBytes: number | undefined;
  readonly sessions: readonly SessionStatus[];
  readonly children: readonly ChildStatus[];
  /** Of agents. */
  readonly runs: readonly RunStatus[];
}

export interface SessionStatus {
  /** The host's own name for itself. */
  readonly client: string | undefined;
  readonly revision: string | undefined;
  /** The children that are switched on for it. */
  readonly active: readonly string[];
}

export const STATES = ['idle', 'warming', 'ready', 'active', 'error', 'off'] as const;

export type State = (typeof STATES)[number];

export interface ChildStatus {
  readonly name: string;
  readonly show: Show;
  readonly state: State;
  readonly pid: number | undefined;
  /** Of all processes of its group. */
  readonly memoryBytes: number | undefined;
  readonly uptimeMs: number | undefined;
  readonly calls: number;
  readonly tools: number | undefined;
  /** Tools that are not listed because of hidden characters. */
  readonly refusedTools?: readonly RefusedTool[];
  readonly lastError: string | undefined;
}

/** What a running Switchboard knows by itself; the rest is asked of the system. */
export interface Facts extends Omit<StatusReport, 'version' | 'pid' | 'memoryBytes' | 'children'> {
  readonly children: readonly Omit<ChildStatus, 'memoryBytes'>[];
}

export async function createReport(facts: Facts): Promise<StatusReport> {
  const memory = await groupMemory(facts.children.flatMap(({ pid }) => pid ?? []));
  const children = facts.children.map((child) => ({
    ...child,
    memoryBytes: child.pid === undefined ? undefined : memory.get(child.pid),
  }));
  const memoryBytes = process.memoryUsage.rss();
  return { ...facts, version: VERSION, pid: process.pid, memoryBytes, children };
}
