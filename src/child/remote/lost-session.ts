// Whether a refusal means that the server no longer knows the session. The protocol has a status for it,
// and servers have several; where it is not clear, they are asked something that nobody can take amiss.
import { SESSION_NOT_FOUND } from '../../mcp/eras.ts';
import { METHOD_NOT_FOUND } from '../../rpc/message.ts';
import type { Refusal } from './failures.ts';
import type { HttpReply } from './http.ts';
import { errorIn, readRefusal } from './reply.ts';
import type { RemoteServer } from './server.ts';
import type { Session } from './session.ts';

/** Sends a ping in the session. */
type Ping = (json: string) => Promise<HttpReply>;

/** JSON-RPC's code for whatever a server has no code for. */
const SERVER_ERROR = -32000;

/** Of a request that was not looked at. */
export async function isLost(
  { id }: Session,
  refusal: Refusal,
  isRefusedPing: () => Promise<boolean>,
): Promise<boolean> {
  const { status } = refusal;
  if (id === undefined || (status !== 400 && status !== 404)) return false;
  if (status === 404 || errorIn(refusal)?.code === SESSION_NOT_FOUND) return true;
  return mayBeLost({ id }, refusal) && isRefusedPing();
}

/** Many servers answer so, and 400, though 404 is what the protocol has for it. */
export function mayBeLost({ id }: Pick<Session, 'id'>, refusal: Refusal): boolean {
  return id !== undefined && errorIn(refusal)?.code === SERVER_ERROR;
}

/** Who does not reply has not refused it. */
export async function isRefused(ping: Ping, server: RemoteServer): Promise<boolean> {
  try {
    const reply = await ping(PING);
    const refusal = await readRefusal(reply, server);
    const isUnknown = errorIn(refusal)?.code === METHOD_NOT_FOUND;
    return (reply.status === 400 || reply.status === 404) && !isUnknown;
  } catch {
    return false;
  }
}

const PING = '{"jsonrpc":"2.0","id":"switchboard-ping","method":"ping"}';
