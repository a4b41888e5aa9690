// Sentences for the ways in which a server that is reached over the network fails.
import { SwitchboardError } from '../../base/errors.ts';
import { cleanText, excerpt } from '../../base/text.ts';
import type { RemoteServer } from './server.ts';

/** So much of a body that is no answer is quoted. */
const QUOTED_CHARS = 500;

/** Nobody means more than a day, whatever the header says. */
const LONGEST_WAIT_SECONDS = 86_400;

/** A reply that refuses a request: its status, and as much of its body as was read. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/** No connection could be made, or it broke before anything came back. */
export function explainNetworkError(server: RemoteServer, error: unknown): SwitchboardError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const { name, origin, place } = server;
  const certificate = CERTIFICATE_PROBLEMS[code];
  if (certificate !== undefined) {
    return new SwitchboardError(
      'CHILD_UNREACHABLE',
      `Server "${name}" cannot be trusted: the certificate of ${place} ${certificate} (${code}).`,
      {
        hint: 'Have it put right; this check cannot be switched off. For a certificate authority of your own, set NODE_EXTRA_CA_CERTS where the host starts Switchboard.',
        cause: error,
        data: { child: name, reason: code },
      },
    );
  }
  const problem = NETWORK_PROBLEMS[code] ?? quote(server, message);
  const wasCut = code === 'ECONNRESET' || code === 'EPIPE';
  return new SwitchboardError(
    'CHILD_UNREACHABLE',
    `Server "${name}" cannot be reached at ${place}: ${problem}${code === '' ? '' : ` (${code})`}.`,
    {
      hint: wasCut ? NOT_REPEATED : `Check that it runs, and "url" in ${origin}.`,
      cause: error,
      data: { child: name, reason: code },
    },
  );
}

const NOT_REPEATED = 'The request was not sent again, because it may have had an effect.';

const NETWORK_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'its name cannot be looked up at the moment',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ETIMEDOUT: 'no connection came about in time',
  EHOSTUNREACH: 'there is no way to that machine',
  ENETUNREACH: 'there is no way to that network',
  EPROTO: 'it does not speak TLS; is it http:// and not https://?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; is it http:// and not https://?',
  HPE_HEADER_OVERFLOW: 'the headers of its reply are too large',
  HPE_INVALID_CONSTANT: 'it does not speak HTTP',
  HPE_INVALID_VERSION: 'it does not speak HTTP',
};

const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'has been revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'was signed by nobody but itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'was signed by an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'was signed by an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'was signed by an authority that is not known here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'belongs to another name',
  HOSTNAME_MISMATCH: 'belongs to another name',
};

export function explainStatus(server: RemoteServer, refusal: Refusal): SwitchboardError {
  const { name, origin } = server;
  const { status } = refusal;
  const words = quote(server, refusal.text);
  const wait = parseRetryAfter(refusal.retryAfter);
  const hints: Record<number, string> = {
    404: `Check "url" in ${origin}.`,
    405: `Check "url" in ${origin}.`,
    403: `It may not be for you: check "headers" in ${origin}.`,
  };
  const hint =
    hints[status] ??
    (status >= 500
      ? `The failure is the server's own. Try again ${wait === undefined ? 'later' : inWords(wait)}.`
      : `Run: switchboard doctor ${name}`);
  return new SwitchboardError(
    'CHILD_UNREACHABLE',
    `Server "${name}" answered with HTTP ${status}${words === '' ? '' : `: ${words}`}`,
    { hint, data: { child: name, status, ...retryData(wait) } },
  );
}

/** The server has said how long it wants to be left alone, or just that it wants to be. */
export function explainTooMany(server: RemoteServer, waitMs: number | undefined): SwitchboardError {
  const wait = waitMs === undefined ? undefined : Math.ceil(waitMs / 1_000);
  return new SwitchboardError(
    'CHILD_UNREACHABLE',
    `Server "${server.name}" has had too many requests (HTTP 429).`,
    {
      hint: `Try again ${wait === undefined ? 'later' : inWords(wait)}${wait === undefined ? '' : '; nothing is sent to it before'}.`,
      data: { child: server.name, status: 429, ...retryData(wait) },
    },
  );
}

/** `challenge` is the server's WWW-Authenticate header. */
export function explainSignIn(
  { name, origin, hasAuthorization, canSignIn, secrets }: RemoteServer,
  status: 401 | 403,
  challenge: string | undefined,
): SwitchboardError {
  const wants = status === 401 ? 'wants you to sign in' : 'wants you to sign in with more rights';
  const otherwise = canSignIn
    ? `Run: switchboard login ${name}`
    : `Check "headers" in ${origin}: over WebSocket they are all that opens its door.`;
  return new SwitchboardError('CHILD_SIGN_IN', `Server "${name}" ${wants} (HTTP ${status}).`, {
    hint: hasAuthorization
      ? `It refused the Authorization header that is configured: check it in ${origin}.`
      : otherwise,
    data: {
      child: name,
      status,
      ...(challenge === undefined ? {} : { challenge: secrets.mask(cleanText(challenge)) }),
    },
  });
}

export function explainRedirect(
  { name, origin }: RemoteServer,
  status: number,
  target: URL | undefined,
): SwitchboardError {
  const where = target ? `to ${target.protocol}//${target.host}` : 'to nowhere';
  return new SwitchboardError(
    'CHILD_UNREACHABLE',
    `Server "${name}" redirects ${where} (HTTP ${status}), which is not followed.`,
    {
      hint: `If that is where it is now, write that address as "url" in ${origin}.`,
      data: { child: name, status },
    },
  );
}

/** The older transport has the server name the address for our messages. */
export function explainForeignEndpoint(
  { name, place }: RemoteServer,
  endpoint: URL | undefined,
): SwitchboardError {
  const where = endpoint ? `to ${endpoint.protocol}//${endpoint.host}` : 'to what is no address';
  return new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${name}" wants its messages sent ${where}, which is not done.`,
    { hint: `Only an address at ${place} itself is accepted.`, data: { child: name } },
  );
}

/** The reply is neither JSON nor a stream of events. */
export function explainContent(server: RemoteServer, type: string, text: string): SwitchboardError {
  const what = type === '' ? 'something' : cleanText(type).slice(0, 100);
  const words = quote(server, text);
  return new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${server.name}" answered with ${what} where JSON or a stream of events was due${words === '' ? '.' : `: ${words}`}`,
    {
      hint: `Check that "url" in ${server.origin} is the address for MCP.`,
      data: { child: server.name },
    },
  );
}

/** The reply ended, or broke off, without what was asked for. */
export function explainCut({ name }: RemoteServer, how: 'ended' | 'broke'): SwitchboardError {
  const what =
    how === 'ended'
      ? `Server "${name}" ended its reply without the answer.`
      : `The connection to server "${name}" was cut before the answer.`;
  return new SwitchboardError('CHILD_UNREACHABLE', what, {
    hint: NOT_REPEATED,
    data: { child: name },
  });
}

/** Text of the server's, as far as it is fit to be shown. */
export function quote({ secrets }: RemoteServer, text: string): string {
  return excerpt(text, QUOTED_CHARS, secrets.mask);
}

/** Seconds from now; undefined where the header says nothing that can be understood. */
export function parseRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const at = Date.parse(header);
  const seconds = /^\s*\d+\s*$/.test(header) ? Number(header) : (at - Date.now()) / 1_000;
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(0, Math.ceil(seconds)), LONGEST_WAIT_SECONDS);
}

function retryData(wait: number | undefined): { retryAfterSeconds?: number } {
  return wait === undefined ? {} : { retryAfterSeconds: wait };
}

function inWords(seconds: number): string {
  if (seconds < 120) return `in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `in ${minutes} minutes` : `in ${Math.ceil(minutes / 60)} hours`;
}
