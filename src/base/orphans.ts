// Cleans up after a Switchboard that was killed. Servers normally exit when their stdin closes, but some
// don't. So each run notes the process groups it starts in a file and marks them with an environment
// variable; the next run stops groups whose Switchboard is gone. The system reuses group numbers, so only
// marked processes are stopped. Programs that a server moved to their own groups, such as a browser, are
// not followed; those that an agent started are. Empty folders that a killed agent leaves are also noted
// and removed.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unfinishedName } from './atomic-file.ts';
import { removeEmptyFolder } from './empty-folder.ts';
import { makeFolder } from './make-folder.ts';
import { isGroupAlive } from './process.ts';
import {
  groupsMarked,
  isAlive,
  listFolder,
  processPlace,
  readTextOrEmpty,
  startTime,
} from './process-table.ts';
import { stopGroups } from './stop-groups.ts';

const MARK = 'SWITCHBOARD_RUN';
/** The second mark on processes of an agent's run: the run's name. */
export const AGENT_MARK = 'SWITCHBOARD_AGENT_RUN';
/** The pid, and a value unique to the run. */
const NOTE = /^(\d+)-[0-9a-z]+-[0-9a-z]+$/;

interface Note {
  /** When the run's process started: a later process with the same pid is another one. */
  readonly start: string;
  /** The machine and container its pids belong to: a container may share the home folder. */
  readonly place: string;
  readonly groups: readonly number[];
  /** Folders to remove if they are empty; older versions don't write it. */
  readonly folders?: readonly string[];
}

/** The note of one run. The file exists from the first process until the run ends. */
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

  /** The mark, for the environment of each process. */
  get environment(): Record<string, string> {
    return { [MARK]: this.#id };
  }

  async add(leader: number): Promise<void> {
    // Forgets groups that are gone, or the list would grow as long as the run lasts.
    this.#groups = [...this.#groups.filter(isGroupAlive), leader];
    await this.#write();
  }

  /** Replaces the folders to remove if they are left empty. */
  async noteFolders(folders: readonly string[]): Promise<void> {
    this.#folders = folders;
    await this.#write();
  }

  remove(): void {
    if (this.#exists) rmSync(this.#file, { force: true });
  }

  /** Writes the whole note each time, in case the file was removed. */
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

/** Stops the groups of runs that are gone and returns how many there were. */
export async function stopOrphans(folder: string, graceMs: number): Promise<number> {
  const found = await readNotes(folder);
  const gone = found.filter(({ isGone }) => isGone);
  const left = await Promise.all(gone.map(groupsLeftBy));
  const orphans = [...new Set(left.flat())];
  await stopGroups(orphans, graceMs);
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
  /** Whether the run that wrote it has ended. */
  readonly isGone: boolean;
}

/** Ignores other files, and notes from other machines and containers. */
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
    return undefined; // a folder, an empty file, or not ours
  }
}
