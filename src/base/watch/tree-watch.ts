// Watches files, whether they exist yet or not, and says which of them have changed once they are left alone for a
// moment. Events only say that it's time to look: what counts is the difference between two surveys, so it doesn't
// matter how an editor saves a file. If the system can't watch so many folders, it looks every few seconds instead.
import { existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import { basename } from 'node:path';
import { guard } from '../guard.ts';
import { codeOf } from '../system-error.ts';
import { type Survey, surveyTrees, type WatchedNames, type WatchedTree } from './survey.ts';
import type { Turns } from './turns.ts';

export interface TreeWatchOptions {
  /** What to watch. It's asked before every look. */
  readonly trees: () => readonly WatchedTree[];
  /** Called with the paths of changed files. The next look waits for it. */
  readonly onChange: (paths: readonly string[]) => Promise<void>;
  /** Gets a sentence if folders can't be watched. */
  readonly onProblem: (problem: string) => void;
  readonly onBug: (error: unknown) => void;
  /** Files that were changed after this are news, in milliseconds since 1970. */
  readonly since: number;
  /** Files that existed then. If one is gone, that's news, too. */
  readonly expected?: readonly string[];
  /** Takes turns with others in the same process. */
  readonly turns: Turns;
  /** Milliseconds without an event before it looks. */
  readonly quietMs?: number | undefined;
  /** Milliseconds between two looks without events. */
  readonly pollMs?: number;
  /** More folders are looked at from time to time. */
  readonly mostFolders?: number;
  /** Replaces Node's own. */
  readonly watchFolder?: typeof watchFolder;
}

const QUIET_MS = 300;
/** It also looks if the events never stop. */
const LONGEST_WAIT_MS = 3_000;
const POLL_MS = 10_000;
/** For a tree that grows while it's looked at. */
const MOST_TRIES = 3;
/** File systems note the time of a change a little too early. */
const CLOCK_MS = 20;

interface Watched {
  readonly watcher: FSWatcher;
  readonly inode: number | undefined;
}

export class TreeWatch implements Disposable {
  readonly #options: TreeWatchOptions;
  readonly #turns: Turns;
  readonly #watched = new Map<string, Watched>();
  #places: Survey['places'] = new Map();
  #stamps: Survey['stamps'] = new Map();
  #since: number;
  #timer: NodeJS.Timeout | undefined;
  #firstEvent: number | undefined;
  #poll: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: TreeWatchOptions) {
    this.#options = options;
    this.#turns = options.turns;
    this.#since = options.since;
    this.#look(options.expected);
  }

  /** False before the first look, and if there is nothing to watch. */
  get isWatching(): boolean {
    return this.#watched.size > 0;
  }

  /** Someone else is about to read the files: changes up to now aren't news. */
  note(): void {
    if (this.#isClosed) return;
    const since = Date.now();
    this.#compare();
    this.#since = since;
  }

  /** Looks soon, because of an event or because `trees` has changed. */
  readonly lookSoon = (): void => {
    if (this.#isClosed) return;
    const { quietMs = QUIET_MS } = this.#options;
    const now = performance.now();
    this.#firstEvent ??= now;
    const left = this.#firstEvent + LONGEST_WAIT_MS - now;
    clearTimeout(this.#timer);
    const look = guard(this.#options.onBug, () => this.#look());
    this.#timer = setTimeout(look, Math.max(0, Math.min(quietMs, left))).unref();
  };

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#poll);
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  #look(expected: readonly string[] = []): void {
    this.#firstEvent = undefined;
    this.#turns
      .take(async () => {
        if (this.#isClosed) return;
        const changed = [...this.#compare(), ...expected.filter((file) => !existsSync(file))];
        if (changed.length > 0) await this.#options.onChange(changed);
      })
      .catch(this.#options.onBug);
  }

  /** The files that have changed since the last time. Folders are watched before files are compared. */
  #compare(): string[] {
    const { mostFolders } = this.#options;
    const trees = this.#options.trees();
    let survey = surveyTrees(trees, mostFolders);
    // There was no event for what appeared in a folder before it was watched.
    for (let tries = 0; this.#watch(survey) && tries < MOST_TRIES; tries++) {
      survey = surveyTrees(trees, mostFolders);
    }
    const { stamps } = survey;
    const changed = new Set<string>();
    for (const [key, now] of stamps) {
      const before = this.#stamps.get(key);
      for (const [path, { text, changedMs }] of now) {
        const isNew = before
          ? before.get(path)?.text !== text
          : changedMs >= this.#since - CLOCK_MS;
        if (isNew) changed.add(path);
      }
      for (const path of before?.keys() ?? []) if (!now.has(path)) changed.add(path);
    }
    this.#stamps = stamps;
    return [...changed].sort();
  }

  /** Whether it watches folders that it didn't watch before. */
  #watch({ places, isPartial }: Survey): boolean {
    this.#places = places;
    for (const [folder, { watcher, inode }] of this.#watched) {
      if (places.has(folder) && inodeOf(folder) === inode) continue;
      watcher.close();
      this.#watched.delete(folder);
    }
    const problems: string[] = isPartial ? ['there are too many folders'] : [];
    let isMore = false;
    for (const folder of places.keys()) {
      if (this.#watched.has(folder)) continue;
      try {
        this.#watchOne(folder);
        isMore = true;
      } catch (error) {
        const code = codeOf(error);
        if (code === undefined) throw error;
        if (TOO_MANY.has(code)) problems.push(code);
      }
    }
    this.#pollIf(problems[0]);
    return isMore;
  }

  #watchOne(folder: string): void {
    const { watchFolder: watchIt = watchFolder, onBug } = this.#options;
    const inode = inodeOf(folder);
    const watcher = watchIt(
      folder,
      guard(onBug, (event: string, name: string | null) => this.#note(folder, event, name)),
    );
    const drop = (): void => {
      watcher.close();
      if (this.#watched.get(folder)?.watcher === watcher) this.#watched.delete(folder);
      this.lookSoon();
    };
    watcher.on('error', guard(onBug, drop));
    this.#watched.set(folder, { watcher, inode });
  }

  #note(folder: string, event: string, name: string | null): void {
    const names: WatchedNames | undefined = this.#places.get(folder);
    // A folder that is removed or renamed reports its own name.
    const isItself = event === 'rename' && name === basename(folder);
    if (name === null || isItself || names?.has(name)) this.lookSoon();
  }

  #pollIf(problem: string | undefined): void {
    if (problem === undefined) {
      clearInterval(this.#poll);
      this.#poll = undefined;
      return;
    }
    if (this.#poll) return;
    const { pollMs = POLL_MS, onBug, onProblem } = this.#options;
    this.#poll = setInterval(
      guard(onBug, () => this.#look()),
      pollMs,
    ).unref();
    onProblem(
      `can't watch all configuration files (${problem}), so it checks them every ${pollMs / 1_000} seconds.`,
    );
  }
}

const TOO_MANY: ReadonlySet<string> = new Set(['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM']);

type Listener = (event: string, name: string | null) => void;

/** Throws if the system can't watch it. It doesn't keep the process running. */
function watchFolder(folder: string, listener: Listener): FSWatcher {
  return watch(folder, { persistent: false }, listener);
}

/** Tells a folder from one that has replaced it. */
function inodeOf(folder: string): number | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.ino;
  } catch {
    return undefined;
  }
}
