// Log levels. Besides Switchboard's own variables, RUST_LOG-style filters work: a level, or directives such
// as `info,switchboard=debug,hyper=warn`. Directives for other programs are ignored.

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** The lowest level that is written; `off` writes nothing. */
export type LeastLevel = Level | 'off';

const RANK: Record<LeastLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, off: 4 };

export function isWritten(level: Level, least: LeastLevel): boolean {
  return RANK[level] >= RANK[least];
}

/** From SWITCHBOARD_LOG or SWITCHBOARD_DEBUG=1. */
export function ownLevel(env: NodeJS.ProcessEnv): LeastLevel | undefined {
  const wanted = toLevel(env['SWITCHBOARD_LOG'] ?? '');
  if (wanted !== undefined) return wanted;
  return env['SWITCHBOARD_DEBUG'] && env['SWITCHBOARD_DEBUG'] !== '0' ? 'debug' : undefined;
}

/** The last directive wins, and one for Switchboard takes precedence over a general one. */
export function parseFilter(filter: string): LeastLevel {
  let all: LeastLevel | undefined;
  let ours: LeastLevel | undefined;
  for (const directive of filter.split(',')) {
    const [target = '', level] = directive.split('=', 2);
    const bare = level === undefined ? toLevel(target) : undefined;
    if (bare !== undefined) all = bare;
    // A name without a level means everything.
    else if (isUs(target)) ours = toLevel(level ?? 'trace') ?? ours;
  }
  return ours ?? all ?? 'info';
}

function toLevel(word: string): LeastLevel | undefined {
  const level = word.trim().toLowerCase();
  if (level === 'trace') return 'debug'; // the lowest level we have
  return Object.hasOwn(RANK, level) ? (level as LeastLevel) : undefined;
}

function isUs(target: string): boolean {
  return /^switchboard([_-]mcp)?(::\w+)*$/i.test(target.trim());
}
