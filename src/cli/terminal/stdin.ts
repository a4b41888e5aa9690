// Reads piped input for the operand `-`.
import { readFileSync } from 'node:fs';
import { SwitchboardError } from '../../base/errors.ts';

/** `what` completes "Cannot read …"; `hint` shows how to pipe it in. */
export function readStdin(what: string, hint: string): string {
  try {
    return readFileSync(0, 'utf8');
  } catch (cause) {
    const message = `Cannot read ${what} from stdin: ${String(cause)}.`;
    throw new SwitchboardError('USAGE', message, { hint, cause });
  }
}
