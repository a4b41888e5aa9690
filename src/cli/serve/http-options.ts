// The settings for serving over HTTP, from the command line and the environment. An address that other machines can
// reach is never opened by accident, nor without a token.
import type { HttpFlags } from '../../background/hello.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { LONGEST_MS } from '../../config/defaults.ts';
import { BOOLEAN } from '../../config/settings/values.ts';
import { isLocalAddress } from '../../host/http/address.ts';
import type { HttpLimits } from '../../host/http/server.ts';

export interface HttpSettings {
  readonly host: string;
  readonly port: number;
  readonly names: readonly string[];
  readonly wantsToken: boolean;
  /** A token the user chose. */
  readonly token: string | undefined;
  /** Those that differ from the defaults. */
  readonly limits: Partial<HttpLimits>;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 8081;

/** Whether to serve over HTTP. */
export function wantsHttp({ http }: HttpFlags, env: NodeJS.ProcessEnv): boolean {
  return http === true || env['TRANSPORT']?.toLowerCase() === 'http';
}

/** stdio has no address, so a user who gives one forgot `--http`. */
export function refuseHttpFlags({ host, port, auth, allowRemote, allowHost }: HttpFlags): void {
  if ([host, port, allowRemote, allowHost].every((flag) => flag === undefined) && auth !== false) {
    return;
  }
  throw new SwitchboardError(
    'USAGE',
    '--host, --port, --allow-remote, --allow-host and --no-auth require --http.',
  );
}

export function readHttpSettings(flags: HttpFlags, env: NodeJS.ProcessEnv): HttpSettings {
  const written = (flags.host ?? (env['HOST'] || DEFAULT_HOST)).trim();
  const host = written.replace(/^\[(.*)\]$/, '$1');
  const wantsToken = flags.auth !== false && !isOn(env['SWITCHBOARD_NO_AUTH']);
  if (!isLocalAddress(host)) {
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

/** The environment without our own HTTP settings: servers may read the same variables. */
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
    throw new SwitchboardError(
      'USAGE',
      `Refusing to listen on ${host}: other machines can reach it.`,
      {
        hint: 'To allow it, add --allow-remote (SWITCHBOARD_ALLOW_REMOTE=1); hosts must send the token. Without --host, Switchboard listens on 127.0.0.1, which only this machine can reach.',
      },
    );
  }
  if (!wantsToken) {
    throw new SwitchboardError('USAGE', `Refusing to listen on ${host} without authentication.`, {
      hint: 'Remove --no-auth (SWITCHBOARD_NO_AUTH). It is only allowed on 127.0.0.1.',
    });
  }
}

function readPort(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new SwitchboardError('USAGE', `"${text}" is not a valid port.`, {
    hint: 'Use a number from 0 to 65535. 0 picks a free port.',
  });
}

function readLimits(env: NodeJS.ProcessEnv): Partial<HttpLimits> {
  const sessionIdleMs = readAmount('SWITCHBOARD_HTTP_IDLE_MS', env, {
    most: Infinity,
    means: 'the milliseconds after which an unused HTTP session ends',
  });
  const pingSeconds = readAmount('PING_SECS', env, {
    most: Math.floor(LONGEST_MS / 1_000),
    means: 'the seconds between keep-alives on an open event stream',
  });
  return {
    ...(sessionIdleMs === undefined ? {} : { sessionIdleMs }),
    ...(pingSeconds === undefined ? {} : { keepAliveMs: pingSeconds * 1_000 }),
    // Always plain JSON, however long the answer takes.
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
  throw new SwitchboardError('CONFIG_INVALID', `${variable} must be a number ${range}.`, {
    hint: `It is ${means}.`,
  });
}

/** Anything but a clear no. */
export function isOn(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '' && BOOLEAN.fromText(text) !== false;
}

function listOf(text = ''): string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}
