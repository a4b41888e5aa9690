// What a program prints, for one that prints and ends.
import { signalGroup, spawnGroup } from '../../base/process.ts';

/** A list of models has less than a megabyte. */
const MOST_BYTES = 16 << 20;
const LIMIT_MS = 10_000;

/** Rejects where it cannot be started, ends badly, prints too much or does not end in time. */
export async function outputOf(
  cmd: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  const child = await spawnGroup({ cmd, args, cwd, env });
  const { pid, stdin, stdout, stderr } = child;
  const giveUp = (): void => {
    if (pid !== undefined) signalGroup(pid, 'SIGKILL');
  };
  const timer = setTimeout(giveUp, LIMIT_MS);
  const pieces: Buffer[] = [];
  let bytes = 0;
  stdin?.on('error', () => {}); // it may end without reading
  stdin?.end();
  stderr?.resume();
  stdout?.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MOST_BYTES) giveUp();
    else pieces.push(piece);
  });
  const status = await new Promise<number | null>((resolve) => {
    child.once('close', (code) => resolve(code));
  });
  clearTimeout(timer);
  if (status !== 0) throw new Error(`${args.join(' ')} ended with status ${String(status)}`);
  return Buffer.concat(pieces).toString();
}
