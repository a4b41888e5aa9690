// How much is logged. Besides our own variables we understand the filters that many programs take in
// RUST_LOG: a level, or directives such as `info,switchboard=debug,hyper=warn`, of which only what
// concerns us counts.

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** The least important level that is written; with `off` nothing is. */
export type LeastLevel = Level | 'off';

const RANK: Record<LeastLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, off: 4 };

export function isWritten(level: Level, least: LeastLevel): boolean {
  return RANK[level] >= RANK[least];
}

/** What our own variables say: SWITCHBOARD_LOG, or SWITCHBOARD_DEBUG=1. */
export function ownLevel(env: NodeJS.ProcessEnv): LeastLevel | undefined {
  const wanted = toLevel(env['SWITCHBOARD_LOG'] ?? '');
  if (wanted !== undefined) return wanted;
  return env['SWITCHBOARD_DEBUG'] && env['SWITCHBOARD_DEBUG'] !== '0' ? 'debug' : undefined;
}

/** What a filter means for us. The last word counts; one about us is stronger than one about all. */
export function parseFilter(filter: string): LeastLevel {
  let all: LeastLevel | undefined;
  let ours: LeastLevel | undefined;
  for (const directive of filter.split(',')) {
    const [target = '', level] = directive.split('=', 2);
    const bare = level === undefined ? toLevel(target) : undefined;
    if (bare !== undefined) all = bare;
    // A name without a level means everything that it logs.
    else if (isUs(target)) ours = toLevel(level ?? 'trace') ?? ours;
  }
  return ours ?? all ?? 'info';
}

function toLevel(word: string): LeastLevel | undefined {
  const level = word.trim().toLowerCase();
  if (level === 'trace') return 'debug'; // the most that we have
  return Object.hasOwn(RANK, level) ? (level as LeastLevel) : undefined;
}

function isUs(target: string): boolean {
  return /^switchboard([_-]mcp)?(::\w+)*$/i.test(target.trim());
}
