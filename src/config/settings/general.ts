// Resolves the settings that apply to Switchboard as a whole or to every server, from the main files and the
// environment. Defaults are filled in only here and in its siblings.
import { SwitchboardError } from '../../base/errors.ts';
import type { Config, Introspection, MessageShape } from '../config.ts';
import { DEFAULTS, LONGEST_MS } from '../defaults.ts';
import { type Layer, setting } from '../files/layers.ts';
import type { ConfigFile, SuiteKeys } from '../schema/schema.ts';

export interface GeneralSettings
  extends Pick<Config, 'era' | 'flipSuites' | 'questionMs' | 'stopMs' | 'messageBytes'> {
  readonly messageShape: MessageShape;
  /** Undefined if unset: then it depends on the server's command. */
  readonly childSpawnMs: number | undefined;
  readonly rpcMs: number;
  /** `SWITCHBOARD_CHILD_IDLE_MS`; undefined if unset. */
  readonly idleMs: number | undefined;
  readonly introspection: Introspection;
  readonly environment: NonNullable<ConfigFile['environment']>;
  readonly maxMemoryMb: number | undefined;
  readonly wrapResults: NonNullable<NonNullable<SuiteKeys['results']>['wrap']>;
}

export function resolveGeneral(
  layers: readonly Layer[],
  env: NodeJS.ProcessEnv,
  isUsersFile: (file: string) => boolean,
): GeneralSettings {
  const read = <T>(from: (config: ConfigFile) => T | undefined) => setting(layers, from);
  const { timeouts, messageShape, introspection } = DEFAULTS;
  return {
    era: read(({ era }) => era) ?? DEFAULTS.era,
    flipSuites: read(({ flip }) => flip?.suites) ?? DEFAULTS.flipSuites,
    questionMs: read((config) => config.timeouts?.questionMs) ?? timeouts.questionMs,
    stopMs: read((config) => config.timeouts?.stopMs) ?? timeouts.stopMs,
    childSpawnMs: read((config) => config.timeouts?.childSpawnMs),
    rpcMs: read((config) => config.timeouts?.rpcMs) ?? timeouts.rpcMs,
    idleMs: readIdleMs(env),
    messageBytes: read(({ limits }) => limits?.messageBytes) ?? DEFAULTS.messageBytes,
    messageShape: {
      depth: read(({ limits }) => limits?.depth) ?? messageShape.depth,
      members: read(({ limits }) => limits?.members) ?? messageShape.members,
    },
    introspection: {
      mode: read((config) => config.introspection?.mode) ?? introspection.mode,
      summaryMaxChars:
        read((config) => config.introspection?.summaryMaxChars) ?? introspection.summaryMaxChars,
    },
    environment: resolveEnvironment(layers, isUsersFile),
    maxMemoryMb: read(({ maxMemoryMb }) => maxMemoryMb),
    wrapResults: read(({ results }) => results?.wrap) ?? DEFAULTS.wrap,
  };
}

/** A project can't relax the setting in the user's file. */
function resolveEnvironment(
  layers: readonly Layer[],
  isUsersFile: (file: string) => boolean,
): GeneralSettings['environment'] {
  const read = (some: readonly Layer[]) => setting(some, ({ environment }) => environment);
  if (read(layers.filter(({ file }) => isUsersFile(file))) === 'minimal') return 'minimal';
  return read(layers) ?? DEFAULTS.environment;
}

/** An empty variable counts as unset. */
function readIdleMs({ SWITCHBOARD_CHILD_IDLE_MS: text }: NodeJS.ProcessEnv): number | undefined {
  if (!text) return undefined;
  const ms = parseIdleMs(text);
  if (ms !== undefined) return ms;
  throw new SwitchboardError(
    'CONFIG_INVALID',
    `SWITCHBOARD_CHILD_IDLE_MS must be a number from 0 to ${LONGEST_MS}.`,
    { hint: 'Idle servers are stopped after this many milliseconds (0 = never).' },
  );
}

/** Undefined if it isn't a delay that timers support. */
export function parseIdleMs(text: string): number | undefined {
  const ms = text.trim() === '' ? Number.NaN : Number(text);
  return ms >= 0 && ms <= LONGEST_MS ? ms : undefined;
}
