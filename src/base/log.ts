// Lines on stderr, for people who look at their host's logs. stdout belongs to the protocol.
import type { Writable } from 'node:stream';
import { cleanText } from './text.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /** A line that a child printed on its stderr. */
  child(name: string, line: string): void;
}

const RANK: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** A host that does not read our stderr must not make us keep all of it: beyond this we drop. */
const MAX_UNREAD_BYTES = 1 << 20;

/** The least important level that is written: SWITCHBOARD_LOG, or SWITCHBOARD_DEBUG=1. */
export function logLevel(env: NodeJS.ProcessEnv): Level {
  const wanted = env['SWITCHBOARD_LOG']?.toLowerCase();
  if (wanted !== undefined && Object.hasOwn(RANK, wanted)) return wanted as Level;
  return env['SWITCHBOARD_DEBUG'] && env['SWITCHBOARD_DEBUG'] !== '0' ? 'debug' : 'info';
}

export function createLog(level: Level, stream: Writable): Log {
  let dropped = 0;
  stream.on('error', () => {}); // nobody reads our log any more: that stops nothing
  const write = (line: string): void => {
    if (stream.writableLength > MAX_UNREAD_BYTES) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      stream.write(`switchboard: ${dropped} lines left out, because nobody read them in time.\n`);
      dropped = 0;
    }
    stream.write(`${cleanText(line)}\n`);
  };
  const at = (lineLevel: Level) => (message: string) => {
    if (RANK[lineLevel] >= RANK[level]) {
      write(`switchboard: ${lineLevel === 'info' ? '' : `${lineLevel}: `}${message}`);
    }
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (name, line) => write(`[${name}] ${line}`),
  };
}
