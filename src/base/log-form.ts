// The forms in which a line of the log can be written.
import type { Level } from './log-level.ts';
import { cleanText, printable } from './text.ts';

/** `compact` is for people and short, `pretty` has the time and the level, `json` is for programs. */
export type LogForm = 'compact' | 'pretty' | 'json';

export interface LogLine {
  readonly at: Date;
  readonly level: Level;
  /** The server that printed it; undefined for what we say ourselves. */
  readonly server: string | undefined;
  readonly message: string;
}

const FORMATS: Record<LogForm, (line: LogLine) => string> = {
  compact: ({ level, server, message }) => {
    const text = message.replaceAll('\n', '\n  '); // only the first line begins at the margin
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

export function formatLine(form: LogForm, line: LogLine): string {
  return cleanText(FORMATS[form](line));
}

/** In a file every line has its time. */
export function formatForFile(form: LogForm, line: LogLine): string {
  const text = formatLine(form, line);
  return form === 'compact' ? `${line.at.toISOString()} ${text}` : text;
}
