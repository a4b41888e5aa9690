// The rules under `permissions`, in Claude Code's words: `server`, `server__tool`, `server__@read`, with or without
// `mcp__` in front. Each file decides for itself: deny, then ask, then allow, then its default. The strictest decision
// counts, so no file can relax another one.
//
// Rules that restrict (deny, ask) are read generously: they ignore case and separators, and also apply to a server
// with the same command or address. Rules that permit (allow, and `!` under ask) are read exactly.
import { didYouMean } from '../../base/text.ts';
import type { Permission, PermissionRules, RuledServer, ServerRules } from '../permission-rules.ts';
import { foldName } from './expose.ts';
import {
  asWritten,
  GROUP_NAMES,
  GROUPS,
  isAbout,
  isMeant,
  meaningsOf,
  type Names,
  permitting,
  type Rule,
  readExactly,
  restricting,
  type ServerNames,
  withoutPrefix,
} from './permission-rule.ts';
import { type FileRules, RulesOfServer } from './server-rules.ts';

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
        return [`${where}: unknown tool group. ${hint}`];
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

function isRestricting({ deny, ask }: FileRules): boolean {
  return deny.length > 0 || ask.length > 0;
}
