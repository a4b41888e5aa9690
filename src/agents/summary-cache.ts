// Caches agent summaries on disk, so that a session's start only checks whether files have changed. A
// cache that is missing, damaged or from another version is rebuilt.
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeAtomically } from '../base/atomic-file.ts';
import { makeFolder } from '../base/make-folder.ts';
import { isObject, parseIfJson } from '../base/object.ts';
import { readTextFile } from '../base/read-text.ts';
import { isSystemError } from '../base/system-error.ts';
import { VERSION } from '../base/version.ts';
import type { AgentSummary, Dialect } from './agent.ts';

/** The result of reading a file: an agent or not, and its problems. */
export interface Outcome {
  readonly summary: AgentSummary | undefined;
  /** Each as `3: …`, with the line. */
  readonly problems: readonly string[];
  /** Why it isn't an agent, if that's not a mistake. */
  readonly skipped?: string | undefined;
}

interface Entry extends Outcome {
  readonly file: string;
  readonly dialect: string;
  readonly stamp: string;
}

export interface SummaryCache {
  readonly get: (file: string, stat: Stats, dialect: Dialect) => Outcome | undefined;
  readonly remember: (file: string, stat: Stats, dialect: Dialect, outcome: Outcome) => void;
  /** Writes the cache if something changed. */
  readonly save: () => void;
}

/** The cache file's format version. */
const FORM = 2;
/** Of other projects; the most recently used ones stay. */
const MOST_OTHERS = 1_000;
const MOST_BYTES = 16 << 20;
/** A file written moments ago can change again without a new timestamp. */
const YOUNG_MS = 2_000;

export function openSummaryCache(home: string): SummaryCache {
  const path = join(home, 'cache', 'agents.json');
  const known = readEntries(path);
  const used = new Map<string, Entry>();
  let hasNews = false;
  return {
    get: (file, stat, dialect) => {
      const entry = known.get(file);
      if (entry?.dialect !== dialect || entry.stamp !== stampOf(stat)) return undefined;
      used.set(file, entry);
      return entry;
    },
    remember: (file, stat, dialect, outcome) => {
      if (Math.abs(Date.now() - stat.mtimeMs) < YOUNG_MS) return;
      used.set(file, { file, dialect, stamp: stampOf(stat), ...outcome });
      hasNews = true;
    },
    save: () => {
      if (!hasNews) return;
      const others = [...known.values()].filter(({ file }) => !used.has(file));
      const files = [...used.values(), ...others.slice(0, MOST_OTHERS)];
      try {
        makeFolder(dirname(path));
        writeAtomically(path, JSON.stringify({ form: FORM, version: VERSION, files }), {
          mode: 0o600,
        });
      } catch (error) {
        // Without a cache, the files are read each time.
        if (!isSystemError(error)) throw error;
      }
    },
  };
}

function stampOf({ mtimeMs, ctimeMs, size }: Stats): string {
  return `${mtimeMs}/${ctimeMs}/${size}`;
}

function readEntries(path: string): Map<string, Entry> {
  const read = readTextFile(path, MOST_BYTES);
  const content = 'text' in read ? parseIfJson(read.text) : undefined;
  if (!isObject(content) || content['form'] !== FORM || content['version'] !== VERSION) {
    return new Map();
  }
  const files: unknown[] = Array.isArray(content['files']) ? content['files'] : [];
  return new Map(files.filter(isEntry).map((entry) => [entry.file, entry]));
}

function isEntry(value: unknown): value is Entry {
  if (!isObject(value)) return false;
  const { file, dialect, stamp, summary, problems, skipped = '' } = value;
  const areStrings = [file, dialect, stamp, skipped].every((one) => typeof one === 'string');
  return areStrings && isStringArray(problems) && (summary === undefined || isSummary(summary));
}

function isSummary(value: unknown): value is AgentSummary {
  if (!isObject(value)) return false;
  const { name, description, tags } = value;
  return typeof name === 'string' && typeof description === 'string' && isStringArray(tags);
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
