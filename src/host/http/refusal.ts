// A request that is not taken up: the HTTP status, and the same as a JSON-RPC error for the client's
// protocol layer. Nothing of the request is repeated in it but its id.
import type { ServerResponse } from 'node:http';
import { errorText, type Id, INVALID_REQUEST, RpcError } from '../../rpc/message.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { sendJson } from './response.ts';

export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly id?: Id | undefined;
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What JSON-RPC leaves to servers: used where HTTP's own status says it all. */
const NOT_ACCEPTED = -32000;
/** How long a client may go on sending a body that nobody wants, so that it sees why. */
const LINGER_MS = 2_000;

export function refusal(
  status: number,
  message: string,
  { code = NOT_ACCEPTED, ...more }: Partial<Refusal> = {},
): Refusal {
  return { ...more, status, code, message };
}

export function badRequest(message: string, more: Partial<Refusal> = {}): Refusal {
  return refusal(400, message, { code: INVALID_REQUEST, ...more });
}

export function sendRefusal(response: ServerResponse, refused: Refusal): void {
  const { status, code, message, id, data, headers } = refused;
  const error = new RpcError(code, message, data === undefined ? undefined : Verbatim.of(data));
  sendJson(response, status, errorText(JSON.stringify(id ?? null), error), headers);
  endUnreadBody(response);
}

/**
 * A client that is still sending does not look at the answer yet, and one whose connection is cut may
 * never see it. So the rest is read and thrown away for a while.
 */
function endUnreadBody({ req }: ServerResponse): void {
  if (req.complete) return;
  req.resume();
  const cut = setTimeout(() => req.destroy(), LINGER_MS).unref();
  req.once('close', () => clearTimeout(cut));
}
