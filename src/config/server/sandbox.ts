// Resolves which servers run in a sandbox. The user's own files come first: other files can make a sandbox stricter, but
// can't turn it off or open it.
import type { ChildConfig, Sandbox } from '../config.ts';
import { fullLayers, type Layer, suiteOf } from '../files/layers.ts';
import { isUsersFile } from '../files/places.ts';
import type { ServersLayer } from '../files/servers-file.ts';
import type { SuiteKeys } from '../schema/schema.ts';
import type { Declaration } from './command.ts';
import { launchKeyOf } from './same-server.ts';

type SandboxKeys = Pick<SuiteKeys, 'sandbox' | 'sandboxEnabled'>;
type Declarations = ReadonlyMap<string, Declaration>;

export interface SandboxSources {
  readonly project: string;
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** The user's home. */
  readonly homeFolder: string;
  /** The project's environment. */
  readonly env: NodeJS.ProcessEnv;
  /** Both highest precedence first. */
  readonly layers: readonly Layer[];
  readonly serversFiles: readonly ServersLayer[];
}

/** Whether any file configures a sandbox. Most don't, and every start waits for this. */
export function mentionsSandbox(
  declarations: Declarations,
  { layers, serversFiles }: SandboxSources,
): boolean {
  for (const declaration of declarations.values()) {
    if (isOn(declaration.entry) !== undefined) return true;
    if (declaration.source !== 'child-file' || !declaration.original) continue;
    if (isOn(declaration.original) !== undefined) return true;
  }
  const suites = layers.flatMap(({ config }) => Object.values(config.suites ?? {}));
  const servers = [
    ...layers.map(({ config }) => config.mcpServers ?? {}),
    ...serversFiles.map((file) => file.servers),
  ].flatMap((entries) => Object.values(entries));
  return [...suites, ...servers].some((keys) => isOn(keys) !== undefined);
}

/** Sets the sandbox of each server, and returns warnings. */
export function applySandboxes(
  children: Map<string, ChildConfig>,
  declarations: Declarations,
  sources: SandboxSources,
): string[] {
  const warnings: string[] = [];
  for (const [name, declaration] of declarations) {
    const child = children.get(name);
    if (!child) continue;
    const resolved = resolveSandbox(name, sandboxKeysOf(name, declaration, sources), sources);
    const { sandbox } = resolved;
    warnings.push(...resolved.warnings);
    if (sandbox && child.remote) warnings.push(noEffect(name, sandbox));
    const behind = child.behind && { ...child.behind, sandbox };
    children.set(name, { ...child, sandbox, behind });
  }
  bindToCommands(children, sources);
  return warnings;
}

/** A sandbox from the user's files also applies to a project's server that is the same. */
function bindToCommands(children: Map<string, ChildConfig>, sources: SandboxSources): void {
  const users = new Map<string, Sandbox>();
  for (const child of children.values()) {
    const { sandbox } = child;
    if (!sandbox || !isUsersFile(child.origin, sources)) continue;
    const key = launchKeyOf(child, sources);
    if (key !== undefined) users.set(key, sandbox);
  }
  if (users.size === 0) return;
  for (const [name, child] of children) {
    if (isUsersFile(child.origin, sources)) continue;
    const bound = users.get(launchKeyOf(child, sources) ?? '');
    if (!bound) continue;
    const sandbox = tighten(bound, child.sandbox);
    children.set(name, { ...child, sandbox, behind: child.behind && { ...child.behind, sandbox } });
  }
}

interface WrittenKeys {
  readonly keys: SandboxKeys;
  readonly origin: string;
}

/** Everything the files say about one server, highest precedence first. */
function sandboxKeysOf(
  name: string,
  declaration: Declaration,
  sources: SandboxSources,
): WrittenKeys[] {
  const { serversFiles } = sources;
  // A project's approved servers were approved with their settings.
  const layers = declaration.trust ? fullLayers(sources.layers) : sources.layers;
  const { entry, origin } = declaration;
  const original = declaration.source === 'child-file' ? declaration.original : undefined;
  const suites = layers.map(({ file, config }) => ({ keys: suiteOf(config, name), origin: file }));
  // The user's declaration counts even if a project declares a server with the same name.
  const users = [
    ...layers.map(({ file, config }) => ({ file, servers: config.mcpServers ?? {} })),
    ...serversFiles,
  ].flatMap(({ file, servers }) => {
    const keys = Object.hasOwn(servers, name) ? servers[name] : undefined;
    return keys && file !== origin && isUsersFile(file, sources) ? [{ keys, origin: file }] : [];
  });
  return [...suites, { keys: entry, origin }, { keys: original ?? {}, origin }, ...users];
}

function resolveSandbox(
  name: string,
  written: readonly WrittenKeys[],
  sources: SandboxSources,
): { readonly sandbox: Sandbox | undefined; readonly warnings: readonly string[] } {
  const users = decide(written.filter(({ origin }) => isUsersFile(origin, sources)));
  const others = decide(written.filter(({ origin }) => !isUsersFile(origin, sources)));
  const sandbox = tighten(users?.sandbox, others?.sandbox);
  const isIgnored = users?.sandbox && others && isLooser(others.sandbox);
  if (!isIgnored) return { sandbox, warnings: [] };
  const warning = `${others.origin}: the sandbox of server ${JSON.stringify(name)} is set in ${users.origin}. Other files can't turn it off or allow more (ignored).`;
  return { sandbox, warnings: [warning] };
}

function isLooser(sandbox: Sandbox | undefined): boolean {
  return !sandbox || sandbox.allowRead.length + sandbox.allowWrite.length > 0;
}

/** Denies what either of them denies, and allows only what the first one allows. */
export function tighten(
  first: Sandbox | undefined,
  second: Sandbox | undefined,
): Sandbox | undefined {
  if (!first || !second) return first ?? second;
  return {
    ...first,
    denyRead: [...new Set([...first.denyRead, ...second.denyRead])],
    denyWrite: [...new Set([...first.denyWrite, ...second.denyWrite])],
    network: second.network === 'off' ? 'off' : first.network,
    hasDomains: first.hasDomains || second.hasDomains,
  };
}

interface Decision {
  readonly sandbox: Sandbox | undefined;
  readonly origin: string;
}

/** The decision with the highest precedence; undefined if there is none. `true` keeps settings from below. */
function decide(written: readonly WrittenKeys[]): Decision | undefined {
  const first = written.find(({ keys }) => isOn(keys) !== undefined);
  if (!first) return undefined;
  const { origin } = first;
  if (!isOn(first.keys)) return { sandbox: undefined, origin };
  const settings = written
    .slice(written.indexOf(first))
    .map(({ keys }) => keys.sandbox)
    .find((sandbox) => typeof sandbox === 'object');
  return { sandbox: readSettings(settings ?? {}, origin), origin };
}

/** In VS Code, `sandbox` has only settings, and `sandboxEnabled` is the switch. */
function isOn({ sandbox, sandboxEnabled }: SandboxKeys): boolean | undefined {
  if (sandbox === true || sandboxEnabled === true) return true;
  return sandboxEnabled ?? (sandbox === undefined ? undefined : sandbox !== false);
}

/** The sandbox of a server in another program's file; undefined if it has none. */
export function readSandbox(keys: SandboxKeys, origin: string): Sandbox | undefined {
  return decide([{ keys, origin }])?.sandbox;
}

type SandboxSettings = Exclude<SandboxKeys['sandbox'], boolean | undefined>;

function readSettings(
  { filesystem = {}, network = true }: SandboxSettings,
  origin: string,
): Sandbox {
  const { allowRead = [], allowWrite = [], denyRead = [], denyWrite = [] } = filesystem;
  const domains = typeof network === 'object' ? network : {};
  const { allowedDomains, deniedDomains = [] } = domains;
  return {
    allowRead,
    allowWrite,
    denyRead,
    denyWrite,
    network: network === false || allowedDomains?.length === 0 ? 'off' : 'on',
    hasDomains: (allowedDomains?.length ?? 0) + deniedDomains.length > 0,
    origin,
  };
}

function noEffect(name: string, { origin }: Sandbox): string {
  return `${origin}: "sandbox" has no effect on server ${JSON.stringify(name)}, because it is remote.`;
}
