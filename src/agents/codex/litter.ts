// The engine's sandbox hangs empty folders into the folder it works in, to keep what has these names
// from being written. When it is stopped in the middle they stay. Those that were not there before
// the run are removed, by the last run in that folder.
import { existsSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const NAMES = ['.agents', '.aws', '.codex', '.git'];

interface Place {
  runs: number;
  /** Whether any of the runs did not come to its end. */
  mayBeLittered: boolean;
  readonly missing: readonly string[];
}

export class Litter {
  readonly #places = new Map<string, Place>();

  /** A run begins in a folder. */
  enter(folder: string): void {
    const place = this.#places.get(folder) ?? {
      runs: 0,
      mayBeLittered: false,
      missing: NAMES.filter((name) => !existsSync(join(folder, name))),
    };
    place.runs++;
    this.#places.set(folder, place);
  }

  /** It is over, and nothing of it runs any more. */
  leave(folder: string, cameToItsEnd: boolean): void {
    const place = this.#places.get(folder);
    if (!place) return;
    place.runs--;
    place.mayBeLittered ||= !cameToItsEnd;
    if (place.runs > 0) return;
    this.#places.delete(folder);
    if (place.mayBeLittered) for (const name of place.missing) removeEmpty(join(folder, name));
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // not there, or something is in it: then it is somebody's
  }
}
