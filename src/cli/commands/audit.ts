// `switchboard audit [verify|export]`: the latest entries of the audit log, whether it is intact, or all of it.
import { join } from 'node:path';
import { ERRORS, SwitchboardError } from '../../base/errors.ts';
import { isSystemError } from '../../base/system-error.ts';
import { didYouMean, escapeHidden, formatDuration, printable } from '../../base/text.ts';
import { auditFolder } from '../../config/config.ts';
import { findConfigFile } from '../../config/files/files.ts';
import { type Folders, findFolders } from '../../config/files/places.ts';
import {
  type AuditEntry,
  type AuditReport,
  readAudit,
  verifyAudit,
} from '../../trust/audit/verify.ts';
import { formatRows, type Row } from '../terminal/layout.ts';
import { count, createOutput, type Output } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';
import { type CommandOptions, loadFor } from './with-switchboard.ts';

export interface AuditOptions extends CommandOptions {
  readonly since?: string | undefined;
}

const ACTIONS = ['verify', 'export'] as const;
const SHOWN = 20;

export async function auditCommand(
  action: string | undefined,
  options: AuditOptions,
): Promise<number> {
  const output = createOutput(options);
  const since = sinceOf(options.since);
  try {
    if (action === 'verify') return verify(output);
    if (action === 'export') return exportAll(since, output);
    if (action === undefined) return await showLatest(since, options, output);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new SwitchboardError('AUDIT_FAILED', `Cannot read the audit log: ${error.message}.`, {
      hint: `Make ${folderHere()} readable.`,
      cause: error,
    });
  }
  throw unknownAction(action);
}

async function showLatest(since: number, options: AuditOptions, output: Output): Promise<number> {
  const { audit } = await loadFor(options);
  const folder = folderHere();
  const all = entriesSince(folder, since).sort((one, other) => timeOf(one) - timeOf(other));
  const entries = all.slice(-SHOWN);
  output.json({ on: audit !== undefined, folder, total: all.length, entries });
  for (const line of formatRows(entries.map(rowOf), output)) output.line(line);
  if (all.length > entries.length) {
    output.line(
      `Showing the last ${entries.length} of ${all.length} entries. To see all of them, run: switchboard audit export`,
    );
  }
  if (all.length === 0) output.line('No entries.');
  output.line(`Folder: ${folder}`);
  if (!audit)
    output.line(`The audit log is off. To turn it on, add "audit": true to ${userFile()}`);
  return 0;
}

function verify(output: Output): number {
  const report = verifyAudit(folderHere());
  const { problems, files, entries, folder } = report;
  output.json({ ok: problems.length === 0, ...report });
  printProblems(report, output);
  const summary = `${count(files, 'file')}, ${entries} ${entries === 1 ? 'entry' : 'entries'}`;
  output.line(
    problems.length === 0
      ? `${output.style('green', '✓')} ${summary} in ${folder}: nothing was changed or removed.`
      : `${output.style('red', '✗')} ${summary} in ${folder}: ${count(problems.length, 'problem')}.`,
  );
  return problems.length === 0 ? 0 : ERRORS.AUDIT_FAILED.exit;
}

function printProblems({ problems }: AuditReport, output: Output): void {
  for (const { file, line, message } of problems) {
    output.line(`${file}${line === undefined ? '' : `:${line}`}: ${output.style('red', message)}`);
  }
}

/** JSON lines, or one JSON document with `--json`. */
function exportAll(since: number, output: Output): number {
  const folder = folderHere();
  const { problems } = verifyAudit(folder);
  if (problems.length > 0) {
    process.stderr.write(
      `warning: the audit log has ${count(problems.length, 'problem')}. Run: switchboard audit verify\n`,
    );
  }
  if (output.isJson) {
    output.json({ ok: problems.length === 0, folder, entries: entriesSince(folder, since) });
    return 0;
  }
  for (const entry of readAudit(folder)) {
    if (timeOf(entry) >= since) output.line(escapeHidden(JSON.stringify(entry)));
  }
  return 0;
}

function entriesSince(folder: string, since: number): AuditEntry[] {
  return [...readAudit(folder)].filter((entry) => timeOf(entry) >= since);
}

function rowOf(entry: AuditEntry): Row {
  const { time, type } = entry;
  const { ms, outcome, decision } = entry;
  const texts = [
    textOf(time).replace('T', ' ').slice(0, 19),
    textOf(type),
    subjectOf(entry),
    textOf(outcome ?? decision ?? entry['reason']),
    typeof ms === 'number' ? formatDuration(ms) : '',
    textOf(entry['host'] ?? entry['answer'] ?? entry['by']),
  ];
  return { cells: texts.map((text) => ({ text: printable(text) })) };
}

/** The server and tool, file or name an entry is about. */
function subjectOf(entry: AuditEntry): string {
  const { server, method, target, tool, agent, name, file, type, next } = entry;
  if (type === 'open' || type === 'rotate' || type === 'removed') return textOf(next ?? file);
  const of = textOf(target ?? tool ?? method ?? (server === undefined ? undefined : name));
  const whose = textOf(server ?? agent ?? name);
  return of === '' ? whose : `${whose}.${of}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function timeOf({ time }: AuditEntry): number {
  return Date.parse(textOf(time));
}

function folderHere(): string {
  return auditFolder(foldersHere());
}

function userFile(): string {
  const { home } = foldersHere();
  return findConfigFile(home) ?? join(home, 'switchboard.config.json');
}

function foldersHere(): Folders {
  return findFolders({ cwd: workingFolder(), env: process.env });
}

function sinceOf(text: string | undefined): number {
  if (text === undefined) return -Infinity;
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new SwitchboardError('USAGE', `"${text}" is not a valid date.`, {
    hint: 'Use a date such as 2026-11-16 or 2026-11-16T08:00Z.',
  });
}

function unknownAction(action: string): SwitchboardError {
  const near = didYouMean(action, ACTIONS);
  return new SwitchboardError('USAGE', `Unknown action: audit ${action}`, {
    hint: near || 'See: switchboard audit --help',
  });
}
