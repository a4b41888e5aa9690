// Keeps what V8 has compiled of the program, so that the next start need not.
import type { Log } from '../base/log.ts';
import { writeWhole } from '../base/whole-file.ts';
import type { UnsavedStart } from '../load-start.ts';

/** Put in by the build; there is none when it runs from source, or is kept already. */
declare const __UNSAVED_START__: UnsavedStart | undefined;

export function keepCompiledStart(log: Log): void {
  const unsaved = typeof __UNSAVED_START__ === 'undefined' ? undefined : __UNSAVED_START__;
  if (!unsaved) return;
  try {
    writeWhole(unsaved.file, unsaved.make(), { mode: 0o644 });
  } catch (error) {
    // Programs often lie where their users may not write. Nothing is lost but some milliseconds.
    log.debug(`what was compiled at the start cannot be kept: ${(error as Error).message}`);
  }
}
