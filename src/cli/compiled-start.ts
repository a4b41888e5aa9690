// Saves V8's compiled code, so the next start doesn't have to compile it.

import { writeAtomically } from '../base/atomic-file.ts';
import type { Log } from '../base/log.ts';
import type { UnsavedStart } from '../load-start.ts';

/** Injected by the build. Undefined when running from source or if already saved. */
declare const __UNSAVED_START__: UnsavedStart | undefined;

/** `other` is another script that this process has loaded. */
export function keepCompiledStart(log: Log, other?: UnsavedStart): void {
  keep(typeof __UNSAVED_START__ === 'undefined' ? undefined : __UNSAVED_START__, log);
  keep(other, log);
}

function keep(unsaved: UnsavedStart | undefined, log: Log): void {
  if (!unsaved) return;
  try {
    writeAtomically(unsaved.file, unsaved.make(), { mode: 0o644 });
  } catch (error) {
    // Programs are often installed in read-only folders. It costs only some milliseconds.
    log.debug(`cannot save compiled code: ${(error as Error).message}`);
  }
}
