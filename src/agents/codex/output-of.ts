// What a program prints, for one that prints and ends.
import { Cancellation } from '../../base/cancellation.ts';
import { guard } from '../../base/guard.ts';
import { isGroupAlive, signalGroup, spawnGroup } from '../../base/process.ts';
import { isGroupDead } from '../../base/process-table.ts';
import { formatDuration } from '../../base/text.ts';
import { sleep } from '../../base/time.ts';

export interface OutputOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cancellation: Cancellation | undefined;
  /** Told of the process, so that it is found should we be killed. */
  readonly onProcess: (pid: number) => void;
  /** Milliseconds until it must have ended. */
  readonly limitMs?: number | undefined;
}

/** A list of models has less than a megabyte. */
const MOST_BYTES = 16 << 20;
const LIMIT_MS = 10_000;
/** What it has printed is there by then; what it has left running may keep its output open for ever. */
const DRAIN_MS = 500;
const GONE_MS = 500;

/**
 * Rejects where it cannot be started, ends badly, prints too much or does not end in time, and with the reason
 * when it is called off. Nothing of its group is left then.
 */
export async function outputOf(
  cmd: string,
  args: readonly string[],
  { cwd, env, cancellation = new Cancellation(), onProcess, limitMs = LIMIT_MS }: OutputOptions,
): Promise<string> {
  cancellation.throwIfCancelled();
  const child = await spawnGroup({ cmd, args, cwd, env });
  const { pid, stdin, stdout, stderr } = child;
  if (pid !== undefined) onProcess(pid);
  const what = args.join(' ');
  const pieces: Buffer[] = [];
  let bytes = 0;
  const timers: NodeJS.Timeout[] = [];
  for (const pipe of [stdin, stdout, stderr]) pipe?.on('error', () => {}); // its exit says more
  stdin?.end();
  stderr?.resume();
  try {
    const ended = new Promise<string>((resolve, reject) => {
      const giveUp = (why: string): void => reject(new Error(`${what} ${why}`));
      const settle = (status: number | null, signal: string | null): void => {
        if (status === 0) resolve(Buffer.concat(pieces).toString());
        else if (signal === null) giveUp(`ended with status ${String(status)}`);
        else giveUp(`was ended by ${signal}`);
      };
      const late = (): void => giveUp(`did not end within ${formatDuration(limitMs)}`);
      const keep = (piece: Buffer): void => {
        bytes += piece.length;
        if (bytes > MOST_BYTES) giveUp('printed too much');
        else pieces.push(piece);
      };
      const drain = (status: number | null, signal: string | null): void => {
        const done = guard(reject, () => settle(status, signal));
        timers.push(setTimeout(done, DRAIN_MS));
      };
      timers.push(setTimeout(guard(reject, late), limitMs));
      stdout?.on('data', guard(reject, keep));
      child.once('exit', guard(reject, drain));
      child.once('close', guard(reject, settle));
    });
    return await cancellation.orElse(ended);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    for (const pipe of [stdin, stdout, stderr]) pipe?.destroy();
    if (pid !== undefined) await endGroup(pid);
  }
}

async function endGroup(leader: number): Promise<void> {
  signalGroup(leader, 'SIGKILL');
  const end = performance.now() + GONE_MS;
  const isRunning = (): boolean => isGroupAlive(leader) && !isGroupDead(leader);
  while (isRunning() && performance.now() < end) await sleep(5);
}
