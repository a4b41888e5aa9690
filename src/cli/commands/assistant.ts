// `switchboard assistant serve <server>`: serves a server's assistant as an MCP server. Switchboard starts it in
// place of the server; hosts can also start it directly.
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import type { Assistant } from '../../assistant/assistant.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { createLog, type Log } from '../../base/log.ts';
import type { ChildConfig, Config } from '../../config/config.ts';
import { findFolders } from '../../config/files/places.ts';
import { resolveLogging } from '../../config/settings/logging.ts';
import { Project } from '../../project.ts';
import { AssistantSurface } from '../../surface/assistant.ts';
import type { Surface } from '../../surface/surface.ts';
import { createAssistant, serverOf, toolServerFor } from '../assistant-parts.ts';
import { keepStdout } from '../serve/serving.ts';
import { explainOnTerminal, leaveStdio, serveStdioHost } from '../serve/stdio-host.ts';
import { onEndSignal } from '../signals.ts';
import { workingFolder } from '../working-folder.ts';
import { type CommandOptions, chosenChild } from './with-switchboard.ts';

export interface AssistantFlags extends CommandOptions {
  /** A folder that was set up for an assistant. */
  readonly folder?: string | undefined;
  /** False with `--no-conversation`. */
  readonly conversation?: boolean | undefined;
  /** Serve the server's own tools instead, for a program that runs its own tool loop. */
  readonly tools?: boolean | undefined;
}

const MAX_UNREAD_BYTES = 1 << 20;
const MAX_REMEMBERED = 100;

export async function serveAssistant(
  serverName: string | undefined,
  flags: AssistantFlags,
): Promise<number> {
  if (explainOnTerminal()) return 0;
  const log = createAssistantLog();
  const write = keepStdout(libraryOutput(log));
  const place = findPlace(serverName, flags);
  await serveUntilHostGoes({ place, flags, log }, write);
  return leaveStdio();
}

interface Request {
  readonly place: Place;
  readonly flags: AssistantFlags;
  readonly log: Log;
}

async function serveUntilHostGoes(
  request: Request,
  write: NodeJS.WriteStream['write'],
): Promise<void> {
  const { place, flags, log } = request;
  const isAssistant = !flags.tools;
  await using project = await Project.open({
    folder: place.cwd,
    environment: process.env,
    configFile: flags.config,
    serversFile: flags.servers,
    trust: flags.trust,
    assistantFolder: place.folder,
    adapt: (config) => onlyServer(config, place, flags),
    isAssistant,
    log,
  });
  const { config, switchboard } = project;
  const [child] = config.children.values();
  if (!child) throw new Error('The configuration has no server.');
  const signalled = new Promise<void>((resolve) => onEndSignal(resolve, 0));
  const { pool } = switchboard;
  using assistant = isAssistant ? openOwn(project, child, request) : undefined;
  if (!assistant) {
    // Programs with their own tool loop list tools only once. If the server doesn't start, it's better to fail than
    // to offer no tools.
    await Promise.race([pool.warm(child.name), signalled]);
  }
  const openSurface = assistant && ((): Surface => new AssistantSurface(child, pool, assistant));
  const shown = openSurface ? { openSurface } : {};
  project.endOrphansSoon();
  await serveStdioHost(switchboard, { log, write, ...shown }, signalled);
}

function openOwn(
  { config, switchboard }: Project,
  child: ChildConfig,
  { place, flags, log }: Request,
): Assistant {
  const { env } = process;
  const { config: configFile, servers: serversFile, trust } = flags;
  const own = { configFile, serversFile, trust, cwd: place.cwd, env };
  return createAssistant(switchboard, child, {
    env,
    toolServer: toolServerFor(child.name, config, own, { folder: place.folder }),
    log,
    hasConversation: flags.conversation !== false,
  });
}

/** Where the server is declared: by name in the configuration, or in a folder. */
interface Place {
  readonly cwd: string;
  readonly folder: string | undefined;
  readonly serverName: string | undefined;
}

function findPlace(serverName: string | undefined, { folder }: AssistantFlags): Place {
  const cwd = workingFolder();
  const target = serverName ?? (process.env['SWITCHBOARD_INTELLIGENT_TARGET'] || undefined);
  if (folder !== undefined) {
    const absolute = resolve(cwd, folder);
    return { cwd: projectOf(absolute), folder: absolute, serverName: undefined };
  }
  if (target !== undefined) return { cwd, folder: undefined, serverName: target };
  throw new SwitchboardError('USAGE', 'Missing server name.', {
    hint: 'For example: switchboard assistant serve memory',
  });
}

/** The project a server's folder belongs to, judging by its path. */
function projectOf(folder: string): string {
  return folder.replace(/(?:[\\/]\.switchboard)?[\\/]mcps[\\/][^\\/]+[\\/]?$/, '') || folder;
}

/** The configuration with only this server, as it is started here. */
function onlyServer(loaded: Config, { folder, serverName }: Place, flags: AssistantFlags): Config {
  const { env } = process;
  const declared =
    folder === undefined ? chosenChild(loaded, serverName ?? '') : childIn(loaded, folder);
  const child = serverOf(declared, env, flags.tools === true);
  return { ...loaded, children: new Map([[child.name, child]]) };
}

function childIn(config: Config, folder: string): ChildConfig {
  const file = join(folder, '.mcp.json');
  const child = [...config.children.values()].find(({ origin }) => origin === file);
  if (child) return child;
  throw new Error(`${folder} was loaded, but has no server.`);
}

/** Doesn't prefix the server's lines: there is only one server, and the parent Switchboard adds its name. */
function createAssistantLog(): Log {
  const { stderr, env } = process;
  const child = (_name: string, line: string): void => {
    if (stderr.writableLength <= MAX_UNREAD_BYTES) stderr.write(`${line}\n`);
  };
  const settings = resolveLogging(findFolders({ cwd: workingFolder(), env }), { env });
  // The parent Switchboard writes the log file.
  return { ...createLog({ ...settings, folder: undefined }, stderr), child };
}

/** Logs what libraries print, such as model deprecation warnings, only once each. */
function libraryOutput(log: Log): Writable {
  const seen = new Set<string>();
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      const line = text.trim().replaceAll(/\s+/g, ' ').slice(0, 500);
      if (line !== '' && !seen.has(line)) log.warn(line);
      if (seen.size < MAX_REMEMBERED) seen.add(line);
      done();
    },
  });
}
