// Writes one process's audit log. Every line is on its way to the disk before the call it is about is answered, so a
// process that is killed has a line for each answer it gave.
import {
  closeSync,
  fchmodSync,
  ftruncateSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '../../base/process.ts';
import { codeOf } from '../../base/system-error.ts';
import { revealHidden } from '../../base/text.ts';
import { maskTokens } from '../../base/tokens.ts';
import { VERSION } from '../../base/version.ts';
import type { AuditSettings } from '../../config/config.ts';
import { formatLogHead, keyId, sealLine } from './chain.ts';
import type { AuditEvent } from './events.ts';
import { fingerprint } from './fingerprint.ts';
import {
  headFileOf,
  isOlderThan,
  listLogFiles,
  loadKey,
  logFileName,
  removeLogFile,
} from './folder.ts';

/** An open log file and its head. */
interface OpenFile {
  readonly name: string;
  readonly date: string;
  readonly log: number;
  readonly head: number;
  bytes: number;
  lines: number;
  /** What its first line says besides the usual, until that line is written. */
  first: object | undefined;
}

/** More log files than one process opens in a day. */
const MAX_NUMBER = 100_000;

export class AuditWriter {
  readonly #settings: AuditSettings;
  readonly #key: string;
  readonly #now: () => number;
  #file: OpenFile;
  #seq = 0;
  #mac = '';

  /** Opens a new file, and deletes those that are too old. Throws the system's errors. */
  static async open(settings: AuditSettings, now: () => number = Date.now): Promise<AuditWriter> {
    makePrivateFolder(settings.folder);
    const key = await loadKey(settings.folder);
    const writer = new AuditWriter(settings, key, now);
    writer.#removeOld();
    return writer;
  }

  private constructor(settings: AuditSettings, key: string, now: () => number) {
    this.#settings = settings;
    this.#key = key;
    this.#now = now;
    const after = latestIn(settings.folder);
    this.#file = this.#create();
    this.#file.first = { ...(after !== undefined && { after }) };
    try {
      this.#begin();
    } catch (error) {
      this.#discard(this.#file);
      throw error;
    }
  }

  /** Throws the system's errors; the line is then missing as a whole. */
  write(at: number, event: AuditEvent): void {
    this.#rotateIfDue();
    this.#append(at, fieldsOf(event));
  }

  /** Some events could not be written. */
  noteGap(lost: number): void {
    this.#append(this.#now(), { type: 'gap', lost });
  }

  close(): void {
    closeFile(this.#file);
  }

  #rotateIfDue(): void {
    const { bytes, date } = this.#file;
    if (bytes < this.#settings.maxFileBytes && date === dateOf(this.#now())) return;
    const old = this.#file;
    const before = this.#seq;
    const next = this.#create();
    try {
      this.#append(this.#now(), { type: 'rotate', next: next.name });
    } catch (error) {
      // If the line is there, only its head isn't, and the log has to go on where the line says.
      if (this.#seq === before) {
        this.#discard(next);
        throw error;
      }
    }
    this.#file = next;
    closeFile(old);
    next.first = { previous: { file: old.name, mac: this.#mac } };
    this.#begin();
    this.#removeOld();
  }

  /** Writes the first line of a file, unless it's there. If the disk is full, that is tried again later. */
  #begin(): void {
    const { first } = this.#file;
    if (!first) return;
    this.#appendLine(this.#now(), { ...this.#about(), ...first });
    this.#file.first = undefined;
  }

  #about(): object {
    const { pid } = process;
    return { type: 'open', file: this.#file.name, key: keyId(this.#key), pid, version: VERSION };
  }

  /** The head comes first: a log without one would look as if somebody had removed it. */
  #create(): OpenFile {
    const at = this.#now();
    for (let number = 1; number <= MAX_NUMBER; number++) {
      const name = logFileName(at, process.pid, number);
      const head = openNew(join(this.#settings.folder, headFileOf(name)));
      if (head === undefined) continue; // an earlier process had the same pid
      const log = this.#openLog(name, head);
      if (log === undefined) continue;
      const file = { name, date: dateOf(at), log, head, bytes: 0, lines: 0, first: undefined };
      try {
        this.#writeHead(file);
      } catch (error) {
        this.#discard(file);
        throw error;
      }
      return file;
    }
    throw new Error('too many audit files for this process');
  }

  /** Undefined if the file exists. Without a log, its head must not stay. */
  #openLog(name: string, head: number): number | undefined {
    let log: number | undefined;
    try {
      log = openNew(join(this.#settings.folder, name), 'ax');
      return log;
    } finally {
      if (log === undefined) {
        closeSync(head);
        rmSync(join(this.#settings.folder, headFileOf(name)), { force: true });
      }
    }
  }

  /** A file without lines, such as on a full disk. Every later call tries again. */
  #discard(file: OpenFile): void {
    closeFile(file);
    removeLogFile(this.#settings.folder, file.name);
  }

  #append(at: number, fields: object): void {
    this.#begin();
    this.#appendLine(at, fields);
  }

  #appendLine(at: number, fields: object): void {
    const file = this.#file;
    const seq = this.#seq + 1;
    const time = new Date(at).toISOString();
    const { line, mac } = sealLine(this.#key, this.#mac, { v: 1, seq, time, ...fields });
    file.bytes += writeWhole(file.log, `${line}\n`, file.bytes);
    file.lines++;
    this.#seq = seq;
    this.#mac = mac;
    this.#writeHead(file);
  }

  #writeHead({ name, head, lines }: OpenFile): void {
    const text = formatLogHead(this.#key, { file: name, lines, seq: this.#seq, mac: this.#mac });
    writeSync(head, text, 0);
  }

  /** Noted before it happens: a file that is missing without a note was removed by somebody else. */
  #removeOld(): void {
    const { folder, keepDays } = this.#settings;
    const now = this.#now();
    for (const file of listLogFiles(folder)) {
      if (!isOlderThan(file, keepDays, now) || file === this.#file.name) continue;
      this.#append(now, { type: 'removed', file });
      removeLogFile(folder, file);
    }
  }
}

/** Names come from models, hosts and servers, so they may be long and contain anything. */
function fieldsOf(event: AuditEvent): object {
  const fields = Object.entries(event).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === 'string' ? shorten(value) : value,
  ]);
  const safe = Object.fromEntries(fields) as object;
  if (!('arguments' in event) || event.arguments === undefined) return safe;
  return { ...safe, arguments: fingerprint(event.arguments) };
}

const MAX_TEXT = 500;

/** Hidden characters are shown, because they may be the point of an attack. */
function shorten(text: string): string {
  const shown = revealHidden(maskTokens(text.slice(0, 2 * MAX_TEXT)));
  return shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)}…` : shown;
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The file that was written to last. */
function latestIn(folder: string): string | undefined {
  let latest: string | undefined;
  let latestMs = -Infinity;
  for (const file of listLogFiles(folder)) {
    const { mtimeMs = -Infinity } = statSync(join(folder, file), { throwIfNoEntry: false }) ?? {};
    if (mtimeMs < latestMs) continue;
    latest = file;
    latestMs = mtimeMs;
  }
  return latest;
}

/** Undefined if the file exists. */
function openNew(file: string, flag: 'ax' | 'wx' = 'wx'): number | undefined {
  try {
    const descriptor = openSync(file, flag, 0o600);
    fchmodSync(descriptor, 0o600); // the umask may have taken our own rights
    return descriptor;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

/** Writes all of it or nothing; returns the number of bytes. */
function writeWhole(descriptor: number, text: string, size: number): number {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    if (written > 0) ftruncateSync(descriptor, size); // the disk is full
    throw error;
  }
  return bytes.length;
}

function closeFile({ log, head }: OpenFile): void {
  closeSync(log);
  closeSync(head);
}
