// A refused request: an HTTP status, and a JSON-RPC error for the client's protocol layer. It repeats nothing from
// the request except its id.
import type { ServerResponse } from 'node:http';
import { errorText, type Id, INVALID_REQUEST, RpcError } from '../../rpc/message.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { sendJson } from './response.ts';

export interface HttpRefusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly id?: Id | undefined;
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** JSON-RPC's code for server errors, used when the HTTP status says it all. */
const NOT_ACCEPTED = -32000;
/** How long a client may keep sending a refused body, so that it can read the reason. */
const LINGER_MS = 2_000;

export function refusal(
  status: number,
  message: string,
  { code = NOT_ACCEPTED, ...more }: Partial<HttpRefusal> = {},
): HttpRefusal {
  return { ...more, status, code, message };
}

export function badRequest(message: string, more: Partial<HttpRefusal> = {}): HttpRefusal {
  return refusal(400, message, { code: INVALID_REQUEST, ...more });
}

export function sendRefusal(response: ServerResponse, refused: HttpRefusal): void {
  const { status, code, message, id, data, headers } = refused;
  const error = new RpcError(code, message, data === undefined ? undefined : Verbatim.of(data));
  sendJson(response, status, errorText(JSON.stringify(id ?? null), error), headers);
  endUnreadBody(response);
}

/**
 * A client that is still sending hasn't read the answer yet, and never will if the connection is cut. So the rest of
 * the body is read and dropped for a while.
 */
function endUnreadBody({ req }: ServerResponse): void {
  if (req.complete) return;
  req.resume();
  const cut = setTimeout(() => req.destroy(), LINGER_MS).unref();
  req.once('close', () => clearTimeout(cut));
}
