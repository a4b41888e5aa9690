// From what the files say to what is meant: which declaration of a child counts, which setting
// wins, what holds where nobody said anything.
import { basename, dirname, resolve } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { didYouMean } from '../base/text.ts';
import type { AssistantConfig, ChildConfig, Command, MessageShape } from './config.ts';
import { DEFAULTS } from './defaults.ts';
import type { FoundChild } from './files/child-files.ts';
import { readFolderRole } from './files/folder-role.ts';
import { expandHome } from './files/globs.ts';
import { type Layer, NONE, setting, suiteOf } from './files/layers.ts';
import { type ServersLayer, withPlainVariables } from './files/servers-file.ts';
import { strangeServerKeys } from './schema/check.ts';
import type { ConfigFile, SuiteKeys } from './schema/schema.ts';
import { formatPath } from './schema/wording.ts';
import {
  type Declaration,
  explainMissingCommand,
  explainPlaceholder,
  explainTwoWays,
  invalidServer,
  resolveCommand,
} from './server/command.ts';
import { type DerivedDescriptions, derivedFor } from './server/derived-descriptions.ts';
import { type DescriptionsLayer, descriptionOf } from './server/descriptions.ts';
import { findHostPlaceholder } from './server/expand.ts';
import { resolveRemote } from './server/remote.ts';
import { isPackageRunner } from './server/runners.ts';
import { resolveUse } from './settings/use.ts';

export interface Found {
  readonly project: string;
  readonly homeFolder: string;
  /** The main files, strongest first. */
  readonly layers: readonly Layer[];
  readonly childFiles: ReadonlyMap<string, FoundChild>;
  /** One that counts before all others, whatever declares another of its name. */
  readonly meant?: FoundChild | undefined;
  /** `servers.json`, strongest first. */
  readonly serversFiles: readonly ServersLayer[];
  /** `mcp-descriptions.json`, strongest first. */
  readonly descriptions: readonly DescriptionsLayer[];
  /** Descriptions derived by `doctor`. */
  readonly derived: DerivedDescriptions;
  /** What the environment says instead of the usual time after which idle children are stopped. */
  readonly idleMs: number | undefined;
}

export function resolveChildren(found: Found): {
  readonly children: Map<string, ChildConfig>;
  readonly warnings: string[];
} {
  const common = resolveCommon(found.layers);
  const children = new Map<string, ChildConfig>();
  const declarations = collectDeclarations(found);
  const warnings: string[] = [];
  const warn = (sentence: string) => void warnings.push(sentence);
  for (const [name, declaration] of declarations) {
    const child = resolveChild(name, declaration, found, common);
    children.set(
      name,
      withRoleInFolder(withServerBehind(child, declaration, found, common), found, warn),
    );
  }
  return {
    children,
    warnings: [...strangeKeys(found), ...strangeSuites(found, declarations), ...warnings],
  };
}

export function messageBytesOf(layers: readonly Layer[]): number {
  return setting(layers, ({ limits }) => limits?.messageBytes) ?? DEFAULTS.messageBytes;
}

export function messageShapeOf(layers: readonly Layer[]): MessageShape {
  return {
    depth: setting(layers, ({ limits }) => limits?.depth) ?? DEFAULTS.messageShape.depth,
    members: setting(layers, ({ limits }) => limits?.members) ?? DEFAULTS.messageShape.members,
  };
}

/** A child comes whole from its strongest declaration; nothing is mixed from two of them. */
function collectDeclarations({
  layers,
  childFiles,
  meant,
  serversFiles,
  project,
}: Found): Map<string, Declaration> {
  const declarations = new Map<string, Declaration>();
  if (meant) declarations.set(meant.entry.name, declarationIn(meant));
  for (const { file, config, invalidServers } of layers) {
    for (const [name, entry] of Object.entries(config.mcpServers ?? {})) {
      if (declarations.has(name)) continue;
      const invalid = invalidServers.get(name);
      declarations.set(name, {
        source: 'main-file',
        origin: file,
        entry,
        folder: project,
        invalid,
      });
    }
  }
  for (const [name, found] of childFiles) {
    if (!declarations.has(name)) declarations.set(name, declarationIn(found));
  }
  for (const { file, servers, invalid: invalidServers } of serversFiles) {
    for (const [name, written] of Object.entries(servers)) {
      if (declarations.has(name)) continue;
      const entry = withPlainVariables(written);
      const invalid = invalidServers.get(name);
      declarations.set(name, {
        source: 'servers-file',
        origin: file,
        entry,
        folder: project,
        invalid,
      });
    }
  }
  return declarations;
}

function declarationIn({ file, entry, invalid, original }: FoundChild): Declaration {
  return { source: 'child-file', origin: file, entry, invalid, original, folder: dirname(file) };
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
    messageShape: messageShapeOf(layers),
    environment: say((config) => config.environment) ?? DEFAULTS.environment,
    wrap: say((config) => config.results?.wrap) ?? DEFAULTS.wrap,
  };
}

type Common = ReturnType<typeof resolveCommon>;

function resolveChild(
  name: string,
  declaration: Declaration,
  { layers, homeFolder, descriptions, derived, idleMs: usualIdleMs }: Found,
  common: Common,
): ChildConfig {
  const { origin, entry, folder } = declaration;
  const cwd = entry.cwd === undefined ? folder : resolve(folder, expandHome(entry.cwd, homeFolder));
  const invalid = explainInvalid(name, declaration, layers);
  // Without a command nothing of the catalog is listed, so an invalid `expose` reveals nothing.
  const command = invalid ? undefined : resolveCommand(declaration, cwd);
  const suite = layers.reduceRight<SuiteKeys>(
    (weaker, { config }) => mergeKeys(weaker, suiteOf(config, name)),
    NONE,
  );
  const keys = mergeKeys(entry, suite);
  const remote = invalid ?? resolveRemote(name, declaration);
  const noted = descriptionOf(descriptions, name);
  const expose = { allow: keys.expose?.allow, deny: keys.expose?.deny };
  return {
    name,
    origin,
    ...resolveUse(name, declaration, layers, usualIdleMs),
    command,
    remote: remote instanceof SwitchboardError ? undefined : remote,
    problem: findProblem(name, declaration, command, remote),
    cwd,
    isCwdGiven: entry.cwd !== undefined || declaration.source === 'child-file',
    description: entry.description,
    switchboardDescription:
      declaration.source === 'child-file' ? declaration.entry.switchboardDescription : undefined,
    suiteName: keys.suiteName,
    keywords: keys.keywords,
    suiteDescription: suite.description,
    notedDescription: noted.switchboard,
    derivedDescription: derivedFor(derived, {
      command,
      remote: remote instanceof SwitchboardError ? undefined : remote,
      cwd,
      expose,
    }),
    role: noted.claude,
    expose,
    readOnlyTool: keys.readOnlyTool ?? false,
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
    messageShape: common.messageShape,
    environment: keys.environment ?? common.environment,
    stderr: keys.stderr ?? DEFAULTS.stderr,
    framing: keys.framing ?? DEFAULTS.framing,
    protocolVersion: keys.protocolVersion,
    wrapResults: keys.results?.wrap ?? common.wrap,
    assistant: settingsOf(keys.assistant),
    behind: undefined,
  };
}

/**
 * The server for which the assistant in its folder speaks: as its own file says, with what is said about
 * it under `suites`. Rules for its tools may stand in all three places, and all of them hold.
 */
function withServerBehind(
  child: ChildConfig,
  declaration: Declaration,
  found: Found,
  common: Common,
): ChildConfig {
  if (declaration.source !== 'child-file' || !declaration.original) return child;
  const { original, ...place } = declaration;
  const server = resolveChild(child.name, { ...place, entry: original }, found, common);
  const expose = {
    ...child.expose,
    within: { allow: undefined, deny: undefined, ...original.expose },
  };
  const { derivedDescription } = server;
  const behind = { ...server, assistant: server.assistant ?? {}, expose };
  return { ...child, derivedDescription, behind };
}

/** What stands in the server's own folder counts before other words on what its assistant is there for. */
function withRoleInFolder(
  child: ChildConfig,
  { project }: Found,
  warn: (sentence: string) => void,
): ChildConfig {
  const { behind, assistant, origin } = child;
  const folder = dirname(origin);
  // The project's own CLAUDE.md is about something else.
  const isOwn = behind !== undefined || (basename(origin) === '.mcp.json' && folder !== project);
  const role = isOwn && (behind || assistant) ? readFolderRole(folder, warn) : undefined;
  if (role === undefined) return child;
  if (behind) return { ...child, behind: { ...behind, assistant: { ...behind.assistant, role } } };
  return { ...child, assistant: { ...assistant, role } };
}

function settingsOf(said: SuiteKeys['assistant']): AssistantConfig | undefined {
  if (said === undefined || said === false) return undefined;
  return said === true ? {} : said;
}

/** An entry with a mistake in it, and one under `suites`, keeps its server from being used. */
function explainInvalid(
  name: string,
  { origin, invalid }: Declaration,
  layers: readonly Layer[],
): SwitchboardError | undefined {
  const lines = [
    ...(invalid ?? []),
    ...layers.flatMap(({ invalidSuites }) => invalidSuites.get(name) ?? []),
  ];
  return lines.length === 0 ? undefined : invalidServer(name, origin, lines);
}

/** What is known beforehand to keep a child from being used. */
function findProblem(
  name: string,
  declaration: Declaration,
  command: Command | undefined,
  remote: ReturnType<typeof resolveRemote>,
): SwitchboardError | undefined {
  if (remote instanceof SwitchboardError) return remote;
  const { entry, origin } = declaration;
  if (entry.command !== undefined && entry.url !== undefined) {
    return explainTwoWays(name, origin);
  }
  if (!command && !remote) return explainMissingCommand(name, declaration);
  const found = findHostPlaceholder({ command, remote });
  return found && explainPlaceholder(name, origin, found);
}

/** For a download, the common limit of requests: a child's own is about its calls. */
function defaultSpawnMs(command: Command | undefined, { rpcMs }: Common): number {
  return command && isPackageRunner(command) ? rpcMs : DEFAULTS.timeouts.childSpawnMs;
}

/** Pasted entries carry keys of the host they come from, which must not stop anything. */
function strangeKeys({ layers, serversFiles }: Found): string[] {
  const places = [
    ...layers.map(({ file, config }) => ({
      file,
      where: ['mcpServers'],
      servers: config.mcpServers,
    })),
    ...serversFiles,
  ];
  return places.flatMap(({ file, where, servers = {} }) =>
    Object.entries(servers).flatMap(([name, entry]) =>
      strangeServerKeys([...where, name], entry).map((says) => `${file}: ${says}`),
    ),
  );
}

function strangeSuites({ layers }: Found, known: ReadonlyMap<string, unknown>): string[] {
  return layers.flatMap(({ file, config }) =>
    Object.keys(config.suites ?? {})
      .filter((name) => !known.has(name))
      .map((name) => {
        const path = formatPath(['suites', name]);
        const hint = didYouMean(name, known.keys());
        return `${file}: ${path} is for a server that does not exist. ${hint}`.trimEnd();
      }),
  );
}

function mergeKeys(weaker: SuiteKeys, stronger: SuiteKeys): SuiteKeys {
  if (stronger === NONE) return weaker;
  return {
    ...weaker,
    ...definedOf(stronger),
    expose: { ...weaker.expose, ...definedOf(stronger.expose) },
    results: { ...weaker.results, ...definedOf(stronger.results) },
    assistant: mergeAssistants(weaker.assistant, stronger.assistant),
  };
}

/** A plain yes keeps the settings that somebody else has written. */
function mergeAssistants(
  weaker: SuiteKeys['assistant'],
  stronger: SuiteKeys['assistant'],
): SuiteKeys['assistant'] {
  if (stronger === undefined) return weaker;
  if (stronger === false) return false;
  const settings = typeof weaker === 'object' ? weaker : {};
  return { ...settings, ...(stronger === true ? {} : definedOf(stronger)) };
}

/** A JavaScript file may name a key and leave it undefined, which says nothing. */
function definedOf<T extends object>(keys: T | undefined): Partial<T> {
  const said = Object.entries(keys ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as Partial<T>;
}
