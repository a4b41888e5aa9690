// What was said about serving over HTTP, on the command line or in the environment, and whether it may
// be done: an address that other machines can reach is never opened by accident, nor without a token.
import { SwitchboardError } from '../../base/errors.ts';
import { LONGEST_MS } from '../../config/defaults.ts';
import { BOOLEAN } from '../../config/settings/values.ts';
import { isLoopback } from '../../host/http/address.ts';
import type { HttpLimits } from '../../host/http/server.ts';

/** As the command line gives it. */
export interface HttpFlags {
  readonly http?: boolean | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  /** False with `--no-auth`. */
  readonly auth?: boolean | undefined;
  readonly allowRemote?: boolean | undefined;
  readonly allowHost?: readonly string[] | undefined;
}

export interface HttpSettings {
  readonly host: string;
  readonly port: number;
  readonly names: readonly string[];
  readonly wantsToken: boolean;
  /** A token of the user's own choice. */
  readonly token: string | undefined;
  /** What differs from the usual limits. */
  readonly limits: Partial<HttpLimits>;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 8081;

/** Whether hosts are to be served over HTTP. */
export function wantsHttp({ http }: HttpFlags, env: NodeJS.ProcessEnv): boolean {
  return http === true || env['TRANSPORT']?.toLowerCase() === 'http';
}

/** Over stdin and stdout there is no address; who names one has forgotten something. */
export function refuseHttpFlags({ host, port, auth, allowRemote, allowHost }: HttpFlags): void {
  if ([host, port, allowRemote, allowHost].every((flag) => flag === undefined) && auth !== false) {
    return;
  }
  throw new SwitchboardError('USAGE', 'An address was named, and not that it is for HTTP.', {
    hint: 'Add --http.',
  });
}

export function readHttpSettings(flags: HttpFlags, env: NodeJS.ProcessEnv): HttpSettings {
  const said = (flags.host ?? (env['HOST'] || DEFAULT_HOST)).trim();
  const host = said.replace(/^\[(.*)\]$/, '$1');
  const wantsToken = flags.auth !== false && !isOn(env['SWITCHBOARD_NO_AUTH']);
  if (!isLoopback(host)) {
    const allowed = flags.allowRemote === true || isOn(env['SWITCHBOARD_ALLOW_REMOTE']);
    checkRemote(host, allowed, wantsToken);
  }
  return {
    host,
    port: readPort(flags.port ?? (env['PORT'] || undefined)),
    names: [...(flags.allowHost ?? []), ...listOf(env['SWITCHBOARD_ALLOW_HOST'])],
    wantsToken,
    token: env['SWITCHBOARD_HTTP_TOKEN'] || undefined,
    limits: readLimits(env),
  };
}

/** Our environment without what was meant for us alone: servers of others read such variables, too. */
export function withoutHttpSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { SWITCHBOARD_HTTP_TOKEN: _token, ...rest } = env;
  if (!wantsHttp({}, env)) return rest;
  const {
    TRANSPORT: _transport,
    HOST: _host,
    PORT: _port,
    PING_SECS: _ping,
    HTTP_JSON: _json,
    ...others
  } = rest;
  return others;
}

function checkRemote(host: string, isAllowed: boolean, wantsToken: boolean): void {
  if (!isAllowed) {
    throw new SwitchboardError('USAGE', `Other machines could reach ${host}.`, {
      hint: 'Set --allow-remote (SWITCHBOARD_ALLOW_REMOTE=1) if that is wanted; hosts must then show the token. Or leave --host out: 127.0.0.1 is for this machine alone.',
    });
  }
  if (!wantsToken) {
    throw new SwitchboardError('USAGE', `Without a token nobody else may reach ${host}.`, {
      hint: 'Leave out --no-auth (SWITCHBOARD_NO_AUTH), which is for 127.0.0.1 alone.',
    });
  }
}

function readPort(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new SwitchboardError('USAGE', `${text} is no port.`, {
    hint: 'A port is a number up to 65535; 0 takes one that is free.',
  });
}

function readLimits(env: NodeJS.ProcessEnv): Partial<HttpLimits> {
  const sessionIdleMs = readAmount('SWITCHBOARD_HTTP_IDLE_MS', env, {
    most: Infinity,
    means: 'the time in milliseconds after which a session over HTTP ends that nobody uses',
  });
  const pingSeconds = readAmount('PING_SECS', env, {
    most: Math.floor(LONGEST_MS / 1_000),
    means: 'the time in seconds between signs of life on an open stream of events',
  });
  return {
    ...(sessionIdleMs === undefined ? {} : { sessionIdleMs }),
    ...(pingSeconds === undefined ? {} : { keepAliveMs: pingSeconds * 1_000 }),
    // Plain JSON however long the answer takes.
    ...(isOn(env['HTTP_JSON']) ? { slowAnswerMs: undefined } : {}),
  };
}

function readAmount(
  variable: string,
  env: NodeJS.ProcessEnv,
  { most, means }: { readonly most: number; readonly means: string },
): number | undefined {
  const text = env[variable];
  if (!text) return undefined;
  const amount = Number(text);
  if (amount > 0 && amount <= most) return amount;
  const range = most === Infinity ? 'above 0' : `above 0 and up to ${most}`;
  throw new SwitchboardError('CONFIG_INVALID', `${variable} is not a number ${range}.`, {
    hint: `It is ${means}.`,
  });
}

/** Whatever is not clearly a no. */
function isOn(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '' && BOOLEAN.fromText(text) !== false;
}

function listOf(text = ''): string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}
