// Runs the official conformance suite for one revision of the protocol, and reads its results.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Tools } from './install.ts';
import { runToEnd } from './programs.ts';
import type { Place, Subject } from './subject.ts';

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;

/** A scenario's result. A scored one must pass. */
export interface Row {
  readonly name: string;
  /** Why it isn't scored: it's an extension, or newer than the revision. */
  readonly notScored?: string | undefined;
  /** How many of its checks passed. */
  readonly passed: number;
  /** The message of each failed check. */
  readonly failures: readonly string[];
  /** Failed checks that the protocol only recommends. */
  readonly warnings: readonly string[];
}

/** The suite's file with the requirements of each revision. */
interface Requirements {
  readonly server: readonly string[];
  readonly not_scored: readonly { scenario: string; leg: string; reason: string }[];
}

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

const SUITE_MS = 300_000;

/** The scenarios of a revision, with the reason if one isn't scored. */
export function scenariosOf(
  { requirements }: Tools,
  revision: string,
): Map<string, string | undefined> {
  const text = readFileSync(join(requirements, `${revision}.yaml`), 'utf8');
  const { server, not_scored } = parse(text) as Requirements;
  const others = not_scored.filter(({ leg }) => leg === 'server');
  return new Map([
    ...server.map((name) => [name, undefined] as const),
    ...others.map(({ scenario, reason }) => [scenario, reason] as const),
  ]);
}

/** Runs every scenario of a revision, or only the named ones. */
export async function runSuite(
  tools: Tools,
  { url }: Subject,
  { dir, project, env }: Place,
  revision: string,
  only: readonly string[],
): Promise<Row[]> {
  const results = join(dir, revision);
  mkdirSync(results);
  const selections =
    only.length === 0
      ? [['--requirements', revision]]
      : only.map((name) => ['--scenario', name, '--spec-version', revision, '--force']);
  for (const selection of selections) {
    const args = [tools.suite, 'server', '--url', url, ...selection, '--output-dir', results];
    const logFile = join(dir, `${revision}.log`);
    await runToEnd({ command: tools.node, args, cwd: project, env, logFile }, SUITE_MS);
  }
  return [...scenariosOf(tools, revision)]
    .filter(([name]) => only.length === 0 || only.includes(name))
    .map(([name, notScored]) => toRow(name, notScored, readChecks(results, name)));
}

function toRow(name: string, notScored: string | undefined, checks: readonly Check[]): Row {
  const messagesOf = (wanted: Check['status']): string[] =>
    checks
      .filter(({ status }) => status === wanted)
      .map(({ id, errorMessage = 'no reason given' }) => `${id}: ${errorMessage}`);
  return {
    name,
    notScored,
    passed: checks.filter(({ status }) => status === 'SUCCESS').length,
    failures: messagesOf('FAILURE'),
    warnings: messagesOf('WARNING'),
  };
}

/** Each scenario has a folder, named after it and the time of its run. */
function readChecks(results: string, name: string): Check[] {
  const isOfScenario = new RegExp(`^server-${name}-\\d{4}-\\d\\d-\\d\\dT`);
  const folder = readdirSync(results).find((entry) => isOfScenario.test(entry)) ?? '';
  const file = join(results, folder, 'checks.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Check[];
  return [{ id: name, status: 'FAILURE', errorMessage: 'it was not run to its end' }];
}
