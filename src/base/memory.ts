// Giving memory back. A large message leaves large garbage, and V8 collects only when more is
// allocated: a program that then waits, as we do most of the time, would sit on it for hours.

/** Texts from this length on are worth a collection once things are quiet. */
const LARGE_CHARS = 1 << 20;
const QUIET_MS = 1_000;

let timer: NodeJS.Timeout | undefined;

/** To be told of every text that was handled; answers large ones with a collection, a bit later. */
export function noteHandled(text: string): void {
  if (text.length < LARGE_CHARS) return;
  clearTimeout(timer);
  timer = setTimeout(() => void collectGarbage().catch(() => {}), QUIET_MS).unref(); // V8 does it later
}

async function collectGarbage(): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import('node:v8'),
    import('node:vm'),
  ]);
  // The one way to V8's collector without a flag on our command line, which hosts write.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
