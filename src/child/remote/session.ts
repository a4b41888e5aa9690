// What a handshake over Streamable HTTP settles about the requests behind it. A new handshake settles
// it anew, as another object.
import { isObject } from '../../base/object.ts';
import type { HttpReply } from './http.ts';

export interface Session {
  /** Undefined where the server keeps none. */
  readonly id: string | undefined;
  readonly revision: string | undefined;
}

export const NO_SESSION: Session = { id: undefined, revision: undefined };

export function settleSession({ headers }: HttpReply, answer: unknown): Session {
  const result = isObject(answer) ? answer['result'] : undefined;
  const revision = isObject(result) ? result['protocolVersion'] : undefined;
  const id = headers['mcp-session-id'];
  return {
    id: typeof id === 'string' ? id : undefined,
    revision: typeof revision === 'string' && /^[\w.-]+$/.test(revision) ? revision : undefined,
  };
}

export function sessionHeaders({ id, revision }: Session): Record<string, string> {
  return {
    ...(id === undefined ? {} : { 'mcp-session-id': id }),
    ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
  };
}
