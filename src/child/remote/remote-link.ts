// The link to a server over the network, with any transport.
import { guard } from '../../base/guard.ts';
import type { Mask } from '../../base/secrets.ts';
import type { ChildConfig, Remote } from '../../config/config.ts';
import type { Outgoing } from '../../rpc/message.ts';
import { toOneLine } from '../../rpc/one-line.ts';
import { oversizeEvent } from '../../rpc/oversize.ts';
import { Peer, type PeerOptions } from '../../rpc/peer.ts';
import { TooComplex } from '../../rpc/shape.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import type { Credentials } from '../credentials.ts';
import { receiveMessage } from '../incoming.ts';
import { type Link, type LinkEnd, LinkEnded } from '../link.ts';
import { failOnlyRequest, judgeOversize } from '../oversize.ts';
import { type Address, parseAddress } from './address.ts';
import { OlderSseWire } from './older-sse.ts';
import type { InputSchemaOf } from './param-headers.ts';
import { Sender } from './sender.ts';
import { type RemoteServer, Secrets } from './server.ts';
import { type SentRequest, StreamableWire } from './streamable.ts';
import { WebSocketWire } from './websocket.ts';
import type { Wire, WireEvents } from './wire.ts';

export interface RemoteLinkOptions {
  /** Has the values of the variables in the URL and the headers, and names the proxy. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly credentials?: Credentials | undefined;
  /** The input schema of a tool, if known: it may want arguments repeated in headers. */
  readonly inputSchemaOf?: InputSchemaOf | undefined;
  /** Gets warnings, as if the server had printed them. */
  readonly onStderr: (line: string) => void;
  readonly onRequest: PeerOptions['onRequest'];
  readonly onNotification: PeerOptions['onNotification'];
  /** Logs a bug in handling what the server sent or did. */
  readonly onBug: (error: unknown) => void;
}

export class RemoteLink implements Link {
  readonly peer: Peer;
  readonly pid = undefined;
  readonly hasSpoken = true; // network transports have a single framing
  readonly lastOutput = '';
  readonly mask: Mask;
  readonly ended: Promise<LinkEnd>;
  readonly #config: ChildConfig;
  readonly #address: Address;
  readonly #server: RemoteServer;
  readonly #options: RemoteLinkOptions;
  #wire: Wire | undefined;
  #isPaused = false;
  #hasEnded = false;
  #resolveEnded: (end: LinkEnd) => void = () => {};
  #stopping: Promise<void> | undefined;

  /** Connects with the first message. Throws if the URL is invalid. */
  constructor(config: ChildConfig, remote: Remote, options: RemoteLinkOptions) {
    const address = parseAddress(config, remote, options.env);
    const { name, origin, messageBytes, messageShape } = config;
    this.#config = config;
    this.#address = address;
    this.#options = options;
    this.#server = {
      name,
      origin,
      place: `${address.url.protocol}//${address.url.host}`,
      hasAuthorization: address.headers['authorization'] !== undefined,
      canSignIn: address.kind !== 'ws',
      messageBytes,
      messageShape,
      secrets: new Secrets(address.secrets),
    };
    this.mask = this.#server.secrets.mask;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.peer = new Peer({
      send: (json, message) => this.#send(json, message),
      onRequest: options.onRequest,
      onNotification: options.onNotification,
      onBug: options.onBug,
    });
  }

  get secrets(): readonly string[] {
    return this.#server.secrets.values;
  }

  hide(values: readonly string[]): void {
    this.#server.secrets.add(values);
  }

  endOutput(): void {}

  pause(): void {
    this.#isPaused = true;
    this.#wire?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#wire?.resume();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#closeWire();
    this.#end({ kind: 'disconnected', reason: 'it was stopped' });
    return this.#stopping;
  }

  #send(json: string, message: Outgoing): void {
    if (this.#hasEnded) return;
    const wire = this.#wire ?? this.#use(this.#connect());
    wire.send(toOneLine(json), message);
  }

  #connect(): Wire {
    const { name } = this.#config;
    const { kind, url, headers, isExposed } = this.#address;
    if (isExposed) {
      this.#options.onStderr(
        `warning: server "${name}" receives secrets over ${url.protocol}//, where anyone on the network can read them; use ${url.protocol === 'ws:' ? 'wss' : 'https'}://.`,
      );
    }
    const { credentials, env } = this.#options;
    const server = this.#server;
    if (kind === 'ws') {
      const target = new URL(url.href.replace(/^http/, 'ws'));
      return new WebSocketWire({ server, url: target, headers, env, ...this.#events() });
    }
    if (kind === 'sse') return this.#connectOlder();
    return new StreamableWire({
      server,
      url,
      sender: new Sender({ server, headers, credentials, env }),
      handshakeMs: this.#config.timeouts.spawnMs,
      inputSchemaOf: this.#options.inputSchemaOf,
      onOlder: (handshake, error) => this.#goBack(handshake, error),
      ...this.#events(),
    });
  }

  /** The server may only support the older transport: sends the handshake over that. */
  #goBack({ json, message }: SentRequest, error: Error): void {
    if (this.#hasEnded) return;
    void this.#closeWire();
    this.#use(this.#connectOlder(error)).send(json, message);
  }

  #use(wire: Wire): Wire {
    this.#wire = wire;
    if (this.#isPaused) wire.pause();
    return wire;
  }

  #connectOlder(insteadOf?: Error): Wire {
    const { url, headers } = this.#address;
    const { credentials, env } = this.#options;
    const server = this.#server;
    const sender = new Sender({ server, headers, credentials, env });
    const { spawnMs: handshakeMs } = this.#config.timeouts;
    const events = this.#events();
    return new OlderSseWire({ server, url, sender, handshakeMs, insteadOf, ...events });
  }

  #events(): WireEvents {
    const fail = (error: unknown): void => {
      this.#options.onBug(error);
      this.#end({ kind: 'failed' });
      void this.stop();
    };
    return {
      onMessage: guard(fail, (text, value) => this.#receive(text, value)),
      onFailure: guard(fail, (id, error) => this.peer.requests.fail(id, error)),
      onEnd: guard(fail, (end, error) => {
        if (end.kind === 'oversized') {
          const { name, messageBytes } = this.#config;
          failOnlyRequest(this.peer, name, { name: 'messageBytes', most: messageBytes });
        }
        this.#end(end, error);
        void this.stop();
      }),
      onBug: fail,
    };
  }

  #receive(text: string, value: unknown): void {
    if (!(value instanceof TooComplex)) receiveMessage(this.peer, new Verbatim(text, value));
    else judgeOversize(this.peer, oversizeEvent(value, 'newline'), this.#config);
  }

  /** Never rejects. */
  async #closeWire(): Promise<void> {
    try {
      await this.#wire?.close();
    } catch (error) {
      this.#options.onBug(error);
    }
  }

  #end(end: LinkEnd, error?: Error): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.peer.close(error ?? new LinkEnded(end));
    this.#resolveEnded(end);
  }
}
