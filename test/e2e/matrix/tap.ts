// Writes down what passes a client's transport, before the client makes anything of it.
import type { Host, Message } from './hosts.ts';

interface Transport {
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  send(message: never, options?: never): Promise<void>;
}

/** Over HTTP a modern client calls a request off by no longer reading its answer. */
interface SendOptions {
  readonly requestSignal?: AbortSignal;
}

export type Tap = Pick<Host, 'received' | 'sent' | 'calledOff'>;

export function tap(transport: Transport): Tap {
  const received: Message[] = [];
  const sent: Message[] = [];
  const calledOff = new Set<unknown>();
  const send = transport.send.bind(transport);
  // The client sets it, and sets another one when it has found out the era.
  let handle: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () =>
      handle &&
      ((message: never, extra: never) => {
        received.push(message);
        handle?.(message, extra);
      }),
    set: (next: Transport['onmessage']) => {
      handle = next;
    },
  });
  transport.send = (message, options) => {
    const { id, method, params }: Message = message;
    sent.push(message);
    if (method === 'notifications/cancelled') calledOff.add(params?.['requestId']);
    const { requestSignal } = (options ?? {}) as SendOptions;
    requestSignal?.addEventListener('abort', () => calledOff.add(id));
    return send(message, options);
  };
  return { received, sent, calledOff };
}
