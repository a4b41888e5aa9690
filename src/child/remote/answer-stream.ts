// The stream of events that a request is answered with: progress, whatever else the server has to say
// meanwhile, and at its end the answer. A stream that was cut is taken up again where it ended, if
// the server numbers its events; the request itself is not sent again. However a server behaves, one
// call does not make us knock without end, nor without pause.
import { parseWithin } from '../../rpc/json-text.ts';
import { idFromOversize } from '../../rpc/oversize.ts';
import { TooComplex } from '../../rpc/shape.ts';
import { explainOversize } from '../failures.ts';
import { type EventHandlers, readEvents, type ServerEvent } from './events.ts';
import { explainCut } from './failures.ts';
import type { HttpReply } from './http.ts';
import { answers, isEventStream, isSameId } from './reply.ts';
import { discard } from './sender.ts';
import type { RemoteServer } from './server.ts';
import { sleep } from './wire.ts';

export interface AnswerStreamOptions {
  readonly server: RemoteServer;
  /** The request that is answered. */
  readonly id: number;
  readonly signal: AbortSignal;
  readonly onMessage: (text: string, value: unknown) => void;
  /** A stream is about to be read. */
  readonly onOpen: (reply: HttpReply) => void;
  /** Asks for what comes behind an event; undefined where nothing is taken up again. */
  readonly resume: ((lastEventId: string) => Promise<HttpReply>) | undefined;
}

/** A stream that has brought its answer should end by itself. */
const LINGER_MS = 1_000;
/** A stream that was cut is taken up again after so long, unless the server names a time. */
const RESUME_MS = 500;
/** It may name no shorter one. */
const SHORTEST_RESUME_MS = 100;
const MAX_EMPTY_STREAMS = 3;
const MAX_STREAMS = 1_000;

/** Rejects where the answer does not come. */
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
      retryMs = Math.max(ms, SHORTEST_RESUME_MS);
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
    await sleep(retryMs, signal);
    reply = await resume(lastEventId, options);
    if (!reply) throw explainCut(server, how);
  }
}

/** Throws if the message is the answer. */
function refuseAnswer(limit: TooComplex, { server, id }: AnswerStreamOptions): void {
  const found = idFromOversize(limit.head, limit.tail);
  if (found?.kind === 'response' && isSameId(found.id, id)) {
    throw explainOversize(server.name, limit);
  }
}

/** Undefined where the server does not offer it. */
async function resume(
  lastEventId: string,
  options: AnswerStreamOptions,
): Promise<HttpReply | undefined> {
  try {
    const reply = await options.resume?.(lastEventId);
    if (reply && isEventStream(reply)) return reply;
    if (reply) discard(reply);
  } catch {
    // that the answer was lost says more than why it cannot be had again
  }
  return undefined;
}
