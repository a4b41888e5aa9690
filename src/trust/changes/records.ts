// The records of all servers: one file each, readable only by the user. Several programs may write at the same time,
// so each change is made under a lock. Without the disk, records last as long as the process.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../base/atomic-file.ts';
import { withLockFile } from '../../base/lock.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { codeOf } from '../../base/system-error.ts';
import { toFileName } from '../../base/text.ts';
import type { ChildConfig } from '../../config/config.ts';
import { lastingIdentityOf } from '../../pool/identity.ts';
import { formatRecord, parseRecord, type ServerRecord } from './record.ts';

const LOCK = { staleMs: 5_000, waitMs: 7_000 };

export class ChangeRecords {
  readonly #folder: string;
  readonly #onProblem: (problem: string) => void;
  /** Records that couldn't be written. */
  readonly #unwritten = new Map<string, ServerRecord>();
  #hasFailed = false;

  constructor(home: string, onProblem: (problem: string) => void = () => {}) {
    this.#folder = join(home, 'changes');
    this.#onProblem = onProblem;
  }

  get(config: ChildConfig): ServerRecord | undefined {
    return this.#read(fileFor(config));
  }

  /** Every record, by its file name. */
  all(): ReadonlyMap<string, ServerRecord> {
    const records = filesIn(this.#folder).map((file) => [file, this.#read(file)] as const);
    return new Map(records.flatMap(([file, record]) => (record ? [[file, record] as const] : [])));
  }

  /** Replaces a server's record by what `change` makes of the current one, on disk if possible. */
  async update(config: ChildConfig, change: ChangeRecord): Promise<ServerRecord> {
    const file = fileFor(config);
    const made: { record?: ServerRecord } = {};
    try {
      return await this.updateFile(file, async (record) => {
        made.record = await change(record);
        return made.record;
      });
    } catch (error) {
      // Everything else works without the disk, so one warning is enough.
      if (!this.#hasFailed) this.#onProblem(`cannot record changed tools: ${String(error)}`);
      this.#hasFailed = true;
      const record = made.record ?? (await change(this.#read(file)));
      this.#unwritten.set(file, record);
      return record;
    }
  }

  /** The same for a record by its file name. Throws the system's errors. */
  async updateFile(file: string, change: ChangeRecord): Promise<ServerRecord> {
    const path = join(this.#folder, file);
    makeFolder(this.#folder);
    return withLockFile(`${path}.lock`, LOCK, async () => {
      requireReadable(path);
      const record = await change(this.#read(file));
      writeAtomically(path, formatRecord(record), { mode: 0o600 });
      this.#unwritten.delete(file);
      return record;
    });
  }

  #read(file: string): ServerRecord | undefined {
    const unwritten = this.#unwritten.get(file);
    if (unwritten) return unwritten;
    const text = readIfThere(join(this.#folder, file));
    const record = text === undefined ? undefined : parseRecord(text);
    if (text !== undefined && !record) {
      this.#onProblem(`${join(this.#folder, file)} is damaged; its server's tools count as new.`);
    }
    return record;
  }
}

type ChangeRecord = (record: ServerRecord | undefined) => Promise<ServerRecord>;

/** The file of a server's record. It stays the same when the server is updated. */
export function fileFor(config: ChildConfig): string {
  return `${toFileName(config.name)}-${lastingIdentityOf(config)}.json`;
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => file.endsWith('.json'));
  } catch {
    return []; // no folder yet
  }
}

/** Throws if there is a record that can't be read: it must not be replaced. */
function requireReadable(path: string): void {
  try {
    readFileSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // no record yet
  }
}
