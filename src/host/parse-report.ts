// Reads a report from another program, which may be a different version.
import { RUN_STATES, type RunStatus } from '../agents/run-status.ts';
import { isObject } from '../base/object.ts';
import { parseCounts } from '../child/screen.ts';
import { SHARES, SHOWS } from '../config/config.ts';
import { parseRefusedTools } from '../mcp/clean-lists.ts';
import type { BackgroundReport, BackgroundSession } from './background-report.ts';
import {
  type ChildStatus,
  type SessionStatus,
  STATES,
  type StatusReport,
} from './status-report.ts';

/** Undefined if it isn't a report. Missing or unknown fields are left out. */
export function parseReport(value: unknown): StatusReport | undefined {
  if (!isObject(value) || !Array.isArray(value['children'])) return undefined;
  const { version, pid, startedAt, project, files, memoryBytes, sessions, children, runs } = value;
  return {
    version: textOf(version) ?? 'unknown',
    pid: numberOf(pid) ?? 0,
    startedAt: textOf(startedAt) ?? '',
    project: textOf(project) ?? '',
    files: textsOf(files),
    memoryBytes: numberOf(memoryBytes),
    configProblem: textOf(value['configProblem']),
    sessions: Array.isArray(sessions) ? sessions.filter(isObject).map(parseSession) : [],
    children: children.filter(isObject).map(parseChild),
    runs: Array.isArray(runs) ? runs.filter(isObject).map(parseRun) : [],
  };
}

/** The same for a background process. */
export function parseBackgroundReport(value: unknown): BackgroundReport | undefined {
  if (!isObject(value) || !Array.isArray(value['sessions'])) return undefined;
  const { version, pid, startedAt, memoryBytes, isAccepting, sessions, children, runs } = value;
  if (!Array.isArray(children)) return undefined;
  return {
    version: textOf(version) ?? 'unknown',
    pid: numberOf(pid) ?? 0,
    startedAt: textOf(startedAt) ?? '',
    memoryBytes: numberOf(memoryBytes),
    isAccepting: isAccepting === true,
    sessions: sessions.filter(isObject).map(parseBackgroundSession),
    children: children.filter(isObject).map(parseChild),
    runs: Array.isArray(runs) ? runs.filter(isObject).map(parseRun) : [],
  };
}

function parseBackgroundSession(session: Record<string, unknown>): BackgroundSession {
  return {
    ...parseSession(session),
    project: textOf(session['project']) ?? '',
    startedAt: textOf(session['startedAt']) ?? '',
    entry: numberOf(session['entry']) ?? 0,
  };
}

function parseSession({ client, revision, active }: Record<string, unknown>): SessionStatus {
  return { client: textOf(client), revision: textOf(revision), active: textsOf(active) };
}

function parseChild(child: Record<string, unknown>): ChildStatus {
  const refusedTools = parseRefusedTools(child['refusedTools']);
  const changes = parseCounts(child['changes']);
  const apart = textsOf(child['apart']);
  const sessions = numberOf(child['sessions']);
  return {
    name: textOf(child['name']) ?? '',
    show: SHOWS.find((show) => show === child['show']) ?? 'suite',
    state: STATES.find((state) => state === child['state']) ?? 'idle',
    pid: numberOf(child['pid']),
    memoryBytes: numberOf(child['memoryBytes']),
    uptimeMs: numberOf(child['uptimeMs']),
    calls: numberOf(child['calls']) ?? 0,
    tools: numberOf(child['tools']),
    ...(refusedTools.length > 0 && { refusedTools }),
    ...(changes && { changes }),
    lastError: textOf(child['lastError']),
    share: SHARES.find((share) => share === child['share']),
    shareBecause: textOf(child['shareBecause']),
    ...(sessions !== undefined && { sessions }),
    ...(apart.length > 0 && { apart }),
  };
}

function parseRun(run: Record<string, unknown>): RunStatus {
  return {
    agent: textOf(run['agent']) ?? '',
    cwd: textOf(run['cwd']) ?? '',
    state: RUN_STATES.find((state) => state === run['state']) ?? 'running',
    since: textOf(run['since']) ?? '',
    before: numberOf(run['before']),
    doing: textOf(run['doing']),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}
