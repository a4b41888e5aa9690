// Resolves the servers of a configuration: those that are used, and stand-ins for those that wait.
import { didYouMean } from '../base/text.ts';
import type { ChildConfig } from './config.ts';
import { DEFAULTS } from './defaults.ts';
import { needsApproval } from './files/gate.ts';
import { fullLayers } from './files/layers.ts';
import { harmlessName, isWaiting, type Verdict, WAITING_TEXT } from './judge.ts';
import type { PermissionRules } from './permission-rules.ts';
import { unknownServerKeys } from './schema/check.ts';
import { formatPath } from './schema/wording.ts';
import {
  chooseDeclaration,
  type UnusedDeclaration,
  usersToolNames,
} from './server/choose-declaration.ts';
import type { Declaration } from './server/command.ts';
import { runsInProject } from './server/cwd.ts';
import { collectDeclarations } from './server/declarations.ts';
import { declareServer } from './server/declare.ts';
import { resolveChild, withRoleInFolder, withServerBehind } from './server/resolve-child.ts';
import { applySandboxes, mentionsSandbox } from './server/sandbox.ts';
import { explainTouch } from './server/users-servers.ts';
import type { ConfigSources } from './sources.ts';

export async function resolveChildren(sources: ConfigSources): Promise<{
  readonly children: Map<string, ChildConfig>;
  readonly permissions: PermissionRules | undefined;
  readonly warnings: string[];
}> {
  const children = new Map<string, ChildConfig>();
  const declarations = collectDeclarations(sources);
  const projects = { ...sources, layers: fullLayers(sources.layers) };
  const inert: UnusedDeclaration[] = [];
  const used = new Map<string, Declaration>();
  const judged = { ...sources, toolNames: usersToolNames(sources) };
  for (const [name, candidates] of declarations) {
    const chosen = chooseDeclaration(name, candidates, judged);
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

/** Only warnings: pasted entries contain keys of the host they come from. */
function unknownKeys(
  { layers, serversFiles }: ConfigSources,
  inert: readonly UnusedDeclaration[],
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
