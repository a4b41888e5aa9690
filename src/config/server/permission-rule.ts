// One rule under `permissions`: which server and which tools its text means. A server's name may contain `__`, so that
// depends on the servers there are.
import type { RuleHints, RuleTarget } from '../permission-rules.ts';
import { foldName, matchesPattern } from './expose.ts';

export interface ServerNames {
  /** Declared in the user's files. A project's servers don't change what the user's rules mean. */
  readonly users: readonly string[];
  readonly all: readonly string[];
}

const PREFIX = /^mcp__/i;

export interface Rule {
  /** As written. */
  readonly text: string;
  /** It applies to everything the server has. */
  readonly isWhole: boolean;
  /** It's about names, which prompts and resources may also have. */
  readonly isByName: boolean;
  /** Undefined if that depends on the tool's annotations, and they aren't known. */
  readonly matches: (target: RuleTarget) => boolean | undefined;
}

/** One way to read a rule. Without `tool` and `group`, it's about the whole server. */
interface Meaning {
  /** A name, or a pattern. */
  readonly server: string;
  readonly isName: boolean;
  readonly tool?: string | undefined;
  readonly group?: string | undefined;
}

export type Names = readonly (readonly string[])[];
type Form = (text: string) => string;

/** A rule of deny or ask for a server with these names; undefined if it isn't about the server. */
export function restricting(
  text: string,
  known: Names,
  servers: readonly string[],
): Rule | undefined {
  const names = servers.map(foldName);
  const meanings = meaningsOf(text, known, foldName).filter((meaning) =>
    names.some((name) => isAbout(meaning, name)),
  );
  const pattern = text.includes('*') ? foldName(withoutPrefix(text)) : undefined;
  if (meanings.length === 0 && pattern === undefined) return undefined;
  const isWildMatch = (tool: string): boolean =>
    pattern !== undefined && names.some((name) => matchesPattern(`${name}__${tool}`, pattern));
  const matches = (target: RuleTarget): boolean | undefined => {
    const forms = looseFormsOf(target).map(foldName);
    if (forms.some(isWildMatch)) return true;
    const results = new Set(
      meanings.flatMap((meaning) => forms.map((form) => isMeant(meaning, form, target.hints))),
    );
    if (results.has(true)) return true;
    return results.has(undefined) ? undefined : false;
  };
  const isByName = pattern !== undefined || meanings.some(({ tool }) => tool !== undefined);
  return { text, isWhole: meanings.some(isWhole), isByName, matches };
}

/** The same for allow: exact names, and only one meaning. */
export function permitting(
  text: string,
  [first = [], all = first]: Names,
  server: string,
): Rule | undefined {
  const meaning = readExactly(text, { users: first, all });
  if (!isAbout(meaning, server)) return undefined;
  const matches = (target: RuleTarget): boolean | undefined => {
    const results = new Set(formsOf(target).map((form) => isMeant(meaning, form, target.hints)));
    if (results.has(false)) return false;
    return results.has(undefined) ? undefined : true;
  };
  return { text, isWhole: isWhole(meaning), isByName: meaning.tool !== undefined, matches };
}

/** A URI can be written in several ways, of which a server may understand all. */
function formsOf({ kind, name }: RuleTarget): string[] {
  if (kind !== 'resource') return [name];
  const decoded = decode(name);
  return [
    ...new Set([name, decoded, normalize(name), decode(normalize(name)), normalize(decoded)]),
  ];
}

/** Also without spaces, query and fragment, and the slashes at its end, which some servers ignore. */
function looseFormsOf(target: RuleTarget): string[] {
  const forms = formsOf(target);
  if (target.kind !== 'resource') return forms;
  const bare = forms.flatMap((form) => {
    const plain = form.replaceAll(/\s/g, '');
    const path = plain.replace(/[?#].*$/, '');
    return [plain, path, path.replace(/\/+$/, '')];
  });
  return [...new Set([...forms, ...bare])];
}

function decode(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri; // it has a lone percent sign
  }
}

/** Without dot segments. */
function normalize(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri;
}

/** A name the user declared takes precedence over others. A server may be named "mcp". */
export function readExactly(text: string, { users, all }: ServerNames): Meaning {
  const plain = withoutPrefix(text);
  const readings = [users, all].flatMap((names) => [
    readRule(plain, names, asWritten),
    readRule(text, names, asWritten),
  ]);
  return readings.find(({ isName }) => isName) ?? readRule(plain, [], asWritten);
}

export function meaningsOf(text: string, known: Names, form: Form): [Meaning, ...Meaning[]] {
  const plain = withoutPrefix(text);
  const texts = plain === text ? [text] : [plain, text];
  const meanings = known.flatMap((names) => texts.map((each) => readRule(each, names, form)));
  // If any reading names a server, the others are accidents.
  const named = meanings.filter(({ isName }) => isName);
  const [first = readRule(plain, [], form), ...others] = named.length > 0 ? named : meanings;
  return [first, ...others];
}

export const asWritten: Form = (text) => text;

export function withoutPrefix(text: string): string {
  return text.replace(PREFIX, '');
}

/** The longest name that fits is the server's; without one, the part before the first `__`. */
function readRule(text: string, names: readonly string[], form: Form): Meaning {
  const rule = form(text);
  if (rule.startsWith('@')) return { server: '*', isName: false, ...readTool(rule) };
  const fitting = names
    .map(form)
    .filter((name) => rule === name || rule.startsWith(`${name}__`))
    .sort((a, b) => b.length - a.length);
  const [name] = fitting;
  if (name !== undefined) {
    return { server: name, isName: true, ...readTool(rule.slice(name.length + 2)) };
  }
  const at = rule.indexOf('__');
  if (at === -1) return { server: rule, isName: false };
  return { server: rule.slice(0, at), isName: false, ...readTool(rule.slice(at + 2)) };
}

function readTool(text: string): Pick<Meaning, 'tool' | 'group'> {
  if (text === '' || text === '*') return {};
  return text.startsWith('@') ? { group: text.slice(1) } : { tool: text };
}

function isWhole({ tool, group }: Meaning): boolean {
  return tool === undefined && group === undefined;
}

export function isAbout({ server, isName }: Meaning, name: string): boolean {
  return isName ? server === name : matchesPattern(name, server);
}

export function isMeant(
  { tool, group }: Meaning,
  name: string,
  hints: RuleHints | undefined,
): boolean | undefined {
  if (tool !== undefined) return matchesPattern(name, tool);
  if (group === undefined) return true;
  const test = Object.hasOwn(GROUPS, group) ? GROUPS[group] : () => false;
  return hints && test?.(hints);
}

/** As MCP defines annotations: a tool that doesn't say otherwise writes, destroys and reaches out. */
export const GROUPS: Readonly<Record<string, (hints: RuleHints) => boolean>> = {
  read: onlyReads,
  write: (hints) => !onlyReads(hints),
  destructive: (hints) => !onlyReads(hints) && hints.destructiveHint !== false,
  open: ({ openWorldHint }) => openWorldHint !== false,
};
export const GROUP_NAMES = Object.keys(GROUPS).map((name) => `@${name}`);

export function onlyReads({ readOnlyHint, destructiveHint }: RuleHints): boolean {
  return readOnlyHint === true && destructiveHint !== true;
}
