// Checks an audit log: that its chain is unbroken, that no file lacks its end, and that no file is missing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { codeOf } from '../../base/system-error.ts';
import { keyId, parseLine, parseLogHead, type SealedLine } from './chain.ts';
import { headFileOf, listHeadFiles, listLogFiles, readKey } from './folder.ts';

type AuditProblemKind =
  | 'edited'
  | 'removed'
  | 'moved'
  | 'truncated'
  | 'incomplete'
  | 'unreadable'
  | 'head'
  | 'missing'
  | 'key';

interface AuditProblem {
  readonly file: string;
  /** Counted from 1; undefined if it's about the whole file. */
  readonly line: number | undefined;
  readonly kind: AuditProblemKind;
  readonly message: string;
}

export interface AuditReport {
  readonly folder: string;
  readonly files: number;
  readonly entries: number;
  readonly problems: readonly AuditProblem[];
}

/** A line's fields, without its HMAC, and the log file it's in. */
export type AuditEntry = Readonly<Record<string, unknown>> & { readonly log: string };

export function verifyAudit(folder: string): AuditReport {
  const key = keyIn(folder);
  const found = listLogFiles(folder).map((file) => verifyFile(folder, file, key));
  return {
    folder,
    files: found.length,
    entries: found.reduce((sum, { lines }) => sum + lines.length, 0),
    problems: [
      ...found.flatMap(({ problems }) => problems),
      ...findBrokenLinks(found),
      ...findMissingFiles(folder, found, key),
    ],
  };
}

/** All entries, file by file. Unreadable lines are left out. */
export function* readAudit(folder: string): Generator<AuditEntry> {
  for (const file of listLogFiles(folder)) {
    for (const text of linesOf(readFile(join(folder, file))).lines) {
      const line = parseLine(text);
      if (line) yield { ...line.fields, log: file };
    }
  }
}

interface FoundFile {
  readonly file: string;
  readonly lines: readonly SealedLine[];
  readonly problems: readonly AuditProblem[];
}

/** Undefined if it's missing or damaged, which is then reported for every file. */
function keyIn(folder: string): string | undefined {
  try {
    return readKey(folder);
  } catch {
    return undefined;
  }
}

function verifyFile(folder: string, file: string, key: string | undefined): FoundFile {
  const problems: AuditProblem[] = [];
  const report = (kind: AuditProblemKind, message: string, line?: number): void =>
    void problems.push({ file, line, kind, message });
  // Before the log, which may be growing: it must not seem to lack lines that its head already counts.
  const head = readFile(join(folder, headFileOf(file)));
  const { lines: texts, rest } = linesOf(readFile(join(folder, file)));
  const lines = texts.map(parseLine);
  const known = lines.filter((line) => line !== undefined);
  const [first] = known;
  const writtenWith = first?.fields['key'];
  if (key === undefined || (writtenWith !== undefined && writtenWith !== keyId(key))) {
    report('key', 'The key this file was written with is missing, so it cannot be verified.');
    return { file, lines: known, problems };
  }
  if (lines.length > 0 && lines[0]?.fields['file'] !== file) {
    report('removed', 'The first line is missing, or the file was renamed.', 1);
  }
  let previous: string | undefined = macBefore(first);
  let expected = numberOf(first);
  for (const [index, line] of lines.entries()) {
    const number = index + 1;
    if (!line) {
      report('unreadable', 'Not an audit log entry.', number);
      previous = undefined; // the next line can't be checked, and the file is broken anyway
      expected++;
      continue;
    }
    if (previous !== undefined && !line.follows(key, previous)) {
      const { kind, message } = describeBreak(numberOf(line), expected);
      report(kind, message, number);
    }
    previous = line.mac;
    expected = numberOf(line) + 1;
  }
  if (rest !== '') {
    const why = 'The process was killed while writing it, or the file was truncated.';
    report('incomplete', `The last line is incomplete. ${why}`, lines.length + 1);
  }
  verifyEnd(file, head, key, known, report);
  return { file, lines: known, problems };
}

function describeBreak(
  seq: number,
  expected: number,
): { readonly kind: AuditProblemKind; readonly message: string } {
  if (seq === expected) return { kind: 'edited', message: 'The line was edited.' };
  if (seq < expected) return { kind: 'moved', message: 'The line is in the wrong place.' };
  const missing = seq - expected;
  const lines = missing === 1 ? 'A line is' : `${missing} lines are`;
  return { kind: 'removed', message: `${lines} missing before this one.` };
}

/** Compares the end of a file with its head file. */
function verifyEnd(
  file: string,
  text: string | undefined,
  key: string,
  lines: readonly SealedLine[],
  report: (kind: AuditProblemKind, message: string) => void,
): void {
  const name = headFileOf(file);
  const head = text === undefined ? undefined : parseLogHead(key, text);
  if (!head) {
    const what = text === undefined ? 'is missing' : 'is unreadable';
    report('head', `${name} ${what}, so lines may be missing at the end.`);
    return;
  }
  if (!head.isGenuine || head.file !== file) {
    report('head', `${name} was edited, so lines may be missing at the end.`);
    return;
  }
  if (head.lines === 0) return; // the process was killed before it wrote the first line
  const last = lines.at(-1);
  const missing = head.seq - numberOf(last);
  // A process that is killed may leave a line that its head doesn't know yet.
  if (missing <= 0 && (missing < 0 || last?.mac === head.mac)) return;
  const lost = missing === 1 ? 'A line is' : `${missing} lines are`;
  report(
    'truncated',
    missing === 0 ? 'The last line was replaced.' : `${lost} missing at the end.`,
  );
}

/** A file must continue where the one before it ended. */
function findBrokenLinks(found: readonly FoundFile[]): AuditProblem[] {
  const ends = new Map(found.map(({ file, lines }) => [file, lines.at(-1)?.mac]));
  return found.flatMap(({ file, lines: [first] }) => {
    const { file: before, mac } = previousOf(first) ?? {};
    const end = before === undefined ? undefined : ends.get(before);
    if (end === undefined || end === mac) return [];
    const message = `The file does not continue ${before}.`;
    return [{ file, line: 1, kind: 'edited' as const, message }];
  });
}

/** Files that other files name, or that have a head, and that Switchboard didn't delete. */
function findMissingFiles(
  folder: string,
  found: readonly FoundFile[],
  key: string | undefined,
): AuditProblem[] {
  const present = new Set(listLogFiles(folder)); // again: a process may have started a file by now
  const named = new Map<string, string>();
  for (const { file, lines } of found) {
    for (const { fields } of lines) {
      for (const name of namesInLine(fields)) {
        if (!named.has(name)) named.set(name, `${file} names it.`);
      }
      const { type, file: removed } = fields;
      if (type === 'removed' && typeof removed === 'string') present.add(removed);
    }
  }
  for (const name of listHeadFiles(folder)) {
    const text = readFile(join(folder, headFileOf(name)));
    const wasUsed = key === undefined || text === undefined || parseLogHead(key, text)?.lines !== 0;
    if (wasUsed) named.set(name, 'Its head file is still there.');
  }
  return [...named]
    .filter(([name]) => !present.has(name))
    .map(([file, because]) => ({
      file,
      line: undefined,
      kind: 'missing' as const,
      message: `The file is missing. ${because}`,
    }));
}

function namesInLine(fields: SealedLine['fields']): string[] {
  const { type, after, next, previous } = fields;
  if (type !== 'open' && type !== 'rotate') return [];
  const before = isObject(previous) ? previous['file'] : undefined;
  return [after, next, before].filter((name) => typeof name === 'string');
}

function previousOf(
  first: SealedLine | undefined,
): { readonly file: string; readonly mac: string } | undefined {
  const previous = first?.fields['previous'];
  if (!isObject(previous)) return undefined;
  const { file, mac } = previous;
  return typeof file === 'string' && typeof mac === 'string' ? { file, mac } : undefined;
}

/** The HMAC that the first line continues. */
function macBefore(first: SealedLine | undefined): string {
  return previousOf(first)?.mac ?? '';
}

function numberOf(line: SealedLine | undefined): number {
  const seq = line?.fields['seq'];
  return typeof seq === 'number' ? seq : 0;
}

/** `rest` is what follows the last line feed. */
function linesOf(text = ''): { readonly lines: readonly string[]; readonly rest: string } {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  return { lines, rest };
}

/** Undefined if there is no such file. */
function readFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
