// The session that a handshake over Streamable HTTP establishes. Immutable: a new handshake makes a new one.
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { readText } from '../../net/body.ts';
import type { HttpReply } from '../../net/http-client.ts';
import { parseWithin } from '../../rpc/json-text.ts';
import { readEvents, type ServerEvent } from './events.ts';
import { quoteServer } from './failures.ts';
import { answers, isEventStream } from './reply.ts';
import type { RemoteServer } from './server.ts';

export interface RemoteSession {
  /** Undefined if the server has no sessions. */
  readonly id: string | undefined;
  readonly revision: string | undefined;
}

export const NO_SESSION: RemoteSession = { id: undefined, revision: undefined };

export function settleSession({ headers }: HttpReply, answer: unknown): RemoteSession {
  const result = isObject(answer) ? answer['result'] : undefined;
  const revision = isObject(result) ? result['protocolVersion'] : undefined;
  const id = headers['mcp-session-id'];
  return {
    id: typeof id === 'string' ? id : undefined,
    revision: typeof revision === 'string' && /^[\w.-]+$/.test(revision) ? revision : undefined,
  };
}

export function sessionHeaders({ id, revision }: RemoteSession): Record<string, string> {
  return {
    ...(id === undefined ? {} : { 'mcp-session-id': id }),
    ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
  };
}

/** The answer to a repeated handshake, which only the wire needs. */
export async function readGreeting(
  server: RemoteServer,
  reply: HttpReply,
  id: number,
): Promise<unknown> {
  let answer: unknown;
  if (isEventStream(reply)) {
    const onEvent = ({ data }: ServerEvent): void => {
      const value = parseWithin(data, server.messageShape);
      if (!answers(value, id)) return;
      answer = value;
      reply.body.destroy();
    };
    await readEvents(reply.body, server.messageBytes, { onEvent });
  } else {
    const text = await readText(reply.body, server.messageBytes);
    answer = parseWithin(text, server.messageShape);
  }
  if (isObject(answer) && isObject(answer['result'])) return answer;
  throw new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${server.name}" lost its session and refused a new one: ${quoteServer(server, JSON.stringify(answer) ?? 'no answer')}`,
    { hint: `Run: switchboard doctor ${server.name}` },
  );
}
