// Errors for servers that are reached over the network.
import { SwitchboardError } from '../../base/errors.ts';
import { cleanText, excerpt, formatDuration } from '../../base/text.ts';
import type { HttpReply } from '../../net/http-client.ts';
import { ProxyError } from '../../net/proxy.ts';
import type { RemoteServer } from './server.ts';

const QUOTED_CHARS = 500;

/** A day. */
const MAX_WAIT_SECONDS = 86_400;

/** A reply that refuses a request, with the start of its body. */
export interface RefusedReply {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/** The connection failed, or closed before a reply. */
export function explainNetworkError(server: RemoteServer, error: unknown): SwitchboardError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const { name, origin, place } = server;
  const certificate = CERTIFICATE_PROBLEMS[code];
  if (certificate !== undefined) {
    return new SwitchboardError(
      'CHILD_UNREACHABLE',
      `Server "${name}" cannot be trusted: the certificate of ${place} ${certificate} (${code}).`,
      {
        hint: "Replace the certificate; this check can't be turned off. To trust your own certificate authority, set NODE_EXTRA_CA_CERTS in the host's environment.",
        cause: error,
        data: { child: name, reason: code },
      },
    );
  }
  if (error instanceof ProxyError) {
    return new SwitchboardError(
      'CHILD_UNREACHABLE',
      `Server "${name}" can't be reached at ${place}: ${message}.`,
      { hint: PROXY_HINT, cause: error, data: { child: name, reason: 'PROXY' } },
    );
  }
  const problem = NETWORK_PROBLEMS[code] ?? quoteServer(server, message);
  const wasCut = code === 'ECONNRESET' || code === 'EPIPE';
  return new SwitchboardError(
    'CHILD_UNREACHABLE',
    `Server "${name}" can't be reached at ${place}: ${problem}${code === '' ? '' : ` (${code})`}.`,
    {
      hint: wasCut ? NOT_REPEATED : `Check that it is running, and check "url" in ${origin}.`,
      cause: error,
      data: { child: name, reason: code },
    },
  );
}

const PROXY_HINT =
  "Check HTTPS_PROXY and HTTP_PROXY in the host's environment, or list the server in NO_PROXY.";

const NOT_REPEATED = 'The request was not sent again because it may already have had an effect.';

const NETWORK_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening there',
  ENOTFOUND: "the host name doesn't exist",
  EAI_AGAIN: "its name can't be resolved right now",
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to that machine',
  ENETUNREACH: 'there is no route to that network',
  EPROTO: "it doesn't speak TLS (did you mean http://?)",
  ERR_SSL_WRONG_VERSION_NUMBER: "it doesn't speak TLS (did you mean http://?)",
  HPE_HEADER_OVERFLOW: 'its response headers are too large',
  HPE_INVALID_CONSTANT: "it doesn't speak HTTP",
  HPE_INVALID_VERSION: "it doesn't speak HTTP",
};

const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'has been revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'is not signed by a trusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is not signed by a trusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is not signed by a trusted authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host name',
  HOSTNAME_MISMATCH: 'is for another host name',
};

export function explainStatus(server: RemoteServer, refusal: RefusedReply): SwitchboardError {
  const { name, origin } = server;
  const { status } = refusal;
  const words = quoteServer(server, refusal.text);
  const wait = parseRetryAfter(refusal.retryAfter);
  const hints: Record<number, string> = {
    404: `Check "url" in ${origin}.`,
    405: `Check "url" in ${origin}.`,
    403: `You may not have access: check "headers" in ${origin}.`,
  };
  const hint =
    hints[status] ??
    (status >= 500
      ? `The server failed. Try again ${wait === undefined ? 'later' : `in ${formatDuration(wait * 1_000)}`}.`
      : `Run: switchboard doctor ${name}`);
  return new SwitchboardError(
    'CHILD_UNREACHABLE',
    `Server "${name}" responded with HTTP ${status}${words === '' ? '' : `: ${words}`}`,
    { hint, data: { child: name, status, ...retryData(wait) } },
  );
}

/** Why a reply asks for a sign-in or a wait; undefined for other replies. */
export function explainDenial(
  server: RemoteServer,
  { status, headers }: Pick<HttpReply, 'status' | 'headers'>,
): SwitchboardError | undefined {
  const challenge = headers['www-authenticate'];
  if (status === 401 || (status === 403 && /\binsufficient_scope\b/.test(challenge ?? ''))) {
    return explainSignIn(server, status, challenge);
  }
  if (status === 429) return explainTooMany(server, parseRetryAfter(headers['retry-after']));
  return undefined;
}

/** `wait` is in seconds; undefined if the server doesn't say how long to wait. */
export function explainTooMany(server: RemoteServer, wait: number | undefined): SwitchboardError {
  return new SwitchboardError(
    'CHILD_UNREACHABLE',
    `Server "${server.name}" is limiting requests (HTTP 429).`,
    {
      hint:
        wait === undefined
          ? 'Try again later.'
          : `Try again in ${formatDuration(wait * 1_000)}; until then, Switchboard sends it no requests.`,
      data: { child: server.name, status: 429, ...retryData(wait) },
    },
  );
}

/** `challenge` is the server's WWW-Authenticate header. */
function explainSignIn(
  { name, origin, hasAuthorization, canSignIn, secrets }: RemoteServer,
  status: 401 | 403,
  challenge: string | undefined,
): SwitchboardError {
  const wants =
    status === 401 ? 'requires you to sign in' : 'requires you to sign in with more permissions';
  const otherwise = canSignIn
    ? `Run: switchboard login ${name}`
    : `Check "headers" in ${origin}: WebSocket servers can only be authenticated with headers.`;
  return new SwitchboardError('CHILD_SIGN_IN', `Server "${name}" ${wants} (HTTP ${status}).`, {
    hint: hasAuthorization
      ? `It rejected the configured Authorization header. Check it in ${origin}.`
      : otherwise,
    data: {
      child: name,
      status,
      ...(challenge === undefined ? {} : { challenge: secrets.mask(cleanText(challenge)) }),
    },
  });
}

export function explainServerRedirect(
  { name, origin }: RemoteServer,
  status: number,
  target: URL | undefined,
): SwitchboardError {
  const where = target ? `to ${target.protocol}//${target.host}` : 'without a destination';
  return new SwitchboardError(
    'CHILD_UNREACHABLE',
    `Server "${name}" redirects ${where} (HTTP ${status}), which Switchboard doesn't follow.`,
    {
      hint: `If the server has moved, set "url" to that address in ${origin}.`,
      data: { child: name, status },
    },
  );
}

/** For the older transport, where the server names the URL to POST to. */
export function explainForeignEndpoint(
  { name, place }: RemoteServer,
  endpoint: URL | undefined,
): SwitchboardError {
  const where = endpoint ? `to ${endpoint.protocol}//${endpoint.host}` : 'to an invalid URL';
  return new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${name}" wants messages sent ${where}, which Switchboard refuses.`,
    { hint: `Only URLs at ${place} are accepted.`, data: { child: name } },
  );
}

/** The reply is neither JSON nor an event stream. */
export function explainContent(server: RemoteServer, type: string, text: string): SwitchboardError {
  const what = type === '' ? 'something' : cleanText(type).slice(0, 100);
  const words = quoteServer(server, text);
  return new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${server.name}" responded with ${what} instead of JSON or an event stream${words === '' ? '.' : `: ${words}`}`,
    {
      hint: `Check that "url" in ${server.origin} is the server's MCP endpoint.`,
      data: { child: server.name },
    },
  );
}

/** The reply ended or was cut before the answer. */
export function explainCut({ name }: RemoteServer, how: 'ended' | 'broke'): SwitchboardError {
  const what =
    how === 'ended'
      ? `Server "${name}" ended its HTTP response without answering the request.`
      : `The connection to server "${name}" was closed before the response arrived.`;
  return new SwitchboardError('CHILD_UNREACHABLE', what, {
    hint: NOT_REPEATED,
    data: { child: name },
  });
}

/** Text from the server, safe to show. */
export function quoteServer({ secrets }: RemoteServer, text: string): string {
  return excerpt(text, QUOTED_CHARS, secrets.mask);
}

/** Seconds from now; undefined if the header is missing or invalid. */
export function parseRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const at = Date.parse(header);
  const seconds = /^\s*\d+\s*$/.test(header) ? Number(header) : (at - Date.now()) / 1_000;
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(0, Math.ceil(seconds)), MAX_WAIT_SECONDS);
}

function retryData(wait: number | undefined): { retryAfterSeconds?: number } {
  return wait === undefined ? {} : { retryAfterSeconds: wait };
}
