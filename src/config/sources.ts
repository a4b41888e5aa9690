// Everything the servers are resolved from.
import type { FoundChild } from './files/child-files.ts';
import type { Gate } from './files/gate.ts';
import type { Layer } from './files/layers.ts';
import type { ServersLayer } from './files/servers-file.ts';
import type { Declaration } from './server/command.ts';
import type { DerivedDescriptions } from './server/derived-descriptions.ts';
import type { DescriptionsLayer } from './server/descriptions.ts';
import type { UsersServers } from './server/users-servers.ts';
import type { GeneralSettings } from './settings/general.ts';
import type { Ruling } from './settings/ruling.ts';

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
