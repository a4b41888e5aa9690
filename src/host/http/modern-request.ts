// One request from a modern host. It is its own session, from the POST to the end of the response. If the client
// closes the connection earlier, the request is cancelled.
import type { ServerResponse } from 'node:http';
import { guard } from '../../base/guard.ts';
import type { Log } from '../../base/log.ts';
import { HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION } from '../../mcp/eras.ts';
import { METHOD_NOT_FOUND, type Outgoing, type OutgoingAnswer } from '../../rpc/message.ts';
import type { HttpSession, OpenSession } from './exchange.ts';
import type { Incoming } from './incoming.ts';
import type { HttpRefusal } from './refusal.ts';
import { PostReply, type ReplyTimes } from './reply.ts';
import { reportBug } from './report-bug.ts';
import { UnreadResponses } from './unread.ts';

export interface ModernRequestOptions extends ReplyTimes {
  readonly openSession: OpenSession;
  readonly log: Log;
}

/** Ends the request before its answer. */
export type BreakOff = (reason: HttpRefusal) => void;

export function serveModernRequest(
  { id, method, text, value }: Incoming,
  response: ServerResponse,
  { openSession, ...options }: ModernRequestOptions,
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
  const reply = new PostReply(response, {
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

/** The HTTP status for an answer. An error from a server behind us is not an HTTP error. */
function statusOf({ error }: OutgoingAnswer, method: string): number {
  const code = error?.code;
  if (code === MISSING_CAPABILITY) return 400;
  if (method === 'tools/call') return 200;
  if (code === METHOD_NOT_FOUND) return 404;
  return code === HEADER_MISMATCH || code === UNSUPPORTED_VERSION ? 400 : 200;
}
