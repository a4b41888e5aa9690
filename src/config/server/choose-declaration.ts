// Chooses the declaration of a server that is used. A project's has to be judged first.
import type { ChildConfig } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { fullLayers, type Layer, suiteOf } from '../files/layers.ts';
import type { Basis, Verdict } from '../judge.ts';
import { findReadOnly } from '../settings/restrictions.ts';
import type { ConfigSources } from '../sources.ts';
import type { Declaration } from './command.ts';
import type { DerivedDescriptions } from './derived-descriptions.ts';
import { resolveChild, withServerBehind } from './resolve-child.ts';
import { applySandboxes, mentionsSandbox } from './sandbox.ts';
import { describeReplacing, describeTaking, isSameDeclared, suiteNames } from './users-servers.ts';

/** A declaration that must not be used. */
export interface UnusedDeclaration {
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
export function chooseDeclaration(
  name: string,
  candidates: readonly Declaration[],
  sources: JudgedSources,
): { readonly used: Declaration | undefined; readonly inert: readonly UnusedDeclaration[] } {
  const inert: UnusedDeclaration[] = [];
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

export function usersToolNames({ usersServers, layers }: ConfigSources): Map<string, string> {
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
