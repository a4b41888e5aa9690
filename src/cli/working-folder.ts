// The working directory, which may have been deleted.
import { SwitchboardError } from '../base/errors.ts';

export function workingFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new SwitchboardError('USAGE', 'The current directory no longer exists.', {
      hint: 'Change to another directory, then try again.',
      cause,
    });
  }
}
