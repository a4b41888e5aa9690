// The link to a server within this process: an assistant in the background process, which has no process of its own.
import { guard } from '../base/guard.ts';
import type { Mask } from '../base/secrets.ts';
import { Peer, type PeerOptions } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { receiveMessage } from './incoming.ts';
import { KnownSecrets } from './known-secrets.ts';
import { type Link, type LinkEnd, LinkEnded } from './link.ts';

export interface InsideServer extends AsyncDisposable {
  /** Takes one message. */
  readonly receive: (text: string) => void;
  /** Whether its output should wait. */
  readonly setFull: (isFull: boolean) => void;
}

/** `send` takes one message of the server's. Throws if it can't be opened. */
export type OpenInside = (send: (text: string) => void) => InsideServer;

export interface InsideLinkOptions
  extends Pick<PeerOptions, 'onRequest' | 'onNotification' | 'onBug'> {
  readonly open: OpenInside;
  readonly secrets: readonly string[];
}

export class InsideLink implements Link {
  readonly peer: Peer;
  readonly pid = undefined;
  readonly hasSpoken = true;
  readonly lastOutput = '';
  readonly mask: Mask;
  readonly ended: Promise<LinkEnd>;
  readonly #server: InsideServer;
  readonly #secrets: KnownSecrets;
  readonly #onBug: (error: unknown) => void;
  /** What has arrived while it is paused; undefined while it isn't. */
  #held: string[] | undefined;
  #resolveEnded: (end: LinkEnd) => void = () => {};
  #stopping: Promise<void> | undefined;

  constructor({ open, secrets, onRequest, onNotification, onBug }: InsideLinkOptions) {
    this.#onBug = onBug;
    this.#secrets = new KnownSecrets(secrets);
    this.mask = this.#secrets.mask;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.peer = new Peer({
      send: (text) => this.#later(() => this.#server.receive(text)),
      onRequest,
      onNotification,
      onBug,
    });
    this.#server = open((text) => this.#later(() => this.#receive(text)));
  }

  get secrets(): readonly string[] {
    return this.#secrets.values;
  }

  hide(values: readonly string[]): void {
    this.#secrets.add(values);
  }

  endOutput(): void {}

  pause(): void {
    this.#held ??= [];
    this.#server.setFull(true);
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const text of held) this.#receive(text);
    this.#server.setFull(false);
  }

  #receive(text: string): void {
    if (this.#held) this.#held.push(text);
    else receiveMessage(this.peer, new Verbatim(text, JSON.parse(text)));
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const end: LinkEnd = { kind: 'disconnected', reason: 'it was stopped' };
    this.peer.close(new LinkEnded(end));
    this.#resolveEnded(end);
    try {
      await this.#server[Symbol.asyncDispose]();
    } catch (error) {
      this.#onBug(error);
    }
  }

  /** Never within the call that sends: whoever sends isn't done yet. */
  #later(deliver: () => void): void {
    const deliverUnlessStopped = (): void => {
      if (!this.#stopping) deliver();
    };
    queueMicrotask(guard(this.#onBug, deliverUnlessStopped));
  }
}
