// Everything that restricts servers, across all files: permissions, `readOnly`, and what the user's own files say.
// Loaded only if a file restricts something.

import { fullLayers, type Layer } from '../files/layers.ts';
import type { Folders } from '../files/places.ts';
import type { PermissionRules, ServerRules } from '../permission-rules.ts';
import type { Declaration } from '../server/command.ts';
import { Permissions } from '../server/permissions.ts';
import type { LaunchPlace } from '../server/same-server.ts';
import { findReadOnly } from './restrictions.ts';
import { type UsersBinding, UsersRules } from './users-rules.ts';

interface RulingParts extends LaunchPlace, Folders, Pick<PermissionRules, 'usersFile'> {
  readonly layers: readonly Layer[];
  readonly isUsersFile: (file: string) => boolean;
  /** The servers the user's files declare. */
  readonly usersServers: ReadonlyMap<string, Declaration>;
}

interface Settled extends Pick<UsersBinding, 'expose' | 'offBecause' | 'environment'> {
  readonly rules: ServerRules | undefined;
}

export class Ruling {
  readonly permissions: PermissionRules;
  readonly warnings: readonly string[];
  readonly #layers: readonly Layer[];
  readonly #users: UsersRules;

  constructor(parts: RulingParts, declarations: ReadonlyMap<string, Declaration>) {
    const { layers, isUsersFile, usersServers } = parts;
    this.#layers = layers;
    this.#users = new UsersRules({
      ...parts,
      layers: layers.filter(({ file }) => isUsersFile(file)),
      declarations: usersServers,
    });
    const files = layers.flatMap(({ file, config: { permissions } }) =>
      permissions ? [{ file, isUsers: isUsersFile(file), ...permissions }] : [],
    );
    const names = { users: [...usersServers.keys()], all: [...declarations.keys()] };
    const permissions = new Permissions(files, names, parts);
    this.permissions = permissions;
    this.warnings = permissions.warnings;
  }

  /** What applies to a server besides its own keys. */
  settle(name: string, declaration: Declaration): Settled {
    const { aliases, isReplaced, ...bound } = this.#users.bindingOf(name, declaration);
    const readOnlyIn =
      bound.readOnlyIn ??
      findReadOnly(name, declaration, declaration.trust ? fullLayers(this.#layers) : this.#layers);
    const rules = this.permissions.rulesFor({ name, aliases, isReplaced, readOnlyIn });
    return { ...bound, rules };
  }
}
