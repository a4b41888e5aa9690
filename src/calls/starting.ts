// Reports progress while a server starts: the first start through npx takes as long as the download, and a host
// without progress gives up.
import { onOneLine } from '../base/text.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import { runnerOf } from '../config/server/runners.ts';
import type { Pool } from '../pool/pool.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { CallContext } from './call.ts';

const FIRST_AFTER_MS = 500;
const EVERY_MS = 1_000;

/** The running server, or its start with progress for the host. Not async: a running server costs no turn. */
export function useChild(
  pool: Pool,
  config: ChildConfig,
  { cancellation, caller, onProgress }: CallContext,
): Child | Promise<Child> {
  const used = pool.use(config.name, cancellation, caller?.era);
  return used instanceof Promise ? reportStart(used, config, onProgress) : used;
}

/** Reports progress until the child has started, if the host asked for progress. */
export async function reportStart<T>(
  started: Promise<T>,
  config: ChildConfig,
  onProgress: CallContext['onProgress'],
): Promise<T> {
  if (!onProgress) return started;
  const began = performance.now();
  let count = 0;
  const report = (): void => {
    // Progress must increase, and the server's own starts at 0, so ours stays below that.
    const progress = -1 / ++count;
    const seconds = Math.floor((performance.now() - began) / 1_000);
    onProgress(Verbatim.of({ progress, message: describe(config, seconds) }));
    timer = setTimeout(report, EVERY_MS).unref();
  };
  let timer = setTimeout(report, FIRST_AFTER_MS).unref();
  try {
    return await started;
  } finally {
    clearTimeout(timer);
  }
}

function describe({ name, command }: ChildConfig, seconds: number): string {
  const runner = command && runnerOf(command);
  const download = runner === undefined ? '' : `; ${runner} may be downloading it`;
  const time = seconds > 0 ? ` (${seconds} s)` : '';
  return `Starting server "${onOneLine(name)}"${download}${time}`;
}
