// A server behind another Switchboard. Engines let their models read a server's prompts and resources directly, and
// call its tools without anyone in between. So if rules restrict those, or hooks have to run, the engine gets a
// Switchboard with only this server, where everything applies as it does for hosts.
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import {
  type ChildConfig,
  type Command,
  type Config,
  type Expose,
  type HookSettings,
  isOff,
} from '../../config/config.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { type RuledServer } from '../../config/permission-rules.ts';
import { declareServer } from '../../config/server/declare.ts';
import { withoutVariables } from '../../config/server/expand.ts';
import { isPackageRunner } from '../../config/server/runners.ts';
import { hookFor } from '../../trust/hooks/match.ts';
import type { AttachedServer } from '../engine.ts';
import type { Candidate } from './candidate.ts';

/** Holds the server as JSON: its variables may be secrets, so it isn't an argument. */
export const GUARDED_SERVER = 'SWITCHBOARD_GUARDED_SERVER';

/** The command that starts this program again, with the same configuration files. */
export type Relaunch = (words: readonly string[]) => Pick<Command, 'cmd' | 'args'>;

/** How to start a server, with variables expanded, and which rules apply to it. */
export interface GuardedServer
  extends Pick<AttachedServer, 'cmd' | 'args' | 'env' | 'cwd' | 'url' | 'headers'> {
  /** As its own configuration or the agent names it. */
  readonly name: string;
  readonly origin: string;
  /** Whether Switchboard's configuration has it under that name. */
  readonly isOwn: boolean;
  readonly ruled: RuledServer;
  readonly expose: Expose;
}

export function needsGuard({ key, rules }: Candidate, hooks: HookSettings | undefined): boolean {
  return rules?.coversLibrary === true || hookFor(hooks, key) !== undefined;
}

export interface GuardOptions {
  readonly relaunch: Relaunch | undefined;
  readonly project: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Throws if there is no program to put in front of it. */
export function guardServer(
  attached: AttachedServer,
  { key: name, origin, isOwn, ruled = { name }, expose }: Candidate,
  { relaunch, project, home, env }: GuardOptions,
): AttachedServer {
  if (!relaunch) {
    throw new SwitchboardError(
      'TOOL_NOT_ALLOWED',
      'Permissions or hooks apply to it, which the engine would bypass.',
    );
  }
  const { cmd, args, cwd, url, headers, startupTimeoutSec } = attached;
  const own = { ...attached.inherited, ...attached.env };
  const guarded: GuardedServer = {
    name,
    origin,
    isOwn,
    cmd,
    args,
    env: own,
    cwd,
    url,
    headers,
    ruled,
    expose,
  };
  const isDownload = cmd !== undefined && isPackageRunner({ cmd, args, env: own });
  const { SWITCHBOARD_TRUST: trust } = env;
  return {
    ...attached,
    ...relaunch(['agent-server']),
    env: {
      [GUARDED_SERVER]: JSON.stringify(guarded),
      WORKSPACE_DIR: project,
      SWITCHBOARD_HOME: home,
      ...(trust && { SWITCHBOARD_TRUST: trust }),
    },
    url: undefined,
    headers: {},
    inherited: undefined,
    startupTimeoutSec: startupTimeoutSec ?? (isDownload ? DOWNLOAD_SECONDS : undefined),
  };
}

const DOWNLOAD_SECONDS = 60;

export function parseGuarded(text: string | undefined): GuardedServer {
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  if (isObject(value)) return value as unknown as GuardedServer; // we wrote it
  throw new SwitchboardError('USAGE', 'This command is started by Switchboard itself.', {
    hint: 'To serve one server, run: switchboard assistant serve --tools NAME',
  });
}

/** The server for the Switchboard in front of it. `folder`: where the agent works. */
export function guardedChild(guarded: GuardedServer, config: Config, folder: string): ChildConfig {
  const { name, origin, isOwn, ruled, expose, cmd, args, env, url, headers } = guarded;
  const command = cmd === undefined ? undefined : literally({ cmd, args, env });
  const launch = {
    command,
    remote:
      command || url === undefined
        ? undefined
        : { type: 'http' as const, url: withoutVariables(url), headers: mapLiterally(headers) },
    cwd: guarded.cwd ?? folder,
    // The command has it already.
    sandbox: undefined,
  };
  const shown = { show: 'direct', wrapResults: 'mcp', assistant: undefined } as const;
  if (isOwn) {
    const own = config.children.get(name);
    const server = own?.behind ?? own;
    if (!server || isOff(server) || server.problem) throw unavailable(name);
    return { ...server, ...launch, ...shown };
  }
  const rules = config.permissions?.rulesFor(ruled);
  const timeouts = {
    spawnMs: DEFAULTS.timeouts.childSpawnMs,
    rpcMs: DEFAULTS.timeouts.rpcMs,
    stopMs: config.stopMs,
  };
  const { toolChanges } = config;
  const declared = declareServer({ name, origin, toolChanges, ...launch, timeouts });
  return { ...declared, ...shown, expose, ...(rules && { rules }) };
}

function unavailable(name: string): SwitchboardError {
  return new SwitchboardError('CHILD_UNKNOWN', `Server "${name}" is no longer available.`);
}

/** The values are expanded already. */
function literally({ cmd, args, env }: Command): Command {
  return { cmd: withoutVariables(cmd), args: args.map(withoutVariables), env: mapLiterally(env) };
}

function mapLiterally(values: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(values).map(([key, value]) => [key, withoutVariables(value)]);
  return Object.fromEntries(entries) as Record<string, string>;
}
