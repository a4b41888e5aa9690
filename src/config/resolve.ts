// From what the files say to what is meant: which declaration of a child counts, which setting
// wins, what holds where nobody said anything.
import { dirname, resolve } from 'node:path';
import { nearest } from '../base/text.ts';
import { strangeServerKeys } from './check.ts';
import type { FoundChild } from './child-files.ts';
import { type Declaration, explainMissingCommand, resolveCommand } from './command.ts';
import type { ChildConfig, Command } from './config.ts';
import { DEFAULTS } from './defaults.ts';
import { expandHome } from './globs.ts';
import { isPackageRunner } from './runners.ts';
import type { ConfigFile, SuiteKeys } from './schema.ts';
import { formatPath } from './wording.ts';

/** A main file and its content. */
export interface Layer {
  readonly file: string;
  readonly config: ConfigFile;
}

export interface Found {
  readonly project: string;
  readonly homeFolder: string;
  /** The main files, strongest first. */
  readonly layers: readonly Layer[];
  readonly childFiles: ReadonlyMap<string, FoundChild>;
}

export function resolveChildren(found: Found): {
  readonly children: Map<string, ChildConfig>;
  readonly warnings: string[];
} {
  const common = resolveCommon(found.layers);
  const children = new Map<string, ChildConfig>();
  const declarations = collectDeclarations(found);
  for (const [name, declaration] of declarations) {
    if (declaration.entry.disabled === true) continue;
    children.set(name, resolveChild(name, declaration, found, common));
  }
  return { children, warnings: [...strangeKeys(found), ...strangeSuites(found, declarations)] };
}

/** The strongest file's word on a setting. */
export function setting<T>(
  layers: readonly Layer[],
  read: (config: ConfigFile) => T | undefined,
): T | undefined {
  for (const { config } of layers) {
    const value = read(config);
    if (value !== undefined) return value;
  }
  return undefined;
}

export function messageBytesOf(layers: readonly Layer[]): number {
  return setting(layers, ({ limits }) => limits?.messageBytes) ?? DEFAULTS.messageBytes;
}

/** A child comes whole from its strongest declaration; nothing is mixed from two of them. */
function collectDeclarations({ layers, childFiles, project }: Found): Map<string, Declaration> {
  const declarations = new Map<string, Declaration>();
  for (const { file, config } of layers) {
    for (const [name, entry] of Object.entries(config.mcpServers ?? {})) {
      if (declarations.has(name)) continue;
      declarations.set(name, { source: 'main-file', origin: file, entry, folder: project });
    }
  }
  for (const [name, { file, entry }] of childFiles) {
    if (declarations.has(name)) continue;
    declarations.set(name, { source: 'child-file', origin: file, entry, folder: dirname(file) });
  }
  return declarations;
}

/** What the files say about all children. */
function resolveCommon(layers: readonly Layer[]) {
  const say = <T>(read: (config: ConfigFile) => T | undefined) => setting(layers, read);
  return {
    mode: say((config) => config.introspection?.mode) ?? DEFAULTS.introspection.mode,
    summaryMaxChars:
      say((config) => config.introspection?.summaryMaxChars) ??
      DEFAULTS.introspection.summaryMaxChars,
    childSpawnMs: say((config) => config.timeouts?.childSpawnMs),
    rpcMs: say((config) => config.timeouts?.rpcMs) ?? DEFAULTS.timeouts.rpcMs,
    stopMs: say((config) => config.timeouts?.stopMs) ?? DEFAULTS.timeouts.stopMs,
    messageBytes: messageBytesOf(layers),
    environment: say((config) => config.environment) ?? DEFAULTS.environment,
    wrap: say((config) => config.results?.wrap) ?? DEFAULTS.wrap,
  };
}

type Common = ReturnType<typeof resolveCommon>;

function resolveChild(
  name: string,
  declaration: Declaration,
  { layers, homeFolder }: Found,
  common: Common,
): ChildConfig {
  const { origin, entry, folder } = declaration;
  const cwd = entry.cwd === undefined ? folder : resolve(folder, expandHome(entry.cwd, homeFolder));
  const command = resolveCommand(declaration, cwd);
  const suite = layers.reduceRight<SuiteKeys>(
    (weaker, { config }) => mergeKeys(weaker, suiteOf(config, name)),
    NONE,
  );
  const keys = mergeKeys(entry, suite);
  return {
    name,
    origin,
    command,
    remote: undefined,
    problem: command ? undefined : explainMissingCommand(name, declaration),
    cwd,
    description: entry.description,
    switchboardDescription:
      declaration.source === 'child-file' ? declaration.entry.switchboardDescription : undefined,
    suiteName: keys.suiteName,
    suiteDescription: suite.description,
    expose: {
      allow: keys.expose?.allow,
      deny: keys.expose?.deny,
    },
    introspection: {
      mode: common.mode,
      summaryMaxChars: keys.summaryMaxChars ?? common.summaryMaxChars,
    },
    timeouts: {
      spawnMs: common.childSpawnMs ?? defaultSpawnMs(command, common),
      rpcMs: keys.rpcTimeoutMs ?? common.rpcMs,
      stopMs: common.stopMs,
    },
    messageBytes: common.messageBytes,
    environment: keys.environment ?? common.environment,
    stderr: keys.stderr ?? DEFAULTS.stderr,
    framing: keys.framing ?? DEFAULTS.framing,
    protocolVersion: keys.protocolVersion,
    wrapResults: keys.results?.wrap ?? common.wrap,
  };
}

/** For a download, the common limit of requests: a child's own is about its calls. */
function defaultSpawnMs(command: Command | undefined, { rpcMs }: Common): number {
  return command && isPackageRunner(command) ? rpcMs : DEFAULTS.timeouts.childSpawnMs;
}

/** Pasted entries carry keys of the host they come from, which must not stop anything. */
function strangeKeys({ layers }: Found): string[] {
  return layers.flatMap(({ file, config }) =>
    Object.entries(config.mcpServers ?? {}).flatMap(([name, entry]) =>
      strangeServerKeys(name, entry).map((says) => `${file}: ${says}`),
    ),
  );
}

function strangeSuites({ layers }: Found, known: ReadonlyMap<string, unknown>): string[] {
  return layers.flatMap(({ file, config }) =>
    Object.keys(config.suites ?? {})
      .filter((name) => !known.has(name))
      .map((name) => {
        const [meant] = nearest(name, known.keys(), 1);
        const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
        return `${file}: ${formatPath(['suites', name])} is for a server that does not exist.${hint}`;
      }),
  );
}

const NONE: SuiteKeys = {};

function suiteOf({ suites = {} }: ConfigFile, name: string): SuiteKeys {
  return (Object.hasOwn(suites, name) ? suites[name] : undefined) ?? NONE;
}

function mergeKeys(weaker: SuiteKeys, stronger: SuiteKeys): SuiteKeys {
  if (stronger === NONE) return weaker;
  return {
    ...weaker,
    ...stronger,
    expose: { ...weaker.expose, ...stronger.expose },
    results: { ...weaker.results, ...stronger.results },
  };
}
