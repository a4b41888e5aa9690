// Resolves one server: which value each of its settings gets.
import { basename, dirname } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { AssistantConfig, ChildConfig, Command } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { readFolderRole } from '../files/assistant-folder.ts';
import { type Layer, NONE, suiteOf } from '../files/layers.ts';
import { isUsersFile } from '../files/places.ts';
import type { SuiteKeys } from '../schema/schema.ts';
import type { GeneralSettings } from '../settings/general.ts';
import { exposeIn } from '../settings/restrictions.ts';
import type { Ruling } from '../settings/ruling.ts';
import { serverToolChanges } from '../settings/tool-changes.ts';
import { resolveUse } from '../settings/use.ts';
import type { ConfigSources } from '../sources.ts';
import {
  type Declaration,
  explainMissingCommand,
  explainPlaceholder,
  explainTwoWays,
  invalidServer,
  resolveCommand,
} from './command.ts';
import { resolveCwd } from './cwd.ts';
import { derivedFor } from './derived-descriptions.ts';
import { descriptionOf } from './descriptions.ts';
import { findHostPlaceholder } from './expand.ts';
import { combineExpose } from './expose.ts';
import { invalidPaths, resolveRedaction } from './redaction.ts';
import { resolveRemote } from './remote.ts';
import { isPackageRunner } from './runners.ts';
import { resolveShare } from './share.ts';

export function resolveChild(
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
    passEnv: keys.passEnv ?? [],
    ...resolveShare(name, declaration, layers, { command, cwd, project, home, homeFolder }),
    lingerMs: keys.lingerMs ?? DEFAULTS.lingerMs,
    maxMemoryMb: keys.maxMemoryMb,
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
export function withServerBehind(
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
export async function withRoleInFolder(
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
