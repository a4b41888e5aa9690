// Why a server may take long to start: npx, uvx and the like download it first.
import type { ChildConfig } from '../config/config.ts';
import { packageRunnerOf } from '../config/runners.ts';

/** Undefined for a server that is not downloaded. */
export function downloadNote({ command }: ChildConfig): string | undefined {
  const runner = command && packageRunnerOf(command);
  return runner === undefined ? undefined : `${runner} is probably downloading it`;
}
