// Reads the event stream that answers a request: progress, other messages and finally the answer. If
// the stream is cut and the server numbers its events, it is resumed after the last one; the request
// itself is never sent again. The number of attempts is limited, with a pause between them.

import type { HttpReply } from '../../net/http-client.ts';
import { parseWithin } from '../../rpc/json-text.ts';
import { idFromOversize } from '../../rpc/oversize.ts';
import { TooComplex } from '../../rpc/shape.ts';
import { explainOversize } from '../failures.ts';
import { type EventHandlers, readEvents, type ServerEvent } from './events.ts';
import { explainCut } from './failures.ts';
import { answers, isEventStream, isSameId } from './reply.ts';
import { discard } from './sender.ts';
import type { RemoteServer } from './server.ts';
import { sleepUnlessAborted } from './wire.ts';

export interface AnswerStreamOptions {
  readonly server: RemoteServer;
  /** Of the request. */
  readonly id: number;
  readonly signal: AbortSignal;
  readonly onMessage: (text: string, value: unknown) => void;
  /** Called before each stream is read. */
  readonly onOpen: (reply: HttpReply) => void;
  /** Requests the events after this one; undefined if streams can't be resumed. */
  readonly resume: ((lastEventId: string) => Promise<HttpReply>) | undefined;
}

/** How long the server has to end the stream after the answer. */
const LINGER_MS = 1_000;
/** Until a cut stream is resumed, unless the server sets a time. */
const RESUME_MS = 500;
const MIN_RESUME_MS = 100;
const MAX_EMPTY_STREAMS = 3;
const MAX_STREAMS = 1_000;

/** Rejects if no answer comes. */
export async function readAnswerStream(
  first: HttpReply,
  options: AnswerStreamOptions,
): Promise<void> {
  const { server, id, signal, onMessage, onOpen } = options;
  let reply: HttpReply | undefined = first;
  let isAnswered = false;
  let lastEventId: string | undefined;
  let retryMs = RESUME_MS;
  let emptyStreams = 0;
  let linger: NodeJS.Timeout | undefined;
  const handlers: EventHandlers = {
    onEvent: (event: ServerEvent) => {
      emptyStreams = 0;
      lastEventId = event.id || lastEventId;
      const isMessage = event.type === 'message';
      const value = isMessage ? parseWithin(event.data, server.messageShape) : undefined;
      if (value === undefined) return;
      if (value instanceof TooComplex) refuseAnswer(value, options);
      onMessage(event.data, value);
      if (isAnswered || !answers(value, id)) return;
      isAnswered = true;
      linger = setTimeout(() => reply?.body.destroy(), LINGER_MS).unref();
    },
    onRetry: (ms) => {
      retryMs = Math.max(ms, MIN_RESUME_MS);
    },
  };
  for (let streams = 1; ; streams++) {
    onOpen(reply);
    const how = await readEvents(reply.body, server.messageBytes, handlers);
    clearTimeout(linger);
    if (isAnswered) return;
    emptyStreams += 1;
    const isEnough = emptyStreams > MAX_EMPTY_STREAMS || streams >= MAX_STREAMS;
    if (lastEventId === undefined || isEnough) {
      throw explainCut(server, how);
    }
    await sleepUnlessAborted(retryMs, signal);
    reply = await resume(lastEventId, options);
    if (!reply) throw explainCut(server, how);
  }
}

/** Throws if the oversized message is the answer. */
function refuseAnswer(limit: TooComplex, { server, id }: AnswerStreamOptions): void {
  const found = idFromOversize(limit.head, limit.tail);
  if (found?.kind === 'response' && isSameId(found.id, id)) {
    throw explainOversize(server.name, limit);
  }
}

/** Undefined if the server can't resume. */
async function resume(
  lastEventId: string,
  options: AnswerStreamOptions,
): Promise<HttpReply | undefined> {
  try {
    const reply = await options.resume?.(lastEventId);
    if (reply && isEventStream(reply)) return reply;
    if (reply) discard(reply);
  } catch {
    // the caller reports the lost answer
  }
  return undefined;
}
