// Termination signals: from Ctrl-C, a host or the system.
import { killAllGroups } from '../base/process.ts';

const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `end` on the first signal. A second one kills the servers and exits immediately. */
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
