// Log levels, least important first.
import { isObject } from '../base/object.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export function parseLogLevel(value: unknown): LogLevel | undefined {
  return LOG_LEVELS.find((level) => level === value);
}

/** Whether a message is at least as important as `wanted`. */
export function isWanted(params: Verbatim, wanted: LogLevel | undefined): boolean {
  if (wanted === undefined) return false;
  const level = parseLogLevel(isObject(params.value) ? params.value['level'] : undefined);
  return level !== undefined && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(wanted);
}

/** The level that gives everyone the messages they want; undefined if no one wants any. */
export function mostVerbose(levels: Iterable<LogLevel | undefined>): LogLevel | undefined {
  const indexes = [...levels].flatMap((level) => (level ? [LOG_LEVELS.indexOf(level)] : []));
  return indexes.length === 0 ? undefined : LOG_LEVELS[Math.min(...indexes)];
}
