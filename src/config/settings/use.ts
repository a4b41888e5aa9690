// How a child is shown, when it is started and when it is stopped again, each with what decided it:
// the strongest word on it, or the rule that holds without one.

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

interface Decided<T> {
  readonly is: T;
  readonly because: string;
}

const UNSAID = 'no file says otherwise';

/** Defaults of modes that differ from the usual ones. */
const DEFAULTS_BY_SHOW: {
  readonly [show in Use['show']]?: {
    readonly start: Decided<Use['start']>;
    readonly idleMs: Decided<number>;
  };
} = {
  flip: {
    start: { is: 'eager', because: 'servers that are flip are warmed up beforehand' },
    idleMs: { is: 0, because: 'servers that are flip stay warm' },
  },
};

export function resolveUse(
  name: string,
  declaration: Declaration,
  layers: readonly Layer[],
  usualIdleMs: number | undefined,
): Use {
  const show = decideShow(name, declaration, layers);
  const start: Decided<Use['start']> = saidOf(
    'start',
    (keys) => keys.start,
    name,
    declaration,
    layers,
  ) ??
    DEFAULTS_BY_SHOW[show.is]?.start ?? { is: 'lazy', because: UNSAID };
  const idle =
    saidOf('idleMs', (keys) => keys.idleMs, name, declaration, layers) ??
    usualIdle(show.is, start.is, usualIdleMs);
  return {
    show: show.is,
    showBecause: show.because,
    start: start.is,
    startBecause: start.because,
    idleMs: idle.is,
    idleBecause: idle.because,
  };
}

function decideShow(
  name: string,
  declaration: Declaration,
  layers: readonly Layer[],
): Decided<Use['show']> {
  const { source, entry, origin } = declaration;
  const set = saidInSuites('show', (keys) => keys.show, name, layers);
  if (set) return set;
  // Beside `show` as much as without it: whoever wrote it wants the server off.
  if (entry.disabled === true) return { is: 'off', because: `"disabled": true in ${origin}` };
  if (entry.show) return { is: entry.show, because: `"show" in ${origin}` };
  return source === 'servers-file'
    ? { is: 'flip', because: `it is declared in ${origin}, whose servers are flip` }
    : { is: 'suite', because: UNSAID };
}

function usualIdle(
  show: Use['show'],
  start: Use['start'],
  usualIdleMs: number | undefined,
): Decided<number> {
  const ofMode = DEFAULTS_BY_SHOW[show]?.idleMs;
  if (ofMode) return ofMode;
  if (start === 'eager') return { is: 0, because: 'servers that are started eagerly stay' };
  return usualIdleMs === undefined
    ? { is: DEFAULTS.idleMs, because: UNSAID }
    : { is: usualIdleMs, because: 'SWITCHBOARD_CHILD_IDLE_MS' };
}

/** What the files say about a key of this child, and which of them says it. */
function saidOf<T>(
  key: string,
  read: (keys: SuiteKeys) => T | undefined,
  name: string,
  { entry, origin }: Declaration,
  layers: readonly Layer[],
): Decided<T> | undefined {
  const set = saidInSuites(key, read, name, layers);
  const own = read(entry);
  return set ?? (own === undefined ? undefined : { is: own, because: `"${key}" in ${origin}` });
}

function saidInSuites<T>(
  key: string,
  read: (keys: SuiteKeys) => T | undefined,
  name: string,
  layers: readonly Layer[],
): Decided<T> | undefined {
  for (const { file, config } of layers) {
    const is = read(suiteOf(config, name));
    if (is !== undefined) {
      return { is, because: `${formatPath(['suites', name, key])} in ${file}` };
    }
  }
  return undefined;
}
