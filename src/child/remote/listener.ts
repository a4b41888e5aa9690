// The stream on which a server over Streamable HTTP says what nobody has asked for. Not every server
// offers one. It is opened again whenever it ends, behind what has come already.
import { SwitchboardError } from '../../base/errors.ts';
import { parseWithin } from '../../rpc/json-text.ts';
import { Oversize } from './body.ts';
import { readEvents, type ServerEvent } from './events.ts';
import type { HttpReply } from './http.ts';
import { isEventStream } from './reply.ts';
import { discard } from './sender.ts';
import type { RemoteServer } from './server.ts';
import { sleep } from './wire.ts';

export interface ListenOptions {
  readonly server: RemoteServer;
  readonly signal: AbortSignal;
  readonly get: (lastEventId: string | undefined) => Promise<HttpReply>;
  readonly onMessage: (text: string, value: unknown) => void;
  /** The stream is about to be read. */
  readonly onOpen: (reply: HttpReply) => void;
  readonly onClose: () => void;
}

/** It is opened again after so long; doubled each time that it brings nothing. */
const REOPEN_MS = 1_000;
const LONGEST_REOPEN_MS = 60_000;

/** Listens until it is called off, or the server turns out to offer no such stream. */
export async function listen(options: ListenOptions): Promise<void> {
  const { server, signal, get, onMessage, onOpen, onClose } = options;
  let lastEventId: string | undefined;
  let waitMs = REOPEN_MS;
  let leastMs = 0;
  const onEvent = (event: ServerEvent): void => {
    lastEventId = event.id || lastEventId;
    waitMs = REOPEN_MS;
    const isMessage = event.type === 'message';
    const value = isMessage ? parseWithin(event.data, server.messageShape) : undefined;
    if (value !== undefined) onMessage(event.data, value);
  };
  const onRetry = (ms: number): void => {
    leastMs = ms;
  };
  while (!signal.aborted) {
    try {
      const reply = await get(lastEventId);
      if (!isEventStream(reply)) return discard(reply);
      onOpen(reply);
      await readEvents(reply.body, server.messageBytes, { onEvent, onRetry });
    } catch (error) {
      if (error instanceof Oversize) lastEventId = undefined; // or it would come again
      // Who has to sign in is told so by the next request; what else failed may work later.
      if (error instanceof SwitchboardError && error.code === 'CHILD_SIGN_IN') return;
    } finally {
      onClose();
    }
    await sleep(Math.max(waitMs, leastMs), signal);
    waitMs = Math.min(2 * waitMs, LONGEST_REOPEN_MS);
  }
}
