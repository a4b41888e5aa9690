// The stream of events that a request is answered with: progress, whatever else the server has to say
// meanwhile, and at its end the answer. A stream that was cut is taken up again where it ended, if
// the server numbers its events; the request itself is not sent again. However a server behaves, one
// call does not make us knock without end, nor without pause.
import { parseJson } from '../../rpc/json-text.ts';
import { type EventHandlers, readEvents, type ServerEvent } from './events.ts';
import { explainCut } from './failures.ts';
import type { HttpReply } from './http.ts';
import { answers, isEventStream } from './reply.ts';
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
      const value = event.type === 'message' ? parseJson(event.data) : undefined;
      if (value === undefined) return;
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
