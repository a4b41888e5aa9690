// The folder of the audit log: a file per process and day, its head file, and the key of this machine.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../base/atomic-file.ts';
import { withLockFile } from '../../base/lock.ts';
import { codeOf } from '../../base/system-error.ts';

const KEY_FILE = 'key';
const KEY = /^[0-9a-f]{64}$/;
const LOG_FILE = /^(\d{4}-\d{2}-\d{2})-(\d+)(?:-(\d+))?\.jsonl$/;
const DAY_MS = 86_400_000;

const LOCK = { staleMs: 5_000, waitMs: 10_000 };

/** `<date>-<pid>.jsonl`, then `<date>-<pid>-2.jsonl` and so on. The date is in UTC. */
export function logFileName(at: number, pid: number, number: number): string {
  const date = new Date(at).toISOString().slice(0, 10);
  return `${date}-${pid}${number > 1 ? `-${number}` : ''}.jsonl`;
}

export function headFileOf(logFile: string): string {
  return logFile.replace(/\.jsonl$/, '.head');
}

/** The log files, oldest day first; empty if there is no folder. */
export function listLogFiles(folder: string): string[] {
  const names = namesIn(folder).filter((name) => LOG_FILE.test(name));
  return names.sort((one, other) => compareKeys(sortKey(one), sortKey(other)));
}

/** Log files that a head file belongs to. */
export function listHeadFiles(folder: string): string[] {
  const heads = namesIn(folder).filter((name) => name.endsWith('.head'));
  return heads
    .map((name) => name.replace(/\.head$/, '.jsonl'))
    .filter((name) => LOG_FILE.test(name));
}

export function isOlderThan(logFile: string, days: number, now: number): boolean {
  const [, date] = LOG_FILE.exec(logFile) ?? [];
  return date !== undefined && now - Date.parse(date) > (days + 1) * DAY_MS;
}

export function removeLogFile(folder: string, logFile: string): void {
  rmSync(join(folder, logFile), { force: true });
  rmSync(join(folder, headFileOf(logFile)), { force: true });
}

/** The key, made on first use. The folder must exist. */
export async function loadKey(folder: string): Promise<string> {
  return (
    readKey(folder) ??
    withLockFile(join(folder, 'key.lock'), LOCK, async () => readKey(folder) ?? createKey(folder))
  );
}

/** Undefined if there is none. Throws if the file isn't a key: a new one would make every old file look forged. */
export function readKey(folder: string): string | undefined {
  const file = join(folder, KEY_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  if (!KEY.test(text)) throw new Error(`${file} is not a key`);
  return text;
}

function createKey(folder: string): string {
  const key = randomBytes(32).toString('hex');
  writeAtomically(join(folder, KEY_FILE), `${key}\n`, { mode: 0o600 });
  return key;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

function sortKey(name: string): readonly [date: string, pid: number, number: number] {
  const [, date = '', pid = '0', number = '1'] = LOG_FILE.exec(name) ?? [];
  return [date, Number(pid), Number(number)];
}

function compareKeys(one: ReturnType<typeof sortKey>, other: ReturnType<typeof sortKey>): number {
  if (one[0] !== other[0]) return one[0] < other[0] ? -1 : 1;
  return one[1] - other[1] || one[2] - other[2];
}
