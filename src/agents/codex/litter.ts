// The engine's sandbox hangs empty folders into the folder it works in, to keep what has these names
// from being written. When it is stopped in the middle they stay. Those that were not there before
// the run are removed, by the last run in that folder; and noted while runs go on, so that the next
// Switchboard removes them should this one be killed.
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { removeEmptyFolder } from '../../base/empty-folder.ts';

const NAMES = ['.agents', '.aws', '.codex', '.git'];

interface Place {
  runs: number;
  /** Whether any of the runs did not come to its end. */
  mayBeLittered: boolean;
  readonly missing: readonly string[];
}

/** A run is over, and nothing of it runs any more. */
export type Leave = (cameToItsEnd: boolean) => void;

export class Litter {
  /** By folder, without links: two names for one folder are one place. */
  readonly #places = new Map<string, Place>();
  readonly #note: (folders: readonly string[]) => void;

  /** `note` is told of all folders that would stay, each time they are others. */
  constructor(note: (folders: readonly string[]) => void) {
    this.#note = note;
  }

  /** A run begins in a folder. */
  enter(folder: string): Leave {
    const real = realPath(folder);
    const place = this.#places.get(real) ?? this.#open(real);
    place.runs++;
    return (cameToItsEnd) => {
      place.runs--;
      place.mayBeLittered ||= !cameToItsEnd;
      if (place.runs === 0) this.#close(real, place);
    };
  }

  #open(folder: string): Place {
    const paths = NAMES.map((name) => join(folder, name));
    const missing = paths.filter((path) => !existsSync(path));
    const place = { runs: 0, mayBeLittered: false, missing };
    this.#places.set(folder, place);
    this.#tell();
    return place;
  }

  #close(folder: string, { mayBeLittered, missing }: Place): void {
    if (mayBeLittered) for (const path of missing) removeEmptyFolder(path);
    this.#places.delete(folder);
    this.#tell();
  }

  #tell(): void {
    this.#note([...this.#places.values()].flatMap(({ missing }) => missing));
  }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder; // gone by now
  }
}
