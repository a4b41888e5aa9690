// Log level, format and file. Environment variables take precedence over `[logging]` in config.toml. The tables in
// the docs are generated from here.
import { resolve } from 'node:path';
import type { LogSettings } from '../../base/log.ts';
import { type LeastLevel, ownLevel, parseFilter } from '../../base/log-level.ts';
import { expandHome } from '../files/globs.ts';
import type { Folders } from '../files/places.ts';
import { EMPTY_TABLE, readSetting, type Setting, type SettingSources } from './sources.ts';
import { BOOLEAN, type Kind, STRING } from './values.ts';

/** Any string is a filter. One that doesn't mention Switchboard means `info`. */
const FILTER: Kind<LeastLevel> = {
  allowed: 'a string such as debug, info, warn, error or off',
  json: 'string',
  fromText: parseFilter,
  fromValue: (value) => (typeof value === 'string' ? parseFilter(value) : undefined),
};

export const LOG_KEYS = {
  filter: {
    variable: 'TRACING_FILTER',
    kind: FILTER,
    description: 'Same as `RUST_LOG`, and takes precedence over it.',
  },
  level: {
    variable: 'RUST_LOG',
    toml: 'level',
    kind: FILTER,
    default: 'info',
    description:
      'Log level: `trace` or `debug`, `info`, `warn`, `error` or `off`. In a list such as `info,switchboard=debug,hyper=warn`, only the entries that apply to Switchboard count.',
  },
  json: {
    variable: 'TRACING_JSON',
    toml: 'json',
    kind: BOOLEAN,
    default: false,
    description:
      'Log one JSON object per line: `timestamp`, `level`, `message`, and `server` for server output.',
  },
  compact: {
    variable: 'TRACING_COMPACT',
    toml: 'compact',
    kind: BOOLEAN,
    description:
      'Log short lines. This is the default; set it to `true` to override `TRACING_PRETTY`.',
  },
  pretty: {
    variable: 'TRACING_PRETTY',
    toml: 'pretty',
    kind: BOOLEAN,
    default: false,
    description: 'Log the time and level in columns.',
  },
  toFile: {
    variable: 'LOG_TO_FILE',
    toml: 'to_file',
    kind: BOOLEAN,
    default: false,
    description: 'Also write the log to a file per day, `switchboard.YYYY-MM-DD.log`.',
  },
  dir: {
    variable: 'LOG_DIR',
    toml: 'dir',
    kind: STRING,
    description:
      'Folder for the log files, relative to the project; `~/` works. Default: `logs` in `$SWITCHBOARD_HOME`.',
  },
} as const satisfies Record<string, Setting<boolean | string>>;

export function resolveLogging(
  { project, home, homeFolder }: Folders,
  {
    env,
    toml = EMPTY_TABLE,
    warn = () => {},
  }: Partial<SettingSources> & Pick<SettingSources, 'env'>,
): LogSettings {
  const sources: SettingSources = { env, files: [], toml, warn };
  const filter = readSetting('filter', LOG_KEYS.filter, sources);
  const level = readSetting('level', LOG_KEYS.level, sources);
  const isJson = readSetting('json', LOG_KEYS.json, sources);
  const isCompact = readSetting('compact', LOG_KEYS.compact, sources);
  const isPretty = readSetting('pretty', LOG_KEYS.pretty, sources);
  const isToFile = readSetting('toFile', LOG_KEYS.toFile, sources);
  const dir = readSetting('dir', LOG_KEYS.dir, sources);
  const folder =
    dir === undefined ? resolve(home, 'logs') : resolve(project, expandHome(dir, homeFolder));
  return {
    level: ownLevel(env) ?? filter ?? level ?? LOG_KEYS.level.default,
    form: isJson ? 'json' : isPretty && !isCompact ? 'pretty' : 'compact',
    folder: isToFile ? folder : undefined,
  };
}
