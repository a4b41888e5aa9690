// What is piped into a command, as the operand `-` asks for.
import { readFileSync } from 'node:fs';
import { SwitchboardError } from '../../base/errors.ts';

/** `what` is the beginning of a sentence; `hint` shows how it is piped in. */
export function readStdin(what: string, hint: string): string {
  try {
    return readFileSync(0, 'utf8');
  } catch (cause) {
    const message = `${what} cannot be read from stdin: ${String(cause)}.`;
    throw new SwitchboardError('USAGE', message, { hint, cause });
  }
}
