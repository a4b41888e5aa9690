// A server ready to start: variables expanded, and the nesting depth set for nested Switchboard processes.
// Done as late as possible, so that a missing variable affects only this server.
import { basename, resolve } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { parseAddress } from '../../child/remote/address.ts';
import { commandSecrets, filledIn } from '../../child/secrets.ts';
import type { ChildConfig, Remote, ToolChanges } from '../../config/config.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { expandHome } from '../../config/files/globs.ts';
import { declareServer } from '../../config/server/declare.ts';
import {
  expandCommand,
  expanderFor,
  expandRemote,
  withoutVariables,
} from '../../config/server/expand.ts';
import { isSelf } from '../../config/server/self.ts';
import type { AgentServer } from '../agent.ts';
import type { AttachedServer } from '../engine.ts';
import type { ServerFolders } from './candidate.ts';

export interface ServerStartOptions extends ServerFolders {
  readonly env: NodeJS.ProcessEnv;
  /** Set for every server; overrides its own. */
  readonly environment: Readonly<Record<string, string>>;
  /** For servers that aren't Switchboard's own. */
  readonly toolChanges?: ToolChanges;
}

export interface AttachOptions extends ServerStartOptions {
  /** Set for a server that is Switchboard itself, unless its own override it. */
  readonly selfEnvironment: Readonly<Record<string, string>>;
  /** This program's real path, if known. */
  readonly program: string | undefined;
}

/** A server that only listed its tools has no work to finish, and not all react to EOF. */
const STOP_MS = 500;

/** Throws if the server can't be started as configured. */
export function attachServer(
  server: AgentServer,
  enabledTools: readonly string[] | undefined,
  options: AttachOptions,
): AttachedServer {
  const child = asChild(server, options);
  const command = child.command && expandCommand(child, options.env);
  const remote = child.remote && expandRemote(child, options.env);
  const cwd = server.cwd === undefined ? undefined : child.cwd;
  const isOurs = command && isSelf({ key: server.key, ...command, cwd }, options.program);
  return {
    key: server.key,
    cmd: command?.cmd,
    args: command?.args ?? [],
    env: command?.env ?? {},
    cwd,
    url: remote?.url,
    headers: remote?.headers ?? {},
    enabledTools,
    startupTimeoutSec: server.startupTimeoutSec,
    toolTimeoutSec: server.toolTimeoutSec,
    isRequired: server.isRequired,
    inherited: isOurs ? options.selfEnvironment : undefined,
    secrets: [
      ...(command ? commandSecrets(child, command, options.env) : []),
      ...(remote ? addressSecrets(child, remote, options.env) : []),
    ].filter((secret) => secret !== ''),
  };
}

/** The values to mask for a server, even if it isn't attached in the end. */
export function serverSecrets(server: AgentServer, options: AttachOptions): readonly string[] {
  try {
    return attachServer(server, undefined, options).secrets;
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    return []; // it can't be started, so no variable was expanded
  }
}

/** Configured values, and the values of expanded variables wherever they are. */
function addressSecrets(child: ChildConfig, remote: Remote, env: NodeJS.ProcessEnv): string[] {
  try {
    return [...parseAddress(child, remote, env).secrets];
  } catch {
    // An invalid URL. The error about it may quote all of it.
    return [
      remote.url,
      ...filledIn(child.remote?.url ?? '', env),
      ...Object.values(remote.headers),
    ];
  }
}

/** The server for us to start, with its folder resolved; other variables are expanded on start. */
export function asChild(
  server: AgentServer,
  { project, homeFolder, env, environment, toolChanges }: ServerStartOptions,
  limitMs: number = DEFAULTS.timeouts.rpcMs,
): ChildConfig {
  const { key: name, origin, args, headers } = server;
  const prepare = (text: string) =>
    refusePrompt(fillFolders(text, { project, homeFolder }), server);
  const expand = expanderFor({ name, origin }, env);
  const cwd = expand(prepare(server.cwd ?? ''), 'cwd');
  return declareServer({
    name,
    origin,
    ...(toolChanges && { toolChanges }),
    command:
      server.cmd === undefined
        ? undefined
        : {
            cmd: prepare(server.cmd),
            args: args.map(prepare),
            env: { ...mapValues(server.env, prepare), ...environment },
          },
    remote:
      server.url === undefined || server.cmd !== undefined
        ? undefined
        : { type: 'http', url: prepare(server.url), headers: mapValues(headers, prepare) },
    cwd: resolve(project, expandHome(cwd, homeFolder)),
    sandbox: server.sandbox,
    timeouts: {
      // The caller has shorter limits of its own.
      spawnMs: 2 * limitMs,
      rpcMs: 2 * limitMs,
      stopMs: Math.min(STOP_MS, Math.ceil(limitMs / 2)),
    },
  });
}

const FOLDER = /\$\$\{|\$\{(workspaceFolder|workspaceFolderBasename|userHome)\}/g;

/** Editors' variables for folders. */
function fillFolders(text: string, { project, homeFolder }: ServerFolders): string {
  const folders: Readonly<Record<string, string>> = {
    workspaceFolder: project,
    workspaceFolderBasename: basename(project),
    userHome: homeFolder,
  };
  return text.replace(FOLDER, (written, name?: string) =>
    // A path must not be expanded again.
    name === undefined ? written : withoutVariables(folders[name] ?? ''),
  );
}

/** `${input:key}` and the like, which only the file's own program can fill in. Secrets are ours. */
const PROMPT = /(?<!\$)\$\{(?:(?!(?:env|secret|cmd|op):)[A-Za-z]+:(?!-)[^}]*\}|\{)/;

function refusePrompt(text: string, { key, origin }: AgentServer): string {
  const [prompt] = PROMPT.exec(text) ?? [];
  if (prompt === undefined) return text;
  throw new SwitchboardError(
    'CHILD_NOT_CONFIGURED',
    `Server "${key}" uses ${prompt}, which only the program it was configured for can fill in (${origin}).`,
    { hint: "Use ${VAR} instead, and set VAR in the host's environment." },
  );
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
