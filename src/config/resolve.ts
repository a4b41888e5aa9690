// Resolves servers: which declaration is used, and which value each setting gets.
import { basename, dirname } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { didYouMean } from '../base/text.ts';
import type { AssistantConfig, ChildConfig, Command, PermissionRules } from './config.ts';
import { DEFAULTS } from './defaults.ts';
import { readFolderRole } from './files/assistant-folder.ts';
import type { FoundChild } from './files/child-files.ts';
import { type Gate, needsApproval } from './files/gate.ts';
import { fullLayers, type Layer, NONE, suiteOf } from './files/layers.ts';
import { isUsersFile } from './files/places.ts';
import { type ServersLayer, withPlainVariables } from './files/servers-file.ts';
import { type Basis, harmlessName, isWaiting, type Verdict, WAITING_TEXT } from './judge.ts';
import { unknownServerKeys } from './schema/check.ts';
import type { SuiteKeys } from './schema/schema.ts';
import { formatPath } from './schema/wording.ts';
import {
  type Declaration,
  explainMissingCommand,
  explainPlaceholder,
  explainTwoWays,
  invalidServer,
  resolveCommand,
} from './server/command.ts';
import { resolveCwd, runsInProject } from './server/cwd.ts';
import { declareServer } from './server/declare.ts';
import { type DerivedDescriptions, derivedFor } from './server/derived-descriptions.ts';
import { type DescriptionsLayer, descriptionOf } from './server/descriptions.ts';
import { findHostPlaceholder } from './server/expand.ts';
import { combineExpose } from './server/expose.ts';
import { invalidPaths, resolveRedaction } from './server/redaction.ts';
import { resolveRemote } from './server/remote.ts';
import { isPackageRunner } from './server/runners.ts';
import { applySandboxes, mentionsSandbox } from './server/sandbox.ts';
import {
  describeReplacing,
  describeTaking,
  explainTouch,
  isSameDeclared,
  suiteNames,
  type UsersServers,
} from './server/users-servers.ts';
import type { GeneralSettings } from './settings/general.ts';
import { exposeIn, findReadOnly } from './settings/restrictions.ts';
import type { Ruling } from './settings/ruling.ts';
import { serverToolChanges } from './settings/tool-changes.ts';
import { resolveUse } from './settings/use.ts';

export interface ConfigSources {
  readonly project: string;
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  readonly homeFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The main files, highest precedence first. */
  readonly layers: readonly Layer[];
  readonly general: GeneralSettings;
  readonly childFiles: ReadonlyMap<string, FoundChild>;
  /** Child files that came with the project. */
  readonly foreignChildFiles: readonly FoundChild[];
  /** Takes precedence over every other declaration with its name. */
  readonly preferred?: FoundChild | undefined;
  /** `servers.json`, highest precedence first. */
  readonly serversFiles: readonly ServersLayer[];
  /** `mcp-descriptions.json`, highest precedence first. */
  readonly descriptions: readonly DescriptionsLayer[];
  /** Descriptions derived by `doctor`. */
  readonly derived: DerivedDescriptions;
  readonly gate: Gate;
  /** Empty if nothing in the project is judged. */
  readonly usersServers: UsersServers;
  /** Undefined if no file has permissions or restricts a server. */
  readonly createRuling?: ((declarations: ReadonlyMap<string, Declaration>) => Ruling) | undefined;
}

export async function resolveChildren(sources: ConfigSources): Promise<{
  readonly children: Map<string, ChildConfig>;
  readonly permissions: PermissionRules | undefined;
  readonly warnings: string[];
}> {
  const children = new Map<string, ChildConfig>();
  const declarations = collectDeclarations(sources);
  const projects = { ...sources, layers: fullLayers(sources.layers) };
  const inert: Declared[] = [];
  const used = new Map<string, Declaration>();
  const toolNames = usersToolNames(sources);
  for (const [name, candidates] of declarations) {
    const chosen = chooseDeclaration(name, candidates, { ...sources, toolNames });
    inert.push(...chosen.inert);
    if (chosen.used) used.set(name, chosen.used);
  }
  const ruling = sources.createRuling?.(used);
  const warnings: string[] = [];
  const warn = (sentence: string) => void warnings.push(sentence);
  for (const [name, declaration] of used) {
    const view = declaration.trust ? projects : sources;
    const plain = resolveChild(name, declaration, view, ruling);
    const child = withServerBehind(plain, declaration, view, ruling);
    children.set(name, await withRoleInFolder(child, sources, warn));
  }
  for (const [name, child] of children) {
    if (!runsInProject(child, sources)) continue;
    const { keepOut } = await import('./server/runner-folder.ts');
    children.set(name, await keepOut(child, sources));
  }
  if (mentionsSandbox(used, projects)) warnings.push(...applySandboxes(children, used, sources));
  // A server that is used keeps its name.
  const unused = new Map(inert.toReversed().map((one) => [one.name, one]));
  for (const [name, { verdict, declaration }] of [...unused].toReversed()) {
    if (children.has(name)) continue;
    const isTaken = (one: string) => children.has(one) || (one !== name && declarations.has(one));
    const safe = harmlessName(name, { has: isTaken });
    children.set(safe, inertChild(safe, declaration, verdict, sources));
  }
  return {
    children,
    permissions: ruling?.permissions,
    warnings: [
      ...unknownKeys(sources, inert),
      ...unknownSuites(sources, declarations),
      ...(ruling?.warnings ?? []),
      ...inert.flatMap(({ declaration, verdict, touches }) =>
        isWaiting(verdict) && touches.length > 0 ? explainTouch(declaration.origin, touches) : [],
      ),
      ...warnings,
    ],
  };
}

interface Declared {
  readonly name: string;
  readonly declaration: Declaration;
  readonly verdict: Verdict;
  /** What it would do to the user's servers. */
  readonly touches: readonly string[];
}

/**
 * The first declaration that may be used. A project's takes precedence only if it's the user's or approved, and
 * leaves the user's own servers alone unless that is approved.
 */
function chooseDeclaration(
  name: string,
  candidates: readonly Declaration[],
  sources: JudgedSources,
): { readonly used: Declaration | undefined; readonly inert: readonly Declared[] } {
  const inert: Declared[] = [];
  const isOthers = ({ trust, script }: Declaration) => trust !== undefined || script !== undefined;
  for (const [index, declaration] of candidates.entries()) {
    const { trust, script, origin: file } = declaration;
    if (!isOthers(declaration)) return { used: declaration, inert };
    const users =
      sources.usersServers.get(name) ?? candidates.slice(index + 1).find((one) => !isOthers(one));
    const touches = touchesOf(name, declaration, users, sources);
    const origin = trust ?? (touches.length > 0 ? script : undefined);
    if (origin === undefined) return { used: declaration, inert };
    // The same server as the user's: nothing to ask about.
    if (users && touches.length === 0 && origin === 'foreign') continue;
    const verdict = sources.gate.decide({
      kind: 'server',
      name,
      file,
      origin,
      content: () => asDeclared(name, declaration, sources),
      basis: basisOf(declaration),
      ...(touches.length > 0 && { touches }),
    });
    if (verdict === 'approved') return { used: declaration, inert };
    inert.push({ name, declaration, verdict, touches });
  }
  return { used: sources.usersServers.get(name), inert };
}

interface JudgedSources extends ConfigSources {
  /** The names of the user's servers, by the names of their tools. */
  readonly toolNames: ReadonlyMap<string, string>;
}

function usersToolNames({ usersServers, layers }: ConfigSources): Map<string, string> {
  const own = layers.filter(({ origin, script }) => (origin ?? script) === undefined);
  return new Map(
    [...usersServers].flatMap(([name, declaration]) =>
      suiteNames(name, suiteNameIn(name, declaration, own)).map((tool) => [tool, name] as const),
    ),
  );
}

/** What a project's declaration would do to the user's servers. */
function touchesOf(
  name: string,
  declaration: Declaration,
  users: Declaration | undefined,
  sources: JudgedSources,
): string[] {
  const { usersServers, layers, toolNames } = sources;
  const replaced =
    users && !isSameDeclared(asDeclared(name, declaration, sources), asUsers(name, users, sources))
      ? [describeReplacing(name, users)]
      : [];
  if (toolNames.size === 0) return replaced;
  const projects = fullLayers(layers.filter((layer) => layer.origin ?? layer.script));
  const wanted = suiteNames(name, suiteNameIn(name, declaration, projects));
  const taken = new Set(wanted.flatMap((tool) => toolNames.get(tool) ?? []));
  taken.delete(name);
  return [
    ...replaced,
    ...[...taken].flatMap((other) => {
      const theirs = usersServers.get(other);
      return theirs ? describeTaking(other, theirs) : [];
    }),
  ];
}

function suiteNameIn(name: string, { entry }: Declaration, layers: readonly Layer[]) {
  const named = layers.map(({ config }) => suiteOf(config, name).suiteName);
  return named.find((one) => one !== undefined) ?? entry.suiteName;
}

/** The user's server, without anything a project says. */
function asUsers(name: string, declaration: Declaration, sources: ConfigSources): ChildConfig {
  const layers = sources.layers.filter(({ origin, script }) => (origin ?? script) === undefined);
  return resolveChild(name, declaration, { ...sources, layers }, undefined);
}

/** Undefined if its command depends on which files exist. */
function basisOf({ entry, basis }: Declaration): Basis | undefined {
  return entry.command === undefined && entry.url === undefined ? undefined : basis;
}

/** The server as the project alone declares it: the user's own settings need no approval. */
function asDeclared(
  name: string,
  declaration: Declaration,
  sources: ConfigSources,
): ChildConfig & { readonly isReadOnly?: boolean } {
  const { general, layers } = sources;
  const view = {
    ...sources,
    layers: fullLayers(
      layers.filter((layer) => layer.origin ?? (declaration.script && layer.script)),
    ),
    general: { ...general, environment: DEFAULTS.environment, wrapResults: DEFAULTS.wrap },
    descriptions: [],
    derived: NOTHING_DERIVED,
  };
  const plain = resolveChild(name, declaration, view, undefined);
  const child = withServerBehind(plain, declaration, view, undefined);
  const one = new Map([[name, declaration]]);
  const children = new Map([[name, child]]);
  if (mentionsSandbox(one, view)) applySandboxes(children, one, view);
  const isReadOnly = findReadOnly(name, declaration, view.layers) !== undefined;
  return { ...(children.get(name) ?? child), ...(isReadOnly && { isReadOnly }) };
}

const NOTHING_DERIVED: DerivedDescriptions = new Map();

/** Stands for a server that isn't approved: it can be listed, and nothing else. */
function inertChild(
  name: string,
  { origin }: Declaration,
  verdict: Verdict,
  { project, general }: ConfigSources,
): ChildConfig {
  const isDenied = verdict === 'denied';
  const because = isDenied ? 'you denied it' : 'it needs your approval';
  const { rpcMs, stopMs } = general;
  const spawnMs = general.childSpawnMs ?? DEFAULTS.timeouts.childSpawnMs;
  return {
    ...declareServer({
      name,
      origin,
      command: undefined,
      remote: undefined,
      cwd: project,
      timeouts: { spawnMs, rpcMs, stopMs },
    }),
    show: isDenied ? 'off' : 'suite',
    showBecause: because,
    startBecause: because,
    idleBecause: because,
    switchboardDescription: WAITING_TEXT,
    problem: needsApproval(name),
  };
}

type DeclaringSources = Pick<
  ConfigSources,
  'layers' | 'childFiles' | 'foreignChildFiles' | 'preferred' | 'serversFiles' | 'project'
>;

/**
 * All declarations by name, highest precedence first. A server comes entirely from one of them; they aren't
 * merged.
 */
export function collectDeclarations({
  layers,
  childFiles,
  foreignChildFiles,
  preferred,
  serversFiles,
  project,
}: DeclaringSources): Map<string, Declaration[]> {
  // Settings in the main file change servers wherever they are declared.
  const settings = layers.flatMap(({ basis = [] }) => basis);
  const withSettings = (basis: Basis | undefined) => basis && [...basis, ...settings];
  const declarations = new Map<string, Declaration[]>();
  const add = (name: string, declaration: Declaration): void => {
    const others = declarations.get(name);
    if (others) others.push(declaration);
    else declarations.set(name, [declaration]);
  };
  if (preferred) add(preferred.entry.name, declarationIn(preferred));
  for (const { file, config, invalidServers, origin: trust, script, basis } of layers) {
    for (const [name, entry] of Object.entries(config.mcpServers ?? {})) {
      const invalid = invalidServers.get(name);
      add(name, {
        source: 'main-file',
        origin: file,
        entry,
        folder: project,
        invalid,
        trust,
        script,
        basis,
      });
    }
  }
  for (const found of [...childFiles.values(), ...foreignChildFiles]) {
    const { basis, ...declaration } = declarationIn(found);
    add(found.entry.name, { ...declaration, basis: withSettings(basis) });
  }
  for (const { file, servers, invalid: invalidServers, origin: trust, ...layer } of serversFiles) {
    const basis = withSettings(layer.basis);
    for (const [name, written] of Object.entries(servers)) {
      const entry = withPlainVariables(written);
      const invalid = invalidServers.get(name);
      add(name, {
        source: 'servers-file',
        origin: file,
        entry,
        folder: project,
        invalid,
        trust,
        basis,
      });
    }
  }
  return declarations;
}

function declarationIn(found: FoundChild): Declaration {
  const { file, entry, invalid, original, origin: trust, basis } = found;
  const folder = dirname(file);
  return { source: 'child-file', origin: file, entry, invalid, original, folder, trust, basis };
}

function resolveChild(
  name: string,
  declaration: Declaration,
  { project, home, layers, general, homeFolder, descriptions, derived }: ConfigSources,
  ruling: Ruling | undefined,
): ChildConfig {
  const { origin, entry } = declaration;
  const cwd = resolveCwd(declaration, { project, home, homeFolder });
  const redaction = resolveRedaction(name, declaration, layers);
  const invalid = explainInvalid(name, declaration, layers, invalidPaths(redaction.redact));
  // Without a command no tools are listed, so an invalid `expose` reveals nothing.
  const command = invalid ? undefined : resolveCommand(declaration, cwd);
  const suite = layers.reduceRight<SuiteKeys>(
    (lower, { config }) => mergeKeys(lower, suiteOf(config, name)),
    NONE,
  );
  const keys = mergeKeys(entry, suite);
  const remote = invalid ?? resolveRemote(name, declaration);
  const noted = descriptionOf(descriptions, name);
  const ruled = ruling?.settle(name, declaration);
  const expose = combineExpose([...exposeIn(name, declaration, layers), ...(ruled?.expose ?? [])]);
  return {
    name,
    origin,
    ...(isUsersFile(origin, { project, home, homeFolder }) && { isUsers: true }),
    ...resolveUse(name, declaration, layers, general.idleMs, ruled?.offBecause),
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
      rules: ruled?.rules,
    }),
    role: noted.claude,
    expose,
    ...(ruled?.rules && { rules: ruled.rules }),
    readOnlyTool: keys.readOnlyTool ?? false,
    introspection: {
      mode: general.introspection.mode,
      summaryMaxChars: keys.summaryMaxChars ?? general.introspection.summaryMaxChars,
    },
    toolChanges: serverToolChanges(name, { origin, value: entry.toolChanges }, layers, {
      project,
      home,
      homeFolder,
    }),
    timeouts: {
      spawnMs: general.childSpawnMs ?? defaultSpawnMs(command, general),
      rpcMs: keys.rpcTimeoutMs ?? general.rpcMs,
      stopMs: general.stopMs,
    },
    messageBytes: general.messageBytes,
    messageShape: general.messageShape,
    environment: ruled?.environment ?? keys.environment ?? general.environment,
    stderr: keys.stderr ?? DEFAULTS.stderr,
    framing: keys.framing ?? DEFAULTS.framing,
    protocolVersion: keys.protocolVersion,
    wrapResults: keys.results?.wrap ?? general.wrapResults,
    ...redaction,
    sandbox: undefined,
    assistant: settingsOf(keys.assistant),
    behind: undefined,
  };
}

/**
 * The server behind the assistant in its folder: declared by its own file, with the keys under `suites`. All three
 * places may have `expose` rules, and all of them apply.
 */
function withServerBehind(
  child: ChildConfig,
  declaration: Declaration,
  sources: ConfigSources,
  ruling: Ruling | undefined,
): ChildConfig {
  if (declaration.source !== 'child-file' || !declaration.original) return child;
  const { original, ...place } = declaration;
  const own = { ...place, entry: original };
  const server = resolveChild(child.name, own, sources, ruling);
  const offBecause = ruling?.settle(child.name, own).offBecause;
  const expose = combineExpose([child.expose, server.expose]);
  const { derivedDescription } = server;
  const behind = { ...server, assistant: server.assistant ?? {}, expose };
  const off = offBecause === undefined ? {} : { show: 'off' as const, showBecause: offBecause };
  return { ...child, ...off, derivedDescription, behind };
}

/** `CLAUDE.md` in the server's own folder takes precedence over other roles. */
async function withRoleInFolder(
  child: ChildConfig,
  { project, gate }: ConfigSources,
  warn: (sentence: string) => void,
): Promise<ChildConfig> {
  const { behind, assistant, origin } = child;
  const folder = dirname(origin);
  // The project's own CLAUDE.md is about something else.
  const isOwn = behind !== undefined || (basename(origin) === '.mcp.json' && folder !== project);
  const isRead = isOwn && (behind !== undefined || assistant !== undefined);
  const role = isRead ? await readFolderRole(folder, child.name, gate, warn) : undefined;
  if (role === undefined) return child;
  if (behind) return { ...child, behind: { ...behind, assistant: { ...behind.assistant, role } } };
  return { ...child, assistant: { ...assistant, role } };
}

function settingsOf(assistant: SuiteKeys['assistant']): AssistantConfig | undefined {
  if (assistant === undefined || assistant === false) return undefined;
  return assistant === true ? {} : assistant;
}

/** A server can't be used if its entry, or its entry under `suites`, has mistakes. */
function explainInvalid(
  name: string,
  { origin, invalid }: Declaration,
  layers: readonly Layer[],
  others: readonly string[],
): SwitchboardError | undefined {
  const lines = [
    ...(invalid ?? []),
    ...others,
    ...layers.flatMap(({ invalidSuites }) => invalidSuites.get(name) ?? []),
  ];
  return lines.length === 0 ? undefined : invalidServer(name, origin, lines);
}

/** Why a server can't be used, if that's known before starting it. */
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

/** For a download, the general request limit: the server's own one is for its calls. */
function defaultSpawnMs(command: Command | undefined, { rpcMs }: GeneralSettings): number {
  return command && isPackageRunner(command) ? rpcMs : DEFAULTS.timeouts.childSpawnMs;
}

/** Only warnings: pasted entries contain keys of the host they come from. */
function unknownKeys(
  { layers, serversFiles }: ConfigSources,
  inert: readonly Declared[],
): string[] {
  const isInert = (file: string, name: string) =>
    inert.some((one) => one.name === name && one.declaration.origin === file);
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
      isInert(file, name)
        ? []
        : unknownServerKeys([...where, name], entry).map((warning) => `${file}: ${warning}`),
    ),
  );
}

function unknownSuites({ layers }: ConfigSources, known: ReadonlyMap<string, unknown>): string[] {
  return layers.flatMap(({ file, config }) =>
    Object.keys(config.suites ?? {})
      .filter((name) => !known.has(name))
      .map((name) => {
        const path = formatPath(['suites', name]);
        const hint = didYouMean(name, known.keys());
        return `${file}: ${path}: no such server. ${hint}`.trimEnd();
      }),
  );
}

function mergeKeys(lower: SuiteKeys, higher: SuiteKeys): SuiteKeys {
  if (higher === NONE) return lower;
  return {
    ...lower,
    ...definedOf(higher),
    results: { ...lower.results, ...definedOf(higher.results) },
    assistant: mergeAssistants(lower.assistant, higher.assistant),
  };
}

/** `true` keeps the settings of the lower one. */
function mergeAssistants(
  lower: SuiteKeys['assistant'],
  higher: SuiteKeys['assistant'],
): SuiteKeys['assistant'] {
  if (higher === undefined) return lower;
  if (higher === false) return false;
  const settings = typeof lower === 'object' ? lower : {};
  return { ...settings, ...(higher === true ? {} : definedOf(higher)) };
}

/** A JavaScript file may set a key to undefined, which counts as leaving it out. */
function definedOf<T extends object>(keys: T | undefined): Partial<T> {
  const defined = Object.entries(keys ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Partial<T>;
}
