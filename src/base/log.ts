// Lines on stderr, for people who look at their host's logs; on request in a file as well. stdout
// belongs to the protocol.
import type { Writable } from 'node:stream';
import { createDailyFile } from './log-file.ts';
import { formatForFile, formatLine, type LogForm, type LogLine } from './log-form.ts';
import { isWritten, type LeastLevel, type Level } from './log-level.ts';

export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /** A line that a child printed on its stderr. */
  child(name: string, line: string): void;
}

export interface LogSettings {
  readonly level: LeastLevel;
  readonly form: LogForm;
  /** Where a file for each day is written; undefined for stderr alone. */
  readonly folder: string | undefined;
}

export interface AdjustableLog extends Log {
  /** From now on it is like this: what the configuration says is known only when that has been read. */
  adjust(settings: LogSettings): void;
}

/** A host that does not read our stderr must not make us keep all of it: beyond this we drop. */
const MAX_UNREAD_BYTES = 1 << 20;

export function createLog(first: LogSettings, stream: Writable): AdjustableLog {
  let settings = first;
  let toFile = fileFor(first);
  let dropped = 0;
  stream.on('error', () => {}); // nobody reads our log any more: that stops nothing
  const show = (line: LogLine): void => {
    if (stream.writableLength > MAX_UNREAD_BYTES) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      const message = `${dropped} lines left out, because nobody read them in time.`;
      dropped = 0;
      show(ownLine('info', message));
    }
    stream.write(`${formatLine(settings.form, line)}\n`);
  };
  const write = (line: LogLine): void => {
    show(line);
    toFile?.(formatForFile(settings.form, line));
  };
  const at = (level: Level) => (message: string) => {
    if (isWritten(level, settings.level)) write(ownLine(level, message));
  };

  function fileFor({ folder }: LogSettings): ((line: string) => void) | undefined {
    if (folder === undefined) return undefined;
    return createDailyFile(folder, (problem) => show(ownLine('warn', problem)));
  }

  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (server, message) => {
      if (settings.level !== 'off') write({ at: new Date(), level: 'info', server, message });
    },
    adjust: (next) => {
      if (next.folder !== settings.folder) toFile = fileFor(next);
      settings = next;
    },
  };
}

function ownLine(level: Level, message: string): LogLine {
  return { at: new Date(), level, server: undefined, message };
}
