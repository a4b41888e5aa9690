// Codex's sandbox mounts empty folders into the working folder to protect these names. If Codex is stopped, they
// stay. The last run in a folder removes those that weren't there before, and we note them so that the next
// Switchboard can do it if this one is killed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeEmptyFolder } from '../../base/empty-folder.ts';
import { realPathOf } from '../../base/paths.ts';

const NAMES = ['.agents', '.aws', '.codex', '.git'];

interface WorkFolder {
  runs: number;
  /** Whether any run didn't complete. */
  mayBeLittered: boolean;
  readonly missing: readonly string[];
}

/** Call this once every process of the run has exited. */
export type Leave = (isCompleted: boolean) => void;

export class Litter {
  /** By real path: a folder may have several names. */
  readonly #folders = new Map<string, WorkFolder>();
  readonly #note: (folders: readonly string[]) => void;

  /** `note` gets all folders that may stay, whenever they change. */
  constructor(note: (folders: readonly string[]) => void) {
    this.#note = note;
  }

  enter(folder: string): Leave {
    const real = realPathOf(folder);
    const entered = this.#folders.get(real) ?? this.#open(real);
    entered.runs++;
    return (isCompleted) => {
      entered.runs--;
      entered.mayBeLittered ||= !isCompleted;
      if (entered.runs === 0) this.#close(real, entered);
    };
  }

  #open(folder: string): WorkFolder {
    const paths = NAMES.map((name) => join(folder, name));
    const missing = paths.filter((path) => !existsSync(path));
    const opened = { runs: 0, mayBeLittered: false, missing };
    this.#folders.set(folder, opened);
    this.#tell();
    return opened;
  }

  #close(folder: string, { mayBeLittered, missing }: WorkFolder): void {
    if (mayBeLittered) for (const path of missing) removeEmptyFolder(path);
    this.#folders.delete(folder);
    this.#tell();
  }

  #tell(): void {
    this.#note([...this.#folders.values()].flatMap(({ missing }) => missing));
  }
}
