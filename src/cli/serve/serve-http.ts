// `switchboard serve --http`: one Switchboard for many hosts, which reach it at an address. It is
// started by a person or a service manager, and ends when it is told to.
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { isLoopback } from '../../host/http/address.ts';
import { type HttpHost, openHttpHost } from '../../host/http/server.ts';
import { checkToken, keptToken, tokenFile } from '../../host/http/token.ts';
import { Session } from '../../session/session.ts';
import { Switchboard } from '../../switchboard.ts';
import { onEndSignal } from '../signals.ts';
import { accompany } from './accompany.ts';
import {
  type HttpFlags,
  type HttpSettings,
  readHttpSettings,
  withoutHttpSettings,
} from './http-options.ts';
import { keepStdout, type Loaded, prepareServing, type ServeOptions } from './serving.ts';

export async function serveHttp(options: ServeOptions, flags: HttpFlags): Promise<number> {
  const settings = readHttpSettings(flags, process.env);
  keepStdout();
  const { log, load } = prepareServing(options, 'many');
  await serveUntilTold(settings, await load(), load, log);
  return 0;
}

async function serveUntilTold(
  settings: HttpSettings,
  { config, agents }: Loaded,
  load: () => Promise<Loaded>,
  log: Log,
): Promise<void> {
  const token = settings.wantsToken ? tokenFor(settings, config) : undefined;
  const env = withoutHttpSettings(process.env);
  const [, program] = process.argv;
  await using switchboard = new Switchboard({ config, log, env, agents, program, isShared: true });
  const sessions = new Set<Session>();
  const signalled = new Promise<void>((resolve) => onEndSignal(resolve, 0, ['SIGINT', 'SIGTERM']));
  await using host = await openHttpHost({
    ...settings,
    token,
    messageLimits: switchboard.hostLimits,
    log,
    eras: () => {
      const { offeredEras } = switchboard;
      return offeredEras === 'both' ? ['handshake', 'modern'] : [offeredEras];
    },
    toolSchema: (name) => switchboard.board.schemaOf(name),
    openSession: ({ era, send }) => {
      const session = new Session({
        ...switchboard.sessionParts,
        eras: () => era,
        log,
        send: (json, _framing, message) => send(json, message),
      });
      const { flow } = switchboard.pool;
      sessions.add(session);
      flow.join(session);
      return {
        receive: (message) => session.receive(message),
        setFull: (isFull) => flow.setFull(session, isFull),
        close: () => {
          sessions.delete(session);
          flow.leave(session);
          session.close();
        },
      };
    },
  });
  // Programs that read the log are not told the token: who needs it looks into its file.
  if (config.logging.form === 'json') log.info(`serving MCP over HTTP at ${host.url}`);
  else process.stderr.write(aboutAddress(host, settings, token, config.home));
  switchboard.board.begin();
  const reports = () => [...sessions].map(({ report }) => report);
  const beside = accompany(switchboard, { config, load, log, sessions: reports });
  await signalled;
  await beside[Symbol.asyncDispose]();
}

function tokenFor({ token }: HttpSettings, { home }: Config): string {
  return token === undefined ? keptToken(home) : checkToken(token);
}

/** What a person needs to add us to a host. A token of their own choice they have already. */
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
  if (token === undefined) lines.push('Every program of this machine may use it.');
  else if (settings.token === undefined) lines.push(`The token is kept in ${tokenFile(home)}.`);
  if (!isLoopback(settings.host)) {
    lines.push('Other machines can reach it, and what passes is not encrypted: see docs/http.md.');
  }
  return `${lines.join('\n')}\n`;
}
