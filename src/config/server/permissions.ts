// The rules under `permissions`, in Claude Code's words: `server`, `server__tool`, `server__@read`, with or without
// `mcp__` in front. Each file decides for itself: deny, then ask, then allow, then its default. The strictest decision
// counts, so no file can loosen another one.
//
// Rules that restrict (deny, ask) are read generously: they ignore case and separators, and also apply to a server
// with the same command or address. Rules that permit (allow, and `!` under ask) are read exactly.
import { didYouMean } from '../../base/text.ts';
import type {
  Permission,
  PermissionDecision,
  PermissionRules,
  RuledServer,
  RuleHints,
  RuleTarget,
  ServerRules,
} from '../config.ts';
import { foldName, isTooLong, matchesPattern } from './expose.ts';

/** The `permissions` of one file. */
export interface PermissionsFile {
  readonly file: string;
  /** The user's own file. */
  readonly isUsers: boolean;
  readonly default?: Permission | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly ask?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export interface ServerNames {
  /** Declared in the user's files. A project's servers don't change what the user's rules mean. */
  readonly users: readonly string[];
  readonly all: readonly string[];
}

const PREFIX = /^mcp__/i;

export class Permissions implements PermissionRules {
  readonly usersFile: string;
  readonly home: string;
  readonly #files: readonly PermissionsFile[];
  readonly #names: ServerNames;

  constructor(
    files: readonly PermissionsFile[],
    names: ServerNames,
    { usersFile, home }: Pick<PermissionRules, 'usersFile' | 'home'>,
  ) {
    this.usersFile = usersFile;
    this.home = home;
    this.#files = files;
    this.#names = names;
  }

  rulesFor(server: RuledServer): ServerRules | undefined {
    const { name, aliases = [], isReplaced = false, readOnlyIn } = server;
    const servers = [name, ...aliases];
    const permit = (file: PermissionsFile, texts: readonly string[]): Rule[] =>
      texts.flatMap((text) => permitting(text, this.#knownTo(file, name), name) ?? []);
    const answered = this.#files
      .filter(({ isUsers }) => isUsers && !isReplaced)
      .flatMap((file) => permit(file, exemptionsIn(file)));
    const files = this.#files.map((file): FileRules => {
      const { allow = [], ask = [], deny = [], isUsers } = file;
      const restrict = (texts: readonly string[]): Rule[] =>
        texts.flatMap((text) => restricting(text, this.#knownTo(file, name), servers) ?? []);
      return {
        file: file.file,
        default: file.default ?? 'allow',
        deny: restrict(deny),
        ask: restrict(ask.filter((text) => !isExemption(text))),
        exempt: [...answered, ...(isUsers ? [] : permit(file, exemptionsIn(file)))],
        allow: isUsers && isReplaced ? [] : permit(file, allow),
      };
    });
    const rules = files.filter((file) => file.default !== 'allow' || isRestricting(file));
    if (rules.length === 0 && readOnlyIn === undefined) return undefined;
    return new RulesOfServer(rules, readOnlyIn);
  }

  exactRule(server: string, target: string): string | undefined {
    const text = `${server}__${target}`;
    if (/[*]|^[@!]/.test(text) || target === '' || target.startsWith('@')) return undefined;
    const { users, all } = this.#names;
    const { server: meant, tool } = readExactly(text, { users, all: [...all, server] });
    return meant === server && tool === target ? text : undefined;
  }

  /** Sentences about rules for servers and groups that don't exist. */
  get warnings(): string[] {
    const { all } = this.#names;
    return this.#written().flatMap(({ where, text, form, meanings }) => {
      const [{ group }] = meanings;
      if (group !== undefined && !Object.hasOwn(GROUPS, group)) {
        const hint =
          didYouMean(`@${group}`, GROUP_NAMES) || `Use one of: ${GROUP_NAMES.join(', ')}.`;
        return [`${where}: unknown group of tools. ${hint}`];
      }
      const isKnown = meanings.some((one) => all.some((name) => isAbout(one, form(name))));
      if (isKnown || all.length === 0) return [];
      const [first = ''] = withoutPrefix(text).split('__');
      return [`${where} matches no server. ${didYouMean(first, all)}`.trimEnd()];
    });
  }

  unmatched(listed: ReadonlyMap<string, readonly string[]>): string[] {
    const { all } = this.#names;
    return this.#written().flatMap(({ where, text, form, meanings }) => {
      if (meanings.some(({ tool }) => tool === undefined)) return [];
      const about = all.filter((name) => meanings.some((one) => isAbout(one, form(name))));
      const known = about.filter((name) => listed.has(name));
      // A server whose names aren't known may have it.
      if (about.length === 0 || known.length < about.length) return [];
      const qualified = known.flatMap((server) =>
        (listed.get(server) ?? []).map((name) => ({ server, name })),
      );
      const isListed = qualified.some(({ server, name }) =>
        meanings.some((one) => isAbout(one, form(server)) && isMeant(one, form(name), undefined)),
      );
      if (isListed) return [];
      const names = qualified.map(({ server, name }) => `${server}__${name}`);
      const hint = didYouMean(withoutPrefix(text), names);
      return [`${where} matches no tool, prompt or resource. ${hint}`.trimEnd()];
    });
  }

  /** The names that decide where the server's name ends in a rule of this file. */
  #knownTo({ isUsers }: PermissionsFile, name: string): Names {
    const { users, all } = this.#names;
    const everything = all.includes(name) ? all : [...all, name];
    if (!isUsers) return [everything];
    // Another server that a project declares must not change what a rule means for this one.
    return users.includes(name) ? [users, everything] : [users, everything, [name]];
  }

  /** All rules, with their place and how their names are compared. */
  #written() {
    return this.#files.flatMap(({ file, ...lists }) =>
      LISTS.flatMap((list) =>
        (lists[list] ?? []).map((written) => {
          const isExempt = list === 'ask' && isExemption(written);
          const text = isExempt ? written.slice(1) : written;
          const isExact = isExempt || list === 'allow';
          return {
            where: `${file}: permissions.${list}: ${JSON.stringify(written)}`,
            text,
            form: isExact ? asWritten : foldName,
            meanings: isExact
              ? ([readExactly(text, this.#names)] as const)
              : meaningsOf(text, [this.#names.all], foldName),
          };
        }),
      ),
    );
  }
}

const LISTS = ['deny', 'ask', 'allow'] as const;

/** `!server__tool` under `ask`: the user's answer "always". */
function isExemption(text: string): boolean {
  return text.startsWith('!');
}

function exemptionsIn({ ask = [] }: PermissionsFile): string[] {
  return ask.filter(isExemption).map((text) => text.slice(1));
}

/** The rules of one file that apply to one server. */
interface FileRules {
  readonly file: string;
  readonly default: Permission;
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  /** Takes targets out of `ask`, whether a rule or the default asks. */
  readonly exempt: readonly Rule[];
  readonly allow: readonly Rule[];
}

function isRestricting({ deny, ask }: FileRules): boolean {
  return deny.length > 0 || ask.length > 0;
}

interface Rule {
  /** As written. */
  readonly text: string;
  /** It applies to everything the server has. */
  readonly isWhole: boolean;
  /** It's about names, which prompts and resources may also have. */
  readonly isByName: boolean;
  /** Undefined if that depends on the tool's annotations, and they aren't known. */
  readonly matches: (target: RuleTarget) => boolean | undefined;
}

class RulesOfServer implements ServerRules {
  readonly refusal: PermissionDecision | undefined;
  readonly readOnlyIn: string | undefined;
  readonly coversLibrary: boolean;
  readonly #files: readonly FileRules[];

  constructor(files: readonly FileRules[], readOnlyIn: string | undefined) {
    this.#files = files;
    this.readOnlyIn = readOnlyIn;
    this.refusal = files.map(refusalIn).find((refusal) => refusal !== undefined);
    this.coversLibrary = files.some(coversLibrary);
  }

  decide(target: RuleTarget): PermissionDecision | undefined {
    if (isTooLong(target.name)) return TOO_LONG;
    const complete = target.kind === 'tool' ? target : { ...target, hints: READS };
    const decisions = [
      ...(this.readOnlyIn === undefined ? [] : [decideReadOnly(this.readOnlyIn, complete)]),
      ...this.#files.map((rules) => decideIn(rules, complete)),
    ];
    const denied = decisions.find((decision) => decision?.permission === 'deny');
    if (denied) return denied;
    if (decisions.includes(undefined)) return undefined;
    const made = decisions.filter((decision) => decision !== undefined);
    const asked = made.find(({ permission }) => permission === 'ask');
    return asked ?? made.find(({ rule }) => rule !== undefined) ?? made[0] ?? BY_DEFAULT;
  }

  forAssistant(): ServerRules | undefined {
    if (!this.refusal) return undefined;
    const { refusal } = this;
    return {
      refusal,
      readOnlyIn: undefined,
      coversLibrary: true,
      decide: () => refusal,
      forAssistant: () => this,
    };
  }

  toJSON(): unknown {
    const texts = (rules: readonly Rule[]) => rules.map(({ text }) => text);
    const files = this.#files.map(({ file, default: usual, deny, ask, exempt, allow }) => ({
      file,
      default: usual,
      deny: texts(deny),
      ask: [...texts(ask), ...texts(exempt).map((text) => `!${text}`)],
      allow: texts(allow),
    }));
    return { files, ...(this.readOnlyIn !== undefined && { readOnly: this.readOnlyIn }) };
  }
}

const TOO_LONG: PermissionDecision = {
  permission: 'deny',
  by: 'deny',
  because: 'its name is too long',
};

const BY_DEFAULT = decision('allow', 'default', undefined, undefined);

function decision(
  permission: Permission,
  by: PermissionDecision['by'],
  file: string | undefined,
  rule?: string,
): PermissionDecision {
  const key = by === 'readOnly' ? by : `permissions.${by}`;
  const place = file === undefined ? '' : ` in ${file}`;
  const because = `${key}${rule === undefined ? '' : ` ${JSON.stringify(rule)}`}${place}`;
  return { permission, by, because, ...(rule !== undefined && { rule }), ...(file && { file }) };
}

/** Prompts and resources only read. */
const READS: RuleHints = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

/** Names nothing: only rules for all that is read match it. */
const ANY_RESOURCE: RuleTarget = { kind: 'resource', name: '', hints: READS };

/** Whether a file may restrict something that is neither a tool nor known by name yet. */
function coversLibrary({ default: usual, deny, ask, allow }: FileRules): boolean {
  const restrictions = [...deny, ...ask];
  if (restrictions.some((rule) => rule.isByName || rule.matches(ANY_RESOURCE))) return true;
  return usual !== 'allow' && !allow.some((rule) => !rule.isByName && rule.matches(ANY_RESOURCE));
}

/** Why a file permits nothing at all. */
function refusalIn({ file, default: usual, deny, ask, exempt, allow }: FileRules) {
  const whole = deny.find(({ isWhole }) => isWhole);
  if (whole) return decision('deny', 'deny', file, whole.text);
  const isSome = ask.length > 0 || allow.length > 0 || exempt.length > 0;
  return usual === 'deny' && !isSome ? decision('deny', 'default', file) : undefined;
}

function decideReadOnly(file: string, { hints }: RuleTarget): PermissionDecision | undefined {
  if (!hints) return undefined;
  return decision(onlyReads(hints) ? 'allow' : 'deny', 'readOnly', file);
}

/** Undefined if annotations are needed. */
function decideIn(rules: FileRules, target: RuleTarget): PermissionDecision | undefined {
  const { file, default: usual } = rules;
  const denied = findRule(rules.deny, target);
  if (denied === 'unknown') return undefined;
  if (denied) return decision('deny', 'deny', file, denied.text);
  const exempt = findRule(rules.exempt, target);
  const asked = findRule(rules.ask, target);
  if (exempt === 'unknown' || asked === 'unknown') return undefined;
  if (asked && !exempt) return decision('ask', 'ask', file, asked.text);
  const allowed = findRule(rules.allow, target);
  if (allowed === 'unknown') return undefined;
  if (allowed) return decision('allow', 'allow', file, allowed.text);
  if (usual === 'ask' && exempt) return decision('allow', 'ask', file, `!${exempt.text}`);
  return decision(usual, 'default', file);
}

/** `unknown` if a rule may match, depending on annotations. */
function findRule(rules: readonly Rule[], target: RuleTarget): Rule | 'unknown' | undefined {
  let isOpen = false;
  for (const rule of rules) {
    const isMatch = rule.matches(target);
    if (isMatch) return rule;
    isOpen ||= isMatch === undefined;
  }
  return isOpen ? 'unknown' : undefined;
}

/** One way to read a rule. Without `tool` and `group`, it's about the whole server. */
interface Meaning {
  /** A name, or a pattern. */
  readonly server: string;
  readonly isName: boolean;
  readonly tool?: string | undefined;
  readonly group?: string | undefined;
}

type Names = readonly (readonly string[])[];
type Form = (text: string) => string;

/** A rule of deny or ask for a server with these names; undefined if it isn't about the server. */
function restricting(text: string, known: Names, servers: readonly string[]): Rule | undefined {
  const names = servers.map(foldName);
  const meanings = meaningsOf(text, known, foldName).filter((meaning) =>
    names.some((name) => isAbout(meaning, name)),
  );
  const pattern = text.includes('*') ? foldName(withoutPrefix(text)) : undefined;
  if (meanings.length === 0 && pattern === undefined) return undefined;
  const isWildMatch = (tool: string): boolean =>
    pattern !== undefined && names.some((name) => matchesPattern(`${name}__${tool}`, pattern));
  const matches = (target: RuleTarget): boolean | undefined => {
    const forms = formsOf(target).map(foldName);
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
function permitting(
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
function readExactly(text: string, { users, all }: ServerNames): Meaning {
  const plain = withoutPrefix(text);
  const readings = [users, all].flatMap((names) => [
    readRule(plain, names, asWritten),
    readRule(text, names, asWritten),
  ]);
  return readings.find(({ isName }) => isName) ?? readRule(plain, [], asWritten);
}

function meaningsOf(text: string, known: Names, form: Form): [Meaning, ...Meaning[]] {
  const plain = withoutPrefix(text);
  const texts = plain === text ? [text] : [plain, text];
  const meanings = known.flatMap((names) => texts.map((each) => readRule(each, names, form)));
  // If any reading names a server, the others are accidents.
  const named = meanings.filter(({ isName }) => isName);
  const [first = readRule(plain, [], form), ...others] = named.length > 0 ? named : meanings;
  return [first, ...others];
}

const asWritten: Form = (text) => text;

function withoutPrefix(text: string): string {
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

function isAbout({ server, isName }: Meaning, name: string): boolean {
  return isName ? server === name : matchesPattern(name, server);
}

function isMeant(
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
const GROUPS: Readonly<Record<string, (hints: RuleHints) => boolean>> = {
  read: onlyReads,
  write: (hints) => !onlyReads(hints),
  destructive: (hints) => !onlyReads(hints) && hints.destructiveHint !== false,
  open: ({ openWorldHint }) => openWorldHint !== false,
};
const GROUP_NAMES = Object.keys(GROUPS).map((name) => `@${name}`);

function onlyReads({ readOnlyHint, destructiveHint }: RuleHints): boolean {
  return readOnlyHint === true && destructiveHint !== true;
}
