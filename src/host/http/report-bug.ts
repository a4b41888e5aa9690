// Logs a bug in serving an HTTP host. At most that host's request fails.
import { describeBug } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

export function reportBug(log: Log): (error: unknown) => void {
  return (error) => log.error(`HTTP: ${describeBug(error)}`);
}
