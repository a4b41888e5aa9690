// What every request must pass before anything is done for it, whatever it is for. The token comes
// first and is wanted everywhere: a path that is forgotten here is a path that is closed.
import type { IncomingMessage } from 'node:http';
import { isSameSecret } from '../../base/secrets.ts';
import { isOurOrigin, isOurs, type ListenAddress } from './address.ts';
import { badRequest, type Refusal, refusal } from './refusal.ts';
import type { WrongTokens } from './wrong-tokens.ts';

export interface GateOptions {
  readonly address: ListenAddress;
  /** What clients must show; undefined if they need not show anything. */
  readonly token: string | undefined;
  readonly wrongTokens: WrongTokens;
}

export const MCP_PATH = '/mcp';
export const HEALTH_PATH = '/healthz';

/** Two of one of these could mean one thing to us and another to a proxy before us. */
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

export function checkGate(request: IncomingMessage, options: GateOptions): Refusal | undefined {
  const { headers, headersDistinct } = request;
  const { address, token } = options;
  if (pathOf(request) !== HEALTH_PATH && token !== undefined && !shows(headers, token)) {
    return headers.authorization === undefined
      ? unauthorized(request)
      : explainWrong(request, options);
  }
  const twice = SINGLE.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) return badRequest(`The header ${twice} may come once.`);
  const { host = '', origin } = headers;
  if (!isOurs(host, address)) {
    return refusal(421, 'The header Host names another server; --allow-host adds a name to ours.');
  }
  const site = headers['sec-fetch-site'];
  const isForeignPage = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (isForeignPage || (origin !== undefined && !isOurOrigin(origin, host, address))) {
    return refusal(403, 'Web pages of others may not use this server.');
  }
  return undefined;
}

/** What to say at any path but the one that hosts need. */
export const POINTER = `The MCP endpoint is ${MCP_PATH}.`;

function unauthorized(request: IncomingMessage): Refusal {
  const pointer = pathOf(request) === MCP_PATH ? '' : ` ${POINTER}`;
  const message = `Missing or wrong token. Send the header "Authorization: Bearer <token>".${pointer}`;
  return refusal(401, message, { headers: { 'www-authenticate': 'Bearer realm="switchboard"' } });
}

function explainWrong(request: IncomingMessage, { wrongTokens }: GateOptions): Refusal {
  const seconds = wrongTokens.note(request.socket.remoteAddress ?? '');
  if (seconds === undefined) return unauthorized(request);
  return refusal(429, 'Too many wrong tokens. Check the token, and wait before you try again.', {
    headers: { 'retry-after': String(seconds), connection: 'close' },
  });
}

/** The path that is asked for. Not resolved: only exact paths are known. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function shows({ authorization = '' }: IncomingMessage['headers'], token: string): boolean {
  const given = /^bearer +([^ ]+)$/i.exec(authorization)?.[1] ?? '';
  return isSameSecret(given, token);
}
