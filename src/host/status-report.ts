// A running Switchboard's answer to `switchboard status`.
import type { RunStatus } from '../agents/run-status.ts';
import { groupMemory } from '../base/process-table.ts';
import { VERSION } from '../base/version.ts';
import type { ScreenCounts } from '../child/screen.ts';
import type { Share, Show } from '../config/config.ts';
import type { RefusedTool } from '../mcp/clean-lists.ts';

export interface StatusReport {
  readonly version: string;
  readonly pid: number;
  /** ISO. */
  readonly startedAt: string;
  readonly project: string;
  readonly files: readonly string[];
  readonly memoryBytes: number | undefined;
  /** Why the files on disk aren't in effect; undefined if they are. */
  readonly configProblem?: string | undefined;
  readonly sessions: readonly SessionStatus[];
  readonly children: readonly ChildStatus[];
  /** Running agents. */
  readonly runs: readonly RunStatus[];
}

export interface SessionStatus {
  /** The name the host gives itself. */
  readonly client: string | undefined;
  readonly revision: string | undefined;
  /** The servers that are switched on for it. */
  readonly active: readonly string[];
}

export const STATES = ['idle', 'warming', 'ready', 'active', 'error', 'off'] as const;

export type ShownState = (typeof STATES)[number];

export interface ChildStatus {
  readonly name: string;
  readonly show: Show;
  readonly state: ShownState;
  readonly pid: number | undefined;
  /** Of its whole process group. */
  readonly memoryBytes: number | undefined;
  readonly uptimeMs: number | undefined;
  readonly calls: number;
  readonly tools: number | undefined;
  /** Tools left out because of hidden characters, or held until the user accepts them. */
  readonly refusedTools?: readonly RefusedTool[];
  /** Changes that the user hasn't accepted yet; undefined if there are none. */
  readonly changes?: ScreenCounts;
  readonly lastError: string | undefined;
  /** Which sessions may share its process, and why. */
  readonly share?: Share | undefined;
  readonly shareBecause?: string | undefined;
  /** How many sessions use its process; undefined for one. */
  readonly sessions?: number | undefined;
  /** Variables whose values keep other sessions from sharing its process. */
  readonly apart?: readonly string[] | undefined;
}

/** Switchboard's own data. The rest comes from the operating system. */
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
