// The user's restrictions stick: what the user's own files hide, turn off or limit to reading, no project can bring
// back. They bind a server by its name and, unless the user declared it, by its command or address. Loaded only if a
// file has permissions or restricts a server.

import { type Layer, suiteOf } from '../files/layers.ts';
import type { Folders } from '../files/places.ts';
import type { RuledServer } from '../permission-rules.ts';
import type { SuiteKeys } from '../schema/schema.ts';
import { formatPath } from '../schema/wording.ts';
import { type Declaration, resolveCommand } from '../server/command.ts';
import { resolveCwd } from '../server/cwd.ts';
import { type LaunchPlace, launchKey } from '../server/same-server.ts';
import { exposeIn, findReadOnly } from './restrictions.ts';

interface UsersRulesParts extends LaunchPlace, Folders {
  readonly isUsersFile: (file: string) => boolean;
  /** The user's main files, highest precedence first. */
  readonly layers: readonly Layer[];
  /** The servers the user's files declare, highest precedence first. */
  readonly declarations: ReadonlyMap<string, Declaration>;
}

/** What the user's files say about a server. */
export interface UsersBinding extends Pick<RuledServer, 'aliases' | 'isReplaced'> {
  readonly expose: readonly NonNullable<SuiteKeys['expose']>[];
  /** The file that makes it read-only. */
  readonly readOnlyIn: string | undefined;
  /** The key that turns it off. */
  readonly offBecause: string | undefined;
  /** Undefined unless the environment is minimal. */
  readonly environment: 'minimal' | undefined;
}

export class UsersRules {
  readonly #parts: UsersRulesParts;
  #keys: ReadonlyMap<string, string | undefined> | undefined;

  constructor(parts: UsersRulesParts) {
    this.#parts = parts;
  }

  bindingOf(name: string, declaration: Declaration): UsersBinding {
    const { layers, declarations } = this.#parts;
    const isOwn = this.#parts.isUsersFile(declaration.origin);
    const key = isOwn ? undefined : this.#keyOf(declaration);
    const alike = isOwn || key === undefined ? [] : this.#namesOf(key);
    const aliases = alike.filter((other) => other !== name);
    const named = declarations.get(name);
    const isReplaced = !isOwn && named !== undefined && !alike.includes(name);
    const bound = [name, ...aliases].map((each) => ({ name: each, by: declarations.get(each) }));
    const readOnly = bound.map((one) => findReadOnly(one.name, one.by, layers));
    const off = bound.map((one) => this.#offBecause(one.name, one.by));
    return {
      aliases,
      isReplaced,
      expose: bound.flatMap((one) => exposeIn(one.name, one.by, layers)),
      readOnlyIn: readOnly.find((file) => file !== undefined),
      offBecause: off.find((because) => because !== undefined),
      environment: bound.some((one) => this.#isMinimal(one.name, one.by)) ? 'minimal' : undefined,
    };
  }

  #isMinimal(name: string, declaration: Declaration | undefined): boolean {
    const { layers } = this.#parts;
    const keys = [
      ...layers.map(({ config }) => suiteOf(config, name).environment),
      declaration?.entry.environment,
      ...layers.map(({ config }) => config.environment),
    ];
    return keys.find((value) => value !== undefined) === 'minimal';
  }

  #offBecause(name: string, declaration: Declaration | undefined): string | undefined {
    for (const { file, config } of this.#parts.layers) {
      const { show } = suiteOf(config, name);
      if (show !== undefined)
        return show === 'off' ? `${formatPath(['suites', name, 'show'])} in ${file}` : undefined;
    }
    if (!declaration) return undefined;
    const { entry, origin } = declaration;
    if (entry.disabled === true) return `"disabled": true in ${origin}`;
    return entry.show === 'off' ? `"show" in ${origin}` : undefined;
  }

  /** The user's servers with this key. */
  #namesOf(key: string): string[] {
    this.#keys ??= new Map(
      [...this.#parts.declarations].map(([name, declaration]) => [name, this.#keyOf(declaration)]),
    );
    return [...this.#keys].filter(([, other]) => other === key).map(([name]) => name);
  }

  #keyOf(declaration: Declaration): string | undefined {
    const { entry } = declaration;
    const cwd = resolveCwd(declaration, this.#parts);
    const command = resolveCommand(declaration, cwd);
    const launched = { cmd: command?.cmd, args: command?.args ?? [], url: entry.url, cwd };
    return launchKey(launched, this.#parts);
  }
}
