// A server as it is really started: with its variables filled in, and with a word for Switchboards
// below about how deep they are. Which is done as late as can be, so that a variable that is missing
// costs that server alone.
import { basename, resolve } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { ChildConfig } from '../../config/config.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { expandHome } from '../../config/files/globs.ts';
import { declareServer } from '../../config/server/declare.ts';
import {
  expandCommand,
  expanderFor,
  expandRemote,
  withoutVariables,
} from '../../config/server/expand.ts';
import type { AgentServer } from '../agent.ts';
import type { AttachedServer } from '../engine.ts';
import type { ServerFolders } from './candidate.ts';
import { serverSecrets } from './secrets.ts';
import { isSelf } from './self.ts';

export interface StartOptions extends ServerFolders {
  readonly env: NodeJS.ProcessEnv;
  /** Set for every server, over what it has itself. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface AttachOptions extends StartOptions {
  /** Set for a server that is Switchboard itself, under what it has. */
  readonly selfEnvironment: Readonly<Record<string, string>>;
  /** The real path of the program that runs now, where that is known. */
  readonly program: string | undefined;
}

/** One that was only asked for a list has nothing to bring to an end, and not all listen to EOF. */
const STOP_MS = 500;

/** Throws a sentence about what keeps it from being started. */
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
    handedOn: isOurs ? options.selfEnvironment : undefined,
    secrets: serverSecrets({ child, command, remote, env: options.env }),
  };
}

/** What must not be repeated of a server, also of one that is not attached in the end. */
export function secretsOf(server: AgentServer, options: AttachOptions): readonly string[] {
  try {
    return attachServer(server, undefined, options).secrets;
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    return []; // it cannot be started, and nothing was filled in
  }
}

/** The server for us to start, with its folder made whole; the other variables are filled in then. */
export function asChild(
  server: AgentServer,
  { project, homeFolder, env, environment }: StartOptions,
  limitMs: number = DEFAULTS.timeouts.rpcMs,
): ChildConfig {
  const { key: name, origin, args, headers } = server;
  const prepare = (text: string) =>
    refuseQuestion(fillFolders(text, { project, homeFolder }), server);
  const expand = expanderFor({ name, origin }, env);
  const cwd = expand(prepare(server.cwd ?? ''), 'cwd');
  return declareServer({
    name,
    origin,
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
    timeouts: {
      // Whoever starts it has limits of his own, which come first.
      spawnMs: 2 * limitMs,
      rpcMs: 2 * limitMs,
      stopMs: Math.min(STOP_MS, Math.ceil(limitMs / 2)),
    },
  });
}

const FOLDER = /\$\$\{|\$\{(workspaceFolder|workspaceFolderBasename|userHome)\}/g;

/** The names that editors have for folders. */
function fillFolders(text: string, { project, homeFolder }: ServerFolders): string {
  const folders: Readonly<Record<string, string>> = {
    workspaceFolder: project,
    workspaceFolderBasename: basename(project),
    userHome: homeFolder,
  };
  return text.replace(FOLDER, (written, name?: string) =>
    // What is in a path is not filled in once more.
    name === undefined ? written : withoutVariables(folders[name] ?? ''),
  );
}

/** `${input:key}` and the like, which only the program that the file belongs to can fill in. */
const QUESTION = /(?<!\$)\$\{(?:(?!env:)[A-Za-z]+:(?!-)[^}]*\}|\{)/;

function refuseQuestion(text: string, { key, origin }: AgentServer): string {
  const [question] = QUESTION.exec(text) ?? [];
  if (question === undefined) return text;
  throw new SwitchboardError(
    'CHILD_NOT_CONFIGURED',
    `Server "${key}" has ${question} in it, which only its own program can fill in (${origin}).`,
    { hint: 'Write ${VAR} in its place, and set VAR where the host starts Switchboard.' },
  );
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
