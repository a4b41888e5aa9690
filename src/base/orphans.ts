// What a Switchboard that was killed left behind. Children normally go when their stdin closes, but
// some do not. Each run therefore notes the process groups it starts in a file, and marks them by
// an environment variable; the next run ends groups whose Switchboard is gone. Group numbers are
// used again by the system, so only a process that carries the mark is ours to end.
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGroupAlive, signalGroup } from './process.ts';
import { groupsMarked, isAlive, listFolder, readText, startTime } from './process-table.ts';

const MARK = 'SWITCHBOARD_RUN';
/** The number of the process, and something that no other run has. */
const NOTE = /^(\d+)-[0-9a-z]+-[0-9a-z]+$/;

/** The note of one run. The file exists from the first child on and goes with the run. */
export class RunNote {
  readonly #folder: string;
  readonly #id = `${process.pid}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  #written: Promise<void> | undefined;
  #exists = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What marks the environment of a child. */
  get environment(): Record<string, string> {
    return { [MARK]: this.#id };
  }

  async add(leader: number): Promise<void> {
    this.#written ??= this.#begin();
    await this.#written;
    appendFileSync(this.#file, `${leader}\n`);
  }

  remove(): void {
    if (this.#exists) rmSync(this.#file, { force: true });
  }

  /** The first line is in the file from the moment it has its name: others read it then. */
  async #begin(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const unfinished = `${this.#file}.new`;
    writeFileSync(unfinished, `${await startTime(process.pid)}\n`, { mode: 0o600 });
    renameSync(unfinished, this.#file);
    this.#exists = true;
  }

  get #file(): string {
    return join(this.#folder, this.#id);
  }
}

/** Ends the groups of runs that are gone; answers how many groups that were. */
export async function endOrphans(folder: string, graceMs: number): Promise<number> {
  let ended = 0;
  for (const id of listFolder(folder)) {
    const owner = Number(NOTE.exec(id)?.[1]);
    if (Number.isNaN(owner)) continue; // not a note of ours
    const [ownerStart, ...leaders] = readText(join(folder, id)).split('\n');
    if (isAlive(owner) && (await startTime(owner)) === ownerStart) continue;
    const marked = await groupsMarked(`${MARK}=${id}`);
    const orphans = leaders.map(Number).filter((leader) => marked.has(leader));
    for (const group of orphans) signalGroup(group, 'SIGTERM');
    if (orphans.some(isGroupAlive)) await new Promise((resolve) => setTimeout(resolve, graceMs));
    for (const group of orphans.filter(isGroupAlive)) signalGroup(group, 'SIGKILL');
    rmSync(join(folder, id), { force: true, recursive: true });
    ended += orphans.length;
  }
  return ended;
}
