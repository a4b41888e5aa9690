// Finds out whether a refusal means that the server has lost the session. The protocol defines one status for it,
// but servers use several. If it isn't clear, we send a harmless ping.
import { SESSION_NOT_FOUND } from '../../mcp/eras.ts';
import type { HttpReply } from '../../net/http-client.ts';
import { METHOD_NOT_FOUND } from '../../rpc/message.ts';
import type { RefusedReply } from './failures.ts';
import { errorIn, readRefusal } from './reply.ts';
import type { RemoteServer } from './server.ts';
import type { RemoteSession } from './session.ts';

/** Sends a ping in the session. */
type Ping = (json: string) => Promise<HttpReply>;

/** JSON-RPC's generic code. */
const SERVER_ERROR = -32000;

/** For a request that the server didn't process. */
export async function isLost(
  { id }: RemoteSession,
  refusal: RefusedReply,
  isRefusedPing: () => Promise<boolean>,
): Promise<boolean> {
  const { status } = refusal;
  if (id === undefined || (status !== 400 && status !== 404)) return false;
  if (status === 404 || errorIn(refusal)?.code === SESSION_NOT_FOUND) return true;
  return mayBeLost({ id }, refusal) && isRefusedPing();
}

/** Many servers use this code with status 400 instead of the protocol's 404. */
export function mayBeLost({ id }: Pick<RemoteSession, 'id'>, refusal: RefusedReply): boolean {
  return id !== undefined && errorIn(refusal)?.code === SERVER_ERROR;
}

/** No reply doesn't count as refused. */
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
