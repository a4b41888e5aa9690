// Checks a server's configured URL and headers, and separates the secrets in them.
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { SwitchboardError } from '../../base/errors.ts';
import type { ChildConfig, Remote } from '../../config/config.ts';
import { isLoopbackHost } from '../../net/address-kind.ts';
import { decodePart, takeCredentials } from '../../net/basic-auth.ts';
import { filledIn } from '../secrets.ts';

export interface Address {
  /** Without credentials. */
  readonly url: URL;
  readonly kind: 'http' | 'sse' | 'ws';
  /** The configured headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Sends secrets over an unencrypted connection. */
  readonly isExposed: boolean;
}

/** Shorter path segments are words such as `api` and `mcp`. */
const SHORTEST_SECRET_SEGMENT = 12;

const SECRET_NAME = /auth|token|key|secret|cookie|passw|credential|session/i;

/** `env` has the values of the variables in the URL and the headers. */
export function parseAddress(
  config: ChildConfig,
  remote: Remote,
  env: NodeJS.ProcessEnv = {},
): Address {
  const url = parseUrl(config, remote.url);
  const headers = checkHeaders(config, remote.headers);
  const { password } = url;
  const credentials = takeCredentials(url);
  if (credentials !== undefined) headers['authorization'] ??= credentials;
  const secretNames = [...Object.keys(headers), ...url.searchParams.keys()];
  const isPlain = url.protocol === 'http:' || url.protocol === 'ws:';
  return {
    url,
    kind: url.protocol.startsWith('ws') ? 'ws' : remote.type,
    headers,
    secrets: [
      ...Object.values(headers).flatMap(secretsInHeader),
      decodePart(password),
      password,
      ...secretsInTarget(url),
      ...filledInto(config, url, env),
    ].filter((secret) => secret !== ''),
    isExposed:
      isPlain &&
      !isLoopbackHost(url.hostname) &&
      secretNames.some((name) => SECRET_NAME.test(name)),
  };
}

/** The whole value, and the token after the name of its scheme. */
export function secretsInHeader(value: string): string[] {
  return [value, value.replace(/^[\w-]+\s+/, '')];
}

/** Servers quote the path and query, whole or in part, encoded or decoded. */
function secretsInTarget({ pathname, search, searchParams }: URL): string[] {
  const segments = pathname.split('/').filter(({ length }) => length >= SHORTEST_SECRET_SEGMENT);
  const pairs = search.slice(1).split('&');
  const values = pairs.map((pair) => pair.slice(pair.indexOf('=') + 1));
  const written = [`${pathname}${search}`, ...segments, ...values];
  return [...new Set([...written, ...written.map(decodePart), ...searchParams.values()])];
}

/** The values of variables, except those in the origin, which isn't secret. */
function filledInto({ remote }: ChildConfig, { origin }: URL, env: NodeJS.ProcessEnv): string[] {
  const { url = '', headers = {} } = remote ?? {};
  const values = [url, ...Object.values(headers)].flatMap((text) => filledIn(text, env));
  return values.filter((value) => !origin.includes(value));
}

function parseUrl(config: ChildConfig, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '') throw notAnAddress(config, 'is invalid');
  if (!/^(https?|wss?):$/.test(url.protocol)) {
    throw notAnAddress(config, `starts with ${url.protocol}, which Switchboard doesn't support`);
  }
  return url;
}

/** Doesn't quote the URL, which may contain a password. */
function notAnAddress({ name, origin }: ChildConfig, problem: string): SwitchboardError {
  return new SwitchboardError('CHILD_NOT_CONFIGURED', `The URL of server "${name}" ${problem}.`, {
    hint: `Write "url" in ${origin} as https://host/path (or http, ws, wss).`,
  });
}

function checkHeaders(
  { name, origin }: ChildConfig,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const [key, value] of Object.entries(headers)) {
    const trimmed = value.trim(); // a token read from a file often ends with a line break
    try {
      validateHeaderName(key);
      validateHeaderValue(key, trimmed);
    } catch {
      throw new SwitchboardError(
        'CHILD_NOT_CONFIGURED',
        `Header ${JSON.stringify(key)} of server "${name}" contains characters that HTTP doesn't allow.`,
        { hint: `Check "headers" in ${origin}.` },
      );
    }
    checked[key.toLowerCase()] = trimmed;
  }
  return checked;
}
