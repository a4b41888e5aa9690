// The user's decisions, in `$SWITCHBOARD_HOME/trust.json`. A file that can't be read approves nothing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../base/atomic-file.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { ifUnlocked, LockedError, type LockTimes, withLockFile } from '../../base/lock.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { isObject, parseIfJson } from '../../base/object.ts';
import { readOpenedFile } from '../../base/read-text.ts';
import { isSystemError } from '../../base/system-error.ts';

/** How something was approved or denied. */
export type DecidedBy = 'user' | 'host' | 'first-sight' | 'program' | 'command' | 'update';

export interface TrustRecord {
  readonly decision: 'approved' | 'denied' | 'revoked';
  readonly kind: string;
  readonly name: string;
  readonly file: string;
  readonly by: DecidedBy;
  /** ISO 8601. */
  readonly at: string;
  /** What was decided on, for `switchboard trust diff`. */
  readonly lines?: readonly string[] | undefined;
  /** The rights that the user has seen. */
  readonly rights?: readonly string[] | undefined;
}

/** What a decision is about, whatever it contains. */
export function keyOf({ kind, name, file }: Pick<TrustRecord, 'kind' | 'name' | 'file'>): string {
  return [kind, name, file].join('\0');
}

export function recordOf(
  { kind, name, file }: Pick<TrustRecord, 'kind' | 'name' | 'file'>,
  decision: TrustRecord['decision'],
  by: DecidedBy,
): TrustRecord {
  return { decision, kind, name, file, by, at: new Date().toISOString() };
}

export interface TrustStore {
  /** When the first decision was recorded, as ISO 8601; undefined if there is none. */
  readonly since: string | undefined;
  /** By hash. */
  readonly records: ReadonlyMap<string, TrustRecord>;
  /** Files trusted at first sight, and hashes of pending items, that the user was told about. */
  readonly announced: ReadonlySet<string>;
  /** Hashes of texts, each for one approved part. */
  readonly batches: ReadonlySet<string>;
  /** The stamps of files that weren't marked as downloaded, by path. */
  readonly unmarked: ReadonlyMap<string, string>;
  /** The stamps of files that came with a repository, by path. */
  readonly foreign: ReadonlyMap<string, string>;
  /** It exists, but can't be understood. */
  readonly isDamaged: boolean;
  /** The file's; undefined if there is none, or if it may be changing now. */
  readonly stamp: string | undefined;
}

const FORM = 1;
const DECISIONS = new Set<unknown>(['approved', 'denied', 'revoked']);
const MOST_BYTES = 16 << 20;
const MOST_BATCHES = 4_000;
const MOST_STAMPS = 5_000;
const MOST_ANNOUNCED = 10_000;
const TIMES: LockTimes = { staleMs: 2_000, waitMs: 5_000 };

/** Decisions that only the user makes. */
const USERS: ReadonlySet<DecidedBy> = new Set<DecidedBy>(['user', 'host', 'command']);

export function trustFile(home: string): string {
  return join(home, 'trust.json');
}

function lockFile(home: string): string {
  return `${trustFile(home)}.lock`;
}

export function readTrustStore(home: string): TrustStore {
  const read = readOpenedFile(trustFile(home), MOST_BYTES);
  const content = 'text' in read ? parseIfJson(read.text) : undefined;
  if (!isObject(content) || content['form'] !== FORM) {
    const isMissing = 'problem' in read && read.isMissing;
    const nothing = { since: undefined, records: new Map(), announced: new Set<string>() };
    const noStamps = { batches: new Set<string>(), unmarked: new Map(), foreign: new Map() };
    return { ...nothing, ...noStamps, isDamaged: !isMissing, stamp: undefined };
  }
  const { since, records } = content;
  return {
    since: typeof since === 'string' ? since : undefined,
    records: new Map(isObject(records) ? Object.entries(records).filter(isRecordEntry) : []),
    announced: stringsIn(content['announced']),
    batches: stringsIn(content['batches']),
    unmarked: stampsIn(content['unmarked']),
    foreign: stampsIn(content['foreign']),
    isDamaged: false,
    stamp: 'stamp' in read ? read.stamp : undefined,
  };
}

export interface TrustChange {
  readonly add?: ReadonlyMap<string, TrustRecord>;
  /** Hashes, or which records they are of: it's called under the lock. */
  readonly remove?: readonly string[] | ((hash: string, record: TrustRecord) => boolean);
  readonly announced?: readonly string[];
  readonly batches?: readonly string[];
  readonly unmarked?: ReadonlyMap<string, string>;
  readonly foreign?: ReadonlyMap<string, string>;
}

/** Waits for other programs that change it. */
export async function changeTrustStore(home: string, change: TrustChange): Promise<void> {
  const file = trustFile(home);
  try {
    makeFolder(home);
    await withLockFile(lockFile(home), TIMES, async () => writeChange(home, change));
  } catch (cause) {
    if (!(cause instanceof LockedError) && !isSystemError(cause)) throw cause;
    const isLocked = cause instanceof LockedError;
    const reason = isLocked ? 'Another program is changing it.' : cause.message;
    throw new SwitchboardError('CONFIG_NOT_CHANGED', `Could not write ${file}. ${reason}`, {
      hint: isLocked
        ? 'Try again.'
        : 'Your decision was not recorded. Make the folder writable, and try again.',
      cause,
    });
  }
}

/** Notes that approvals exist from now on, so that what is used later doesn't count as used before. */
export function beginTrustStore(home: string): void {
  if (existsSync(trustFile(home))) return;
  try {
    makeFolder(home);
    ifUnlocked(lockFile(home), TIMES.staleMs, () => writeChange(home, {}));
  } catch (error) {
    if (!isSystemError(error)) throw error; // a read-only home keeps nothing
  }
}

/**
 * For what was only noticed. If another program is writing, or the user has decided something since `seen` was read, it
 * may be out of date, and is noticed again next time.
 */
export function writeNoticed(home: string, change: TrustChange, seen: TrustStore): void {
  makeFolder(home);
  ifUnlocked(lockFile(home), TIMES.staleMs, () => {
    if (usersDecisions(readTrustStore(home)) === usersDecisions(seen)) writeChange(home, change);
  });
}

function usersDecisions({ records }: TrustStore): string {
  const decided = [...records].filter(([, { by }]) => USERS.has(by));
  const texts = decided.map(([hash, { decision, at }]) => [hash, decision, at].join(' '));
  return texts.sort().join('\n');
}

/** Under the lock. */
function writeChange(home: string, change: TrustChange): void {
  const {
    add = new Map<string, TrustRecord>(),
    remove = [],
    announced = [],
    batches = [],
    unmarked = new Map<string, string>(),
    foreign = new Map<string, string>(),
  } = change;
  const before = readTrustStore(home);
  if (before.isDamaged) throw damaged(home);
  const records = new Map([...before.records, ...add]);
  const isRemoved =
    typeof remove === 'function' ? remove : (hash: string): boolean => remove.includes(hash);
  for (const [hash, record] of before.records) if (isRemoved(hash, record)) records.delete(hash);
  const isTakenBack = [...add.values()].some(({ decision }) => decision !== 'approved');
  const kept = isTakenBack ? [] : [...before.batches, ...batches];
  const content = {
    form: FORM,
    since: before.since ?? new Date().toISOString(),
    records: fitting(records, home),
    announced: [...new Set([...before.announced, ...announced])].slice(-MOST_ANNOUNCED),
    batches: [...new Set(kept)].slice(-MOST_BATCHES),
    unmarked: newest([...before.unmarked, ...unmarked]),
    foreign: newest([...before.foreign, ...foreign]),
  };
  writeAtomically(trustFile(home), `${JSON.stringify(content, null, 1)}\n`, { mode: 0o600 });
}

/** Without their lines if there are too many to be read again. Throws if that isn't enough. */
function fitting(records: ReadonlyMap<string, TrustRecord>, home: string): object {
  const all = Object.fromEntries(records);
  if (isFitting(all)) return all;
  const short = [...records].map(([hash, record]) => [hash, { ...record, lines: undefined }]);
  const bare = Object.fromEntries(short) as object;
  if (isFitting(bare)) return bare;
  const problem = `${trustFile(home)} would get too large. Your decision was not recorded.`;
  throw new SwitchboardError('CONFIG_NOT_CHANGED', problem, {
    hint: 'Decide about fewer parts, or remove the file and approve again with: switchboard trust',
  });
}

/** The rest of the file needs less than half of the space. */
function isFitting(records: object): boolean {
  return Buffer.byteLength(JSON.stringify(records, null, 1)) < MOST_BYTES / 2;
}

export function damaged(home: string): SwitchboardError {
  return new SwitchboardError('CONFIG_INVALID', `${trustFile(home)} can't be read.`, {
    hint: 'It holds your approvals. Restore it, or remove it and approve again with: switchboard trust',
  });
}

function isRecordEntry(entry: [string, unknown]): entry is [string, TrustRecord] {
  const [, record] = entry;
  if (!isObject(record)) return false;
  const { decision, kind, name, file, by, at } = record;
  const isDecision = DECISIONS.has(decision);
  return isDecision && [kind, name, file, by, at].every((one) => typeof one === 'string');
}

function newest(stamps: readonly (readonly [string, string])[]): object {
  return Object.fromEntries(stamps.slice(-MOST_STAMPS));
}

export function stringsIn(value: unknown): Set<string> {
  const items: unknown[] = Array.isArray(value) ? value : [];
  return new Set(items.filter((one) => typeof one === 'string'));
}

export function stampsIn(value: unknown): Map<string, string> {
  const entries: [string, unknown][] = isObject(value) ? Object.entries(value) : [];
  return new Map(entries.flatMap(([file, one]) => (typeof one === 'string' ? [[file, one]] : [])));
}
