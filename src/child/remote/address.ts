// The address of a server as it was configured: checked, and taken apart into what is sent, what may
// be printed and what is secret.
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { SwitchboardError } from '../../base/errors.ts';
import type { ChildConfig, Remote } from '../../config/config.ts';
import { filledIn } from '../secrets.ts';
import { isLoopback } from '../sign-in/addresses.ts';

export interface Address {
  /** Without the name and password that may have stood in it. */
  readonly url: URL;
  readonly kind: 'http' | 'sse' | 'ws';
  /** The configured headers, their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Something of it is secret, and everybody on the way can read it. */
  readonly isExposed: boolean;
}

/** Shorter parts of a path are words such as `api` and `mcp`. */
const SHORTEST_SECRET_SEGMENT = 12;

const SECRET_NAME = /auth|token|key|secret|cookie|passw|credential|session/i;

/** `env` is what the variables in the address were filled in from. */
export function parseAddress(
  config: ChildConfig,
  remote: Remote,
  env: NodeJS.ProcessEnv = {},
): Address {
  const url = parseUrl(config, remote.url);
  const headers = checkHeaders(config, remote.headers);
  const { password: writtenPassword } = url;
  const password = decode(writtenPassword);
  if (url.username !== '' || password !== '') {
    const pair = Buffer.from(`${decode(url.username)}:${password}`).toString('base64');
    headers['authorization'] ??= `Basic ${pair}`;
    url.username = '';
    url.password = '';
  }
  const secretNames = [...Object.keys(headers), ...url.searchParams.keys()];
  const isPlain = url.protocol === 'http:' || url.protocol === 'ws:';
  return {
    url,
    kind: url.protocol.startsWith('ws') ? 'ws' : remote.type,
    headers,
    secrets: [
      ...Object.values(headers).flatMap(secretsOf),
      password,
      writtenPassword,
      ...secretsInTarget(url),
      ...filledInto(config, url, env),
    ].filter((secret) => secret !== ''),
    isExposed:
      isPlain && !isLoopback(url.hostname) && secretNames.some((name) => SECRET_NAME.test(name)),
  };
}

/** What must be hidden of a header's value: all of it, and a token behind the name of its scheme. */
export function secretsOf(value: string): string[] {
  return [value, value.replace(/^[\w-]+\s+/, '')];
}

/** Servers quote what they were asked for, as it was sent or decoded: in whole, or a part of it. */
function secretsInTarget({ pathname, search, searchParams }: URL): string[] {
  const segments = pathname.split('/').filter(({ length }) => length >= SHORTEST_SECRET_SEGMENT);
  const pairs = search.slice(1).split('&');
  const values = pairs.map((pair) => pair.slice(pair.indexOf('=') + 1));
  const written = [`${pathname}${search}`, ...segments, ...values];
  return [...new Set([...written, ...written.map(decode), ...searchParams.values()])];
}

/** What variables were filled in with, unless it is where the server is, which is no secret. */
function filledInto({ remote }: ChildConfig, { origin }: URL, env: NodeJS.ProcessEnv): string[] {
  const { url = '', headers = {} } = remote ?? {};
  const values = [url, ...Object.values(headers)].flatMap((text) => filledIn(text, env));
  return values.filter((value) => !origin.includes(value));
}

function parseUrl(config: ChildConfig, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '') throw notAnAddress(config, 'is none');
  if (!/^(https?|wss?):$/.test(url.protocol)) {
    throw notAnAddress(config, `begins with ${url.protocol}, which Switchboard cannot reach`);
  }
  return url;
}

/** The text itself is not quoted: it may hold a password. */
function notAnAddress({ name, origin }: ChildConfig, problem: string): SwitchboardError {
  return new SwitchboardError(
    'CHILD_NOT_CONFIGURED',
    `The address of server "${name}" ${problem}.`,
    { hint: `Write "url" in ${origin} as https://host/path (or http, ws, wss).` },
  );
}

function checkHeaders(
  { name, origin }: ChildConfig,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const [key, value] of Object.entries(headers)) {
    const trimmed = value.trim(); // a token read from a file often ends in a line break
    try {
      validateHeaderName(key);
      validateHeaderValue(key, trimmed);
    } catch {
      throw new SwitchboardError(
        'CHILD_NOT_CONFIGURED',
        `Header ${JSON.stringify(key)} of server "${name}" has characters that HTTP does not allow.`,
        { hint: `Check "headers" in ${origin}.` },
      );
    }
    checked[key.toLowerCase()] = trimmed;
  }
  return checked;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % stands for itself
  }
}
