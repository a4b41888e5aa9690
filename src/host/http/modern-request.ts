// One request of a host without handshake. It is a session of its own, which begins with the POST and
// ends with the response; a client that closes the connection before calls it off.
import type { ServerResponse } from 'node:http';
import { guard } from '../../base/guard.ts';
import type { Log } from '../../base/log.ts';
import { HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION } from '../../mcp/eras.ts';
import { METHOD_NOT_FOUND, type Outgoing, type OutgoingAnswer } from '../../rpc/message.ts';
import type { HttpSession, OpenSession } from './exchange.ts';
import type { Incoming } from './incoming.ts';
import type { Refusal } from './refusal.ts';
import { Reply, type ReplyTimes } from './reply.ts';
import { reportBug } from './report-bug.ts';
import { UnreadResponses } from './unread.ts';

export interface ModernOptions extends ReplyTimes {
  readonly openSession: OpenSession;
  readonly log: Log;
}

/** Ends the request before it is answered. */
export type BreakOff = (reason: Refusal) => void;

export function serveModernRequest(
  { id, method, text, value }: Incoming,
  response: ServerResponse,
  { openSession, ...options }: ModernOptions,
): BreakOff {
  let session: HttpSession | undefined;
  let isDone = false;
  let isStream = false;
  const becomeStream = () => {
    isStream = true;
    return reply.stream();
  };
  const onBug = reportBug(options.log);
  const unread = new UnreadResponses({ onFull: (isFull) => session?.setFull(isFull), onBug });
  const reply = new Reply(response, {
    ...options,
    headers: {},
    onSlow: becomeStream,
    onWritten: unread.note,
  });
  const end = (): void => {
    if (isDone) return;
    isDone = true;
    session?.close();
  };
  const send = (json: string, message: Outgoing): void => {
    if (isDone) return;
    const answer = message.kind === 'answer' && message.about === id ? message : undefined;
    if (answer && !isStream) reply.json(json, statusOf(answer, method));
    else becomeStream()?.send(json);
    if (!answer) return;
    if (isStream) reply.end();
    end();
  };
  const fail = (error: unknown): void => {
    onBug(error);
    response.destroy();
  };
  response.once('close', guard(onBug, end));
  session = openSession({ era: 'modern', send: guard(fail, send) });
  session.receive({ text, value, framing: 'newline' });
  return (reason) => {
    if (isDone) return;
    end();
    reply.breakOff(reason);
  };
}

/** The status that goes with an answer. What a server behind us answers is no failure of ours. */
function statusOf({ error }: OutgoingAnswer, method: string): number {
  const code = error?.code;
  if (code === MISSING_CAPABILITY) return 400;
  if (method === 'tools/call') return 200;
  if (code === METHOD_NOT_FOUND) return 404;
  return code === HEADER_MISMATCH || code === UNSUPPORTED_VERSION ? 400 : 200;
}
