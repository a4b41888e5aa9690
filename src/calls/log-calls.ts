// A log line per call, at level debug.
import type { Log } from '../base/log.ts';
import { isWritten } from '../base/log-level.ts';
import { excerpt } from '../base/text.ts';
import type { Config } from '../config/config.ts';
import type { CallListener, CallRecord } from './record.ts';

/** Undefined unless the log shows debug messages. */
export function logCalls({ logging }: Pick<Config, 'logging'>, log: Log): CallListener | undefined {
  return isWritten('debug', logging.level) ? (record) => log.debug(describe(record)) : undefined;
}

function describe(record: CallRecord): string {
  const { server, method, target, startedAt, endedAt, bytesIn, bytesOut, outcome } = record;
  // Only tools are named: a resource's URI can contain a secret.
  const what = method === 'tools/call' ? excerpt(target, 100) : method;
  const ms = Math.round(endedAt - startedAt);
  return `${server}: ${what}: ${outcome} in ${ms} ms (${bytesIn} bytes in, ${bytesOut} out).`;
}
