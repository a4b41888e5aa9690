// Being asked to end: by Ctrl-C, by a host, by the system.
import { killAllGroups } from '../base/process.ts';

const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `end` at the first signal; a second one ends us and our children at once. */
export function onEndSignal(
  end: () => void,
  exitStatus: number,
  signals: readonly NodeJS.Signals[] = END_SIGNALS,
): void {
  let isEnding = false;
  const onSignal = (): void => {
    if (isEnding) {
      killAllGroups();
      process.exit(exitStatus);
    }
    isEnding = true;
    end();
  };
  for (const signal of signals) process.on(signal, onSignal);
}
