// The log: lines on stderr, where hosts collect them, and optionally in a file. stdout belongs to the
// protocol.
import type { Writable } from 'node:stream';
import { createDailyFile } from './log-file.ts';
import { isWritten, type LeastLevel, type Level } from './log-level.ts';
import { cleanText, printable } from './text.ts';
import { maskTokens } from './tokens.ts';

/** `compact` is short, `pretty` adds time and level, `json` is for programs. */
type LogForm = 'compact' | 'pretty' | 'json';

export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /** A line that a server printed on stderr. */
  child(name: string, line: string): void;
}

export interface LogSettings {
  readonly level: LeastLevel;
  readonly form: LogForm;
  /** Gets one log file per day; undefined for stderr only. */
  readonly folder: string | undefined;
}

export interface AdjustableLog extends Log {
  /** Changes the settings, once the configuration has been read. */
  adjust(settings: LogSettings): void;
}

/** If the host doesn't read stderr, lines beyond this are dropped. */
const MAX_UNREAD_BYTES = 1 << 20;

export function createLog(first: LogSettings, stream: Writable): AdjustableLog {
  let settings = first;
  let toFile = fileFor(first);
  let dropped = 0;
  stream.on('error', () => {}); // a host that closes stderr must not stop us
  const show = (line: LogLine): void => {
    if (stream.writableLength > MAX_UNREAD_BYTES) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      const message = `${dropped} log lines dropped because stderr was not read in time.`;
      dropped = 0;
      show(ownLine('info', message));
    }
    stream.write(`${formatLine(settings.form, line)}\n`);
  };
  const write = (given: LogLine): void => {
    const line = { ...given, message: maskTokens(given.message) };
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

interface LogLine {
  readonly at: Date;
  readonly level: Level;
  /** The server that printed it; undefined for Switchboard's own lines. */
  readonly server: string | undefined;
  readonly message: string;
}

const FORMATS: Record<LogForm, (line: LogLine) => string> = {
  compact: ({ level, server, message }) => {
    const text = message.replaceAll('\n', '\n  '); // indents all lines but the first
    if (server !== undefined) return `[${printable(server)}] ${text}`;
    return `switchboard: ${level === 'info' ? '' : `${level}: `}${text}`;
  },
  pretty: ({ at, level, server, message }) => {
    const source = server === undefined ? 'switchboard' : `[${printable(server)}]`;
    const start = `${at.toISOString()}  ${level.toUpperCase().padEnd(5)}  ${source.padEnd(11)}  `;
    return start + message.replaceAll('\n', `\n${' '.repeat(start.length)}`);
  },
  json: ({ at, level, server, message }) =>
    JSON.stringify({ timestamp: at.toISOString(), level, server, message: cleanText(message) }),
};

function formatLine(form: LogForm, line: LogLine): string {
  return cleanText(FORMATS[form](line));
}

/** In a file, every line has a time. */
function formatForFile(form: LogForm, line: LogLine): string {
  const text = formatLine(form, line);
  return form === 'compact' ? `${line.at.toISOString()} ${text}` : text;
}
