// Telling a host that waits for a server what it waits for: a first start through npx takes as long as the
// download, and a host that hears nothing gives up.
import { onOneLine } from '../base/text.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import { runnerOf } from '../config/server/runners.ts';
import type { Pool } from '../pool/pool.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { SurfaceOptions } from './surface.ts';

const FIRST_AFTER_MS = 500;
const EVERY_MS = 1_000;

/** The running child, or its start, of which the host hears. */
export function useChild(
  pool: Pool,
  config: ChildConfig,
  { cancellation, caller, onProgress }: SurfaceOptions,
): Child | Promise<Child> {
  const used = pool.use(config.name, cancellation, caller?.era);
  return used instanceof Promise ? tellOfStart(used, config, onProgress) : used;
}

/** Reports progress until the child has started, where the host wants to hear of it. */
export async function tellOfStart<T>(
  started: Promise<T>,
  config: ChildConfig,
  onProgress: SurfaceOptions['onProgress'],
): Promise<T> {
  if (!onProgress) return started;
  const began = performance.now();
  let count = 0;
  const tell = (): void => {
    // Progress must grow from one message to the next, and a server's own begins at 0: ours stays below.
    const progress = -1 / ++count;
    const seconds = Math.floor((performance.now() - began) / 1_000);
    onProgress(Verbatim.of({ progress, message: describe(config, seconds) }));
    timer = setTimeout(tell, EVERY_MS).unref();
  };
  let timer = setTimeout(tell, FIRST_AFTER_MS).unref();
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
