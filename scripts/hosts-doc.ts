// The table of tested hosts in docs/hosts.md, from the results that `npm run test:hosts` records.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHECKS, type CheckId } from '../test/hosts/checks/table.ts';
import { claude } from '../test/hosts/drivers/claude.ts';
import { codex } from '../test/hosts/drivers/codex.ts';
import type { HostDriver } from '../test/hosts/drivers/driver.ts';
import { gemini } from '../test/hosts/drivers/gemini.ts';
import { opencode } from '../test/hosts/drivers/opencode.ts';
import { type ProgramId, programOf } from './programs/programs.ts';

/** The outcome of the checks with one host. */
export interface HostResults {
  readonly version: string;
  readonly passed: readonly CheckId[];
  readonly failed: readonly CheckId[];
}

type Results = Partial<Record<ProgramId, HostResults>>;

export const RESULTS_FILE = fileURLToPath(new URL('../test/hosts/results.json', import.meta.url));

export const HOSTS: readonly HostDriver[] = [codex, claude, opencode, gemini];

export function readResults(): Results {
  return JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as Results;
}

export function formatHosts(results: Results = readResults()): string {
  const notes: string[] = [];
  const tested = HOSTS.filter(({ id }) => results[id]);
  const rows = (Object.keys(CHECKS) as CheckId[]).map((check) =>
    formatRow(
      CHECKS[check],
      tested.map((host) => formatCell(host, check, results[host.id], notes)),
    ),
  );
  const head = tested.map(({ id }) => `${programOf(id).title} ${results[id]?.version}`);
  const rule = tested.map(() => ':-:');
  const footnotes = notes.map((note, index) => `${index + 1}. ${note}.`);
  const table = [formatRow('check', head), formatRow('---', rule), ...rows];
  return [table.join('\n'), footnotes.join('\n')].join('\n\n');
}

function formatRow(first: string, others: readonly string[]): string {
  return `| ${[first, ...others].join(' | ')} |`;
}

function formatCell(
  host: HostDriver,
  check: CheckId,
  results: HostResults | undefined,
  notes: string[],
): string {
  const { title } = programOf(host.id);
  const reason = host.cannot[check];
  if (reason !== undefined) return `– ${mark(`${title}: ${reason}`, notes)}`;
  if (results?.failed.includes(check)) return '✗';
  if (!results?.passed.includes(check)) return '';
  const note = host.notes[check];
  return note === undefined ? '✓' : `✓ ${mark(`${title}: ${note}`, notes)}`;
}

/** The footnote's number. */
function mark(note: string, notes: string[]): string {
  if (!notes.includes(note)) notes.push(note);
  return `<sup>${notes.indexOf(note) + 1}</sup>`;
}
