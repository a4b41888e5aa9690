// The log of commands: they print results, so only problems are logged.
import type { Writable } from 'node:stream';
import { type AdjustableLog, createLog, type LogSettings } from '../../base/log.ts';
import { isWritten } from '../../base/log-level.ts';

/** Shows warnings and errors, and servers' stderr only when debugging. */
export function createQuietLog(first: LogSettings, stream: Writable): AdjustableLog {
  let { level } = first;
  const log = createLog(quieten(first), stream);
  return {
    ...log,
    child: (name, line) => {
      if (level === 'debug') log.child(name, line);
    },
    adjust: (settings) => {
      level = settings.level;
      log.adjust(quieten(settings));
    },
  };
}

function quieten(settings: LogSettings): LogSettings {
  const { level } = settings;
  if (level === 'debug' || !isWritten('warn', level)) return settings;
  return { ...settings, level: 'warn' };
}
