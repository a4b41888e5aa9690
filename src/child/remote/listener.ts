// The stream for messages a Streamable HTTP server sends on its own. Not every server offers one. When
// it ends, it is reopened after the last event.
import { SwitchboardError } from '../../base/errors.ts';
import { Oversize } from '../../net/body.ts';
import type { HttpReply } from '../../net/http-client.ts';
import { parseWithin } from '../../rpc/json-text.ts';
import { readEvents, type ServerEvent } from './events.ts';
import { isEventStream } from './reply.ts';
import { discard } from './sender.ts';
import type { RemoteServer } from './server.ts';
import { sleepUnlessAborted } from './wire.ts';

export interface ListenOptions {
  readonly server: RemoteServer;
  readonly signal: AbortSignal;
  readonly get: (lastEventId: string | undefined) => Promise<HttpReply>;
  readonly onMessage: (text: string, value: unknown) => void;
  /** Called before the stream is read. */
  readonly onOpen: (reply: HttpReply) => void;
  readonly onClose: () => void;
}

/** Doubles each time the stream brings nothing. */
const REOPEN_MS = 1_000;
const MAX_REOPEN_MS = 60_000;

/** Listens until aborted, or until the server turns out not to offer the stream. */
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
      if (isEventStream(reply)) {
        onOpen(reply);
        await readEvents(reply.body, server.messageBytes, { onEvent, onRetry });
      } else {
        discard(reply);
        if (reply.status < 500) return;
      }
    } catch (error) {
      if (error instanceof Oversize) lastEventId = undefined; // or it would be sent again
      // The next request reports a missing sign-in. Anything else may work later.
      if (error instanceof SwitchboardError && error.code === 'CHILD_SIGN_IN') return;
    } finally {
      onClose();
    }
    await sleepUnlessAborted(Math.max(waitMs, leastMs), signal);
    waitMs = Math.min(2 * waitMs, MAX_REOPEN_MS);
  }
}
