// Explains a slow start: npx, uvx and similar programs download the server first.
import type { ChildConfig } from '../../config/config.ts';
import { runnerOf } from '../../config/server/runners.ts';

/** Undefined if nothing is downloaded for the server. */
export function downloadNote({ command }: ChildConfig): string | undefined {
  const runner = command && runnerOf(command);
  return runner === undefined ? undefined : `${runner} is probably downloading it`;
}
