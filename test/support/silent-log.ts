// A log that drops everything.
import type { Log } from '../../src/base/log.ts';

const silent = (): void => {};

export const SILENT_LOG: Log = {
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  child: silent,
};
