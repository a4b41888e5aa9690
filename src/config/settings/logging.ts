// What the log looks like and where it goes besides stderr: variables first, then `[logging]` of
// config.toml. docs/agents.md has its table from here.
import { resolve } from 'node:path';
import type { LogSettings } from '../../base/log.ts';
import { type LeastLevel, ownLevel, parseFilter } from '../../base/log-level.ts';
import { expandHome } from '../files/globs.ts';
import type { Folders } from '../files/places.ts';
import { NO_TABLE, type SaidPlaces, type Setting, said } from './said.ts';
import { BOOLEAN, type Kind, TEXT } from './values.ts';

/** Whatever stands there is a filter; one that says nothing about us means `info`. */
const FILTER: Kind<LeastLevel> = {
  allowed: 'a text such as debug, info, warn, error or off',
  json: 'text',
  fromText: parseFilter,
  fromValue: (value) => (typeof value === 'string' ? parseFilter(value) : undefined),
};

export const LOG_KEYS = {
  filter: {
    variable: 'TRACING_FILTER',
    kind: FILTER,
    says: 'The same as `RUST_LOG`, and stronger.',
  },
  level: {
    variable: 'RUST_LOG',
    toml: 'level',
    kind: FILTER,
    standard: 'info',
    says: 'The least important level that is logged: `trace` or `debug`, `info`, `warn`, `error`, `off`. In a list such as `info,switchboard=debug,hyper=warn` what concerns Switchboard counts.',
  },
  json: {
    variable: 'TRACING_JSON',
    toml: 'json',
    kind: BOOLEAN,
    standard: false,
    says: 'One JSON object on each line: `timestamp`, `level`, `message`, and `server` for what a server printed.',
  },
  compact: {
    variable: 'TRACING_COMPACT',
    toml: 'compact',
    kind: BOOLEAN,
    says: 'Short lines: the form that is used unless another is chosen. Set to true it is stronger than `TRACING_PRETTY`.',
  },
  pretty: {
    variable: 'TRACING_PRETTY',
    toml: 'pretty',
    kind: BOOLEAN,
    standard: false,
    says: 'Lines with the time and the level, in columns.',
  },
  toFile: {
    variable: 'LOG_TO_FILE',
    toml: 'to_file',
    kind: BOOLEAN,
    standard: false,
    says: 'Whether the log also goes into a file for each day, `switchboard.YYYY-MM-DD.log`.',
  },
  dir: {
    variable: 'LOG_DIR',
    toml: 'dir',
    kind: TEXT,
    says: 'The folder for these files. Relative to the project; `~/` is possible. Unset: `logs` in `$SWITCHBOARD_HOME`.',
  },
} as const satisfies Record<string, Setting<boolean | string>>;

export function resolveLogging(
  { project, home, homeFolder }: Folders,
  { env, toml = NO_TABLE, warn = () => {} }: Partial<SaidPlaces> & Pick<SaidPlaces, 'env'>,
): LogSettings {
  const places: SaidPlaces = { env, files: [], toml, warn };
  const filter = said('filter', LOG_KEYS.filter, places);
  const level = said('level', LOG_KEYS.level, places);
  const isJson = said('json', LOG_KEYS.json, places);
  const isCompact = said('compact', LOG_KEYS.compact, places);
  const isPretty = said('pretty', LOG_KEYS.pretty, places);
  const isToFile = said('toFile', LOG_KEYS.toFile, places);
  const dir = said('dir', LOG_KEYS.dir, places);
  const folder =
    dir === undefined ? resolve(home, 'logs') : resolve(project, expandHome(dir, homeFolder));
  return {
    level: ownLevel(env) ?? filter ?? level ?? LOG_KEYS.level.standard,
    form: isJson ? 'json' : isPretty && !isCompact ? 'pretty' : 'compact',
    folder: isToFile ? folder : undefined,
  };
}
