// The folder that a command was started in.
import { SwitchboardError } from '../base/errors.ts';

export function workingFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new SwitchboardError('USAGE', 'The folder that this was started in is gone.', {
      hint: 'Change to a folder that exists.',
      cause,
    });
  }
}
