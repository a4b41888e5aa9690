// What a Switchboard that was killed left behind. Children normally go when their stdin closes, but
// some do not. Each run therefore notes the process groups it starts in a file, and marks them by
// an environment variable; the next run ends groups whose Switchboard is gone. Group numbers are
// used again by the system, so only a process that carries the mark is ours to end. Programs that a
// child has put into groups of their own, such as a browser, are not followed; but what an agent has
// started is, wherever it has gone. Empty folders that an agent leaves when it is ended in the middle
// are noted, too, and removed.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeEmptyFolder } from './empty-folder.ts';
import { makeFolder } from './make-folder.ts';
import { isGroupAlive, signalGroup } from './process.ts';
import {
  groupsMarked,
  isAlive,
  listFolder,
  processPlace,
  readTextOrEmpty,
  startTime,
} from './process-table.ts';
import { waitUntil } from './time.ts';
import { unfinishedName } from './whole-file.ts';

const MARK = 'SWITCHBOARD_RUN';
/** What every process of an agent's run carries besides, with the name of that run. */
export const AGENT_MARK = 'SWITCHBOARD_AGENT_RUN';
/** The number of the process, and something that no other run has. */
const NOTE = /^(\d+)-[0-9a-z]+-[0-9a-z]+$/;

/** What a run notes of itself and its children. */
interface Note {
  /** When the run's process began: a process of the same number that began later is another. */
  readonly start: string;
  /** Where its process numbers mean something: a home may be shared with a container. */
  readonly place: string;
  readonly groups: readonly number[];
  /** Folders to be removed where they are there and empty; absent in notes of older versions. */
  readonly folders?: readonly string[];
}

/** The note of one run. The file exists from the first child on and goes with the run. */
export class RunNote {
  readonly #folder: string;
  readonly #id = `${process.pid}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  #groups: readonly number[] = [];
  #folders: readonly string[] = [];
  #start: Promise<string> | undefined;
  #exists = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What marks the environment of a child. */
  get environment(): Record<string, string> {
    return { [MARK]: this.#id };
  }

  async add(leader: number): Promise<void> {
    // Those that are gone are forgotten: children come and go for as long as the run lasts.
    this.#groups = [...this.#groups.filter(isGroupAlive), leader];
    await this.#write();
  }

  /** These folders, and no others, are to be removed where they are left empty. */
  async noteFolders(folders: readonly string[]): Promise<void> {
    this.#folders = folders;
    await this.#write();
  }

  remove(): void {
    if (this.#exists) rmSync(this.#file, { force: true });
  }

  /** The note is written whole each time, so that it is whole even if somebody has removed it. */
  async #write(): Promise<void> {
    this.#start ??= startTime(process.pid);
    const start = await this.#start;
    const groups = this.#groups;
    const note: Note = { start, place: processPlace(), groups, folders: this.#folders };
    makeFolder(this.#folder);
    const unfinished = unfinishedName(this.#file);
    writeFileSync(unfinished, JSON.stringify(note), { mode: 0o600, flag: 'wx' });
    renameSync(unfinished, this.#file);
    this.#exists = true;
  }

  get #file(): string {
    return join(this.#folder, this.#id);
  }
}

/** Ends the groups of runs that are gone, all at once; answers how many groups that were. */
export async function endOrphans(folder: string, graceMs: number): Promise<number> {
  const found = await readNotes(folder);
  const gone = found.filter(({ isGone }) => isGone);
  const left = await Promise.all(gone.map(groupsLeftBy));
  const orphans = [...new Set(left.flat())];
  for (const group of orphans) signalGroup(group, 'SIGTERM');
  await waitUntil(() => !orphans.some(isGroupAlive), graceMs);
  for (const group of orphans.filter(isGroupAlive)) signalGroup(group, 'SIGKILL');
  const inUse = new Set(found.flatMap(({ note, isGone }) => (isGone ? [] : foldersIn(note))));
  for (const { id, note } of gone) {
    for (const unused of foldersIn(note)) if (!inUse.has(unused)) removeEmptyFolder(unused);
    rmSync(join(folder, id), { force: true, recursive: true });
  }
  return orphans.length;
}

async function groupsLeftBy({ id, note }: FoundNote): Promise<number[]> {
  const mark = `${MARK}=${id}`;
  const marked = await groupsMarked(mark);
  const noted = note.groups.filter((group) => marked.has(group));
  return [...noted, ...(await groupsMarked(mark, AGENT_MARK))];
}

interface FoundNote {
  readonly id: string;
  readonly note: Note;
  /** Whether the run that wrote it is over. */
  readonly isGone: boolean;
}

/** What is no note of ours, or of another place, is left alone. */
async function readNotes(folder: string): Promise<FoundNote[]> {
  const found: FoundNote[] = [];
  for (const id of listFolder(folder)) {
    const owner = Number(NOTE.exec(id)?.[1]);
    const note = parseNote(readTextOrEmpty(join(folder, id)));
    if (Number.isNaN(owner) || note?.place !== processPlace()) continue;
    const isGone = !isAlive(owner) || (await startTime(owner)) !== note.start;
    found.push({ id, note, isGone });
  }
  return found;
}

function foldersIn({ folders }: Note): string[] {
  return Array.isArray(folders) ? folders.filter((one) => typeof one === 'string') : [];
}

function parseNote(text: string): Note | undefined {
  try {
    const note = JSON.parse(text) as Note;
    return Array.isArray(note?.groups) ? note : undefined;
  } catch {
    return undefined; // a folder, an empty file, somebody else's
  }
}
