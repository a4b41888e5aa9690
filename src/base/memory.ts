// Releases memory after large messages. V8 collects garbage only when a process allocates more memory. Switchboard is
// idle most of the time, so it would keep the garbage for hours. After results of 10 MB (row 5 of the benchmark, two
// quick runs each on a busy machine), it kept 49 and 52 MB without this, and 28 and 32 MB with it.

/** Strings of at least this length are worth a garbage collection. */
const LARGE_CHARS = 1 << 20;
const QUIET_MS = 1_000;

let timer: NodeJS.Timeout | undefined;

/** Call this with the length of every message. A second after the last large one, it runs a garbage collection. */
export function noteHandled(length: number): void {
  if (length < LARGE_CHARS) return;
  clearTimeout(timer);
  timer = setTimeout(() => void collectGarbage().catch(() => {}), QUIET_MS).unref(); // if it fails, V8 collects later
}

async function collectGarbage(): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import('node:v8'),
    import('node:vm'),
  ]);
  // The only way to reach V8's collector without a command-line flag; hosts write our command line.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
