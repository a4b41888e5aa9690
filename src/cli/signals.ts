// Being asked to end: by Ctrl-C, by a host, by the system.
import { killAllGroups } from '../base/process.ts';

/** Calls `end` at the first signal; a second one ends us and our children at once. */
export function onEndSignal(end: () => void, exitStatus: number): void {
  let isEnding = false;
  const onSignal = (): void => {
    if (isEnding) {
      killAllGroups();
      process.exit(exitStatus);
    }
    isEnding = true;
    end();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
}
