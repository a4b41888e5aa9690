// Resolves how a server is shown, when it starts and when it stops, each with the reason: the key that set it, or the
// default rule.
import type { ChildConfig } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { type Layer, suiteOf } from '../files/layers.ts';
import type { SuiteKeys } from '../schema/schema.ts';
import { formatPath } from '../schema/wording.ts';
import type { Declaration } from '../server/command.ts';

type Use = Pick<
  ChildConfig,
  'show' | 'showBecause' | 'start' | 'startBecause' | 'idleMs' | 'idleBecause'
>;

interface Decision<T> {
  readonly value: T;
  readonly because: string;
}

const BY_DEFAULT = 'default';

/** Defaults of modes that differ from the usual ones. */
const DEFAULTS_BY_SHOW: {
  readonly [show in Use['show']]?: {
    readonly start: Decision<Use['start']>;
    readonly idleMs: Decision<number>;
  };
} = {
  flip: {
    start: { value: 'eager', because: 'default for flip servers' },
    idleMs: { value: 0, because: 'default for flip servers' },
  },
};

export function resolveUse(
  name: string,
  declaration: Declaration,
  layers: readonly Layer[],
  defaultIdleMs: number | undefined,
  /** The user's file turns it off, which a project can't change. */
  offBecause?: string,
): Use {
  const show: Decision<Use['show']> =
    offBecause === undefined
      ? decideShow(name, declaration, layers)
      : { value: 'off', because: offBecause };
  const start: Decision<Use['start']> = findKey(
    'start',
    (keys) => keys.start,
    name,
    declaration,
    layers,
  ) ??
    DEFAULTS_BY_SHOW[show.value]?.start ?? { value: 'lazy', because: BY_DEFAULT };
  const idle =
    findKey('idleMs', (keys) => keys.idleMs, name, declaration, layers) ??
    defaultIdle(show.value, start.value, defaultIdleMs);
  return {
    show: show.value,
    showBecause: show.because,
    start: start.value,
    startBecause: start.because,
    idleMs: idle.value,
    idleBecause: idle.because,
  };
}

function decideShow(
  name: string,
  declaration: Declaration,
  layers: readonly Layer[],
): Decision<Use['show']> {
  const { source, entry, origin } = declaration;
  const set = findInSuites('show', (keys) => keys.show, name, layers);
  if (set) return set;
  // This overrides `show` in the same entry: the server is meant to be off.
  if (entry.disabled === true) return { value: 'off', because: `"disabled": true in ${origin}` };
  if (entry.show) return { value: entry.show, because: `"show" in ${origin}` };
  return source === 'servers-file'
    ? { value: 'flip', because: `default for servers declared in ${origin}` }
    : { value: 'suite', because: BY_DEFAULT };
}

function defaultIdle(
  show: Use['show'],
  start: Use['start'],
  defaultIdleMs: number | undefined,
): Decision<number> {
  const ofMode = DEFAULTS_BY_SHOW[show]?.idleMs;
  if (ofMode) return ofMode;
  if (start === 'eager') return { value: 0, because: 'default for eager servers' };
  return defaultIdleMs === undefined
    ? { value: DEFAULTS.idleMs, because: BY_DEFAULT }
    : { value: defaultIdleMs, because: 'SWITCHBOARD_CHILD_IDLE_MS' };
}

/** The value of a server's key, and the file that sets it. */
export function findKey<T>(
  key: string,
  read: (keys: SuiteKeys) => T | undefined,
  name: string,
  { entry, origin }: Declaration,
  layers: readonly Layer[],
): Decision<T> | undefined {
  const set = findInSuites(key, read, name, layers);
  const own = read(entry);
  return set ?? (own === undefined ? undefined : { value: own, because: `"${key}" in ${origin}` });
}

function findInSuites<T>(
  key: string,
  read: (keys: SuiteKeys) => T | undefined,
  name: string,
  layers: readonly Layer[],
): Decision<T> | undefined {
  for (const { file, config } of layers) {
    const value = read(suiteOf(config, name));
    if (value !== undefined) {
      return { value, because: `${formatPath(['suites', name, key])} in ${file}` };
    }
  }
  return undefined;
}
