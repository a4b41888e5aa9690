// The checks every request must pass before anything else happens. The token is checked first, and every path but
// one needs it, so a forgotten path is a closed one.
import type { IncomingMessage } from 'node:http';
import { isSameSecret } from '../../base/secrets.ts';
import { isOurOrigin, isOurs, type ListenAddress } from './address.ts';
import { badRequest, type HttpRefusal, refusal } from './refusal.ts';
import type { WrongTokens } from './wrong-tokens.ts';

export interface GateOptions {
  readonly address: ListenAddress;
  /** The token clients must send; undefined if they need none. */
  readonly token: string | undefined;
  readonly wrongTokens: WrongTokens;
}

export const MCP_PATH = '/mcp';
export const HEALTH_PATH = '/healthz';

/** If one of these appeared twice, we and a proxy in front of us could read different values. */
const SINGLE = [
  'authorization',
  'content-encoding',
  'content-type',
  'host',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'origin',
];

export function checkGate(request: IncomingMessage, options: GateOptions): HttpRefusal | undefined {
  const { headers, headersDistinct } = request;
  const { address, token } = options;
  if (pathOf(request) !== HEALTH_PATH && token !== undefined && !shows(headers, token)) {
    return headers.authorization === undefined
      ? unauthorized(request)
      : explainWrong(request, options);
  }
  const twice = SINGLE.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) return badRequest(`Duplicate header: ${twice}.`);
  const { host = '', origin } = headers;
  if (!isOurs(host, address)) {
    return refusal(
      421,
      'Unknown name in the Host header. To allow it, start Switchboard with --allow-host.',
    );
  }
  const site = headers['sec-fetch-site'];
  const isForeignPage = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (isForeignPage || (origin !== undefined && !isOurOrigin(origin, host, address))) {
    return refusal(403, 'Cross-origin requests are not allowed.');
  }
  return undefined;
}

/** Added to the errors of every other path. */
export const POINTER = `The MCP endpoint is ${MCP_PATH}.`;

function unauthorized(request: IncomingMessage): HttpRefusal {
  const pointer = pathOf(request) === MCP_PATH ? '' : ` ${POINTER}`;
  const message = `Missing or wrong token. Send the header "Authorization: Bearer <token>".${pointer}`;
  return refusal(401, message, { headers: { 'www-authenticate': 'Bearer realm="switchboard"' } });
}

function explainWrong(request: IncomingMessage, { wrongTokens }: GateOptions): HttpRefusal {
  const seconds = wrongTokens.note(request.socket.remoteAddress ?? '');
  if (seconds === undefined) return unauthorized(request);
  return refusal(429, 'Too many wrong tokens. Check the token, and wait before you retry.', {
    headers: { 'retry-after': String(seconds), connection: 'close' },
  });
}

/** The path as sent: only exact paths match. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function shows({ authorization = '' }: IncomingMessage['headers'], token: string): boolean {
  const given = /^bearer +([^ ]+)$/i.exec(authorization)?.[1] ?? '';
  return isSameSecret(given, token);
}
