// `switchboard serve --http`: one Switchboard for many hosts, which reach it at a URL. A user or a service manager
// starts it, and it runs until it's stopped. The background process listens, so that these hosts share servers with all
// others; if that's impossible, this process does.
import type { HttpFlags } from '../../background/hello.ts';
import type { Installation } from '../../background/join-or-start.ts';
import type { AdjustableLog } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { isLocalAddress } from '../../host/http/address.ts';
import type { HttpSession, HttpSessionOptions } from '../../host/http/exchange.ts';
import { type HttpHost, openHttpHost } from '../../host/http/server.ts';
import { checkToken, httpTokenFile, keptToken } from '../../host/http/token.ts';
import type { Project } from '../../project.ts';
import type { Connection } from '../../switchboard.ts';
import { workingFolder } from '../working-folder.ts';
import { type HttpSettings, readHttpSettings, withoutHttpSettings } from './http-options.ts';
import {
  beginServing,
  createServingLog,
  keepStdout,
  openServedProject,
  type ServedOptions,
  type ServeOptions,
} from './serving.ts';

/** Without `installation`, it serves alone. */
export async function serveHttp(
  options: ServeOptions,
  flags: HttpFlags,
  installation?: Installation,
): Promise<number> {
  const settings = readHttpSettings(flags, process.env);
  keepStdout();
  if (!installation) return serveAlone(options, settings);
  // Lazy: it isn't needed alone.
  const { HttpEntry } = await import('./http-entry.ts');
  const entry = new HttpEntry(options, flags, installation);
  const status = await entry.serve();
  if (status !== undefined) return status;
  // Hosts know the port.
  const { port = settings.port } = entry;
  return serveAlone(options, { ...settings, port });
}

async function serveAlone(options: ServeOptions, settings: HttpSettings): Promise<number> {
  const log = createServingLog(workingFolder(), process.env);
  await using project = await openServedProject({ ...options, ...httpProject(settings), log });
  const say = (text: string): void => void process.stderr.write(text);
  const listener = await openHttpListener({ project, settings, log, say });
  try {
    using serving = beginServing(project, log);
    await serving.stopped;
    return 0;
  } finally {
    await listener[Symbol.asyncDispose]();
  }
}

/** How a project is opened for hosts over HTTP. */
export function httpProject({
  wantsToken,
  host,
}: HttpSettings): Pick<ServedOptions, 'hosts' | 'asksHosts' | 'environmentOfServers'> {
  return {
    hosts: 'many',
    // Clients on other machines, and those without a token, aren't necessarily this user's.
    asksHosts: wantsToken && isLocalAddress(host),
    environmentOfServers: withoutHttpSettings,
  };
}

interface HttpListenerOptions {
  readonly project: Project;
  readonly settings: HttpSettings;
  readonly log: AdjustableLog;
  /** Writes to the user's stderr. */
  readonly say: (text: string) => void;
  /** Whether hosts know the address already. */
  readonly isAgain?: boolean;
}

/** Listens for hosts, and tells the user where. */
export async function openHttpListener({
  project,
  settings,
  log,
  say,
  isAgain = false,
}: HttpListenerOptions): Promise<HttpHost> {
  const { config, switchboard } = project;
  const token = settings.wantsToken ? tokenFor(settings, config) : undefined;
  const host = await openHttpHost({
    ...settings,
    token,
    messageLimits: switchboard.hostLimits,
    log,
    eras: () => {
      const { offeredEras } = switchboard;
      return offeredEras === 'both' ? ['handshake', 'modern'] : [offeredEras];
    },
    toolSchema: (name) => switchboard.board.schemaOf(name),
    openSession: (connection) => openHttpSession(project, connection),
  });
  // A JSON log is for programs, which must not see the token. It's in its file for those who need it.
  if (config.logging.form === 'json' || isAgain) log.info(`serving MCP over HTTP at ${host.url}`);
  else say(aboutAddress(host, settings, token, config.home));
  // Otherwise, each host has its own, and nobody would use these.
  if (!project.hasOwnServers) switchboard.board.begin();
  return host;
}

function openHttpSession(project: Project, { era, send }: HttpSessionOptions): HttpSession {
  const connection: Connection = {
    eras: () => era,
    send: (json, _framing, message) => send(json, message),
  };
  // In the modern era, nothing tells which requests come from the same host.
  const { session, setFull, close } =
    era === 'modern'
      ? project.switchboard.openSession(connection)
      : project.openSession(connection);
  return { receive: (message) => session.receive(message), setFull, close };
}

function tokenFor({ token }: HttpSettings, { home }: Config): string {
  return token === undefined ? keptToken(home) : checkToken(token);
}

/** How to add us to a host. Users who chose the token themselves know it. */
function aboutAddress(
  { url }: HttpHost,
  settings: HttpSettings,
  token: string | undefined,
  home: string,
): string {
  const shown = settings.token === undefined ? token : '${SWITCHBOARD_HTTP_TOKEN}';
  const headers = token === undefined ? {} : { headers: { Authorization: `Bearer ${shown}` } };
  const entry = { mcpServers: { switchboard: { type: 'http', url, ...headers } } };
  const lines = [
    `switchboard: serving MCP over HTTP at ${url}`,
    "In a host's configuration file:",
    `  ${JSON.stringify(entry)}`,
  ];
  if (token === undefined) lines.push('Any program on this machine can use it.');
  else if (settings.token === undefined)
    lines.push(`The token is stored in ${httpTokenFile(home)}.`);
  if (!isLocalAddress(settings.host)) {
    lines.push('Other machines can reach it, and traffic is not encrypted: see docs/http.md.');
  }
  return `${lines.join('\n')}\n`;
}
