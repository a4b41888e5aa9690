// One host connection. It answers requests in the host's era and framing, and doesn't know how the bytes arrive.
import { describeBug, SwitchboardError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { noteHandled } from '../base/memory.ts';
import { isObject } from '../base/object.ts';
import { type Era, META, UNSUPPORTED_VERSION } from '../mcp/eras.ts';
import { BATCH_REVISION, HANDSHAKE_REVISIONS } from '../mcp/revisions.ts';
import { decode } from '../rpc/bytes.ts';
import {
  type BrokenEvent,
  type Framing,
  type MessageEvent,
  type OversizeEvent,
  toAscii,
} from '../rpc/framing.ts';
import {
  errorText,
  type Id,
  INVALID_REQUEST,
  isId,
  type Outgoing,
  PARSE_ERROR,
  RpcError,
} from '../rpc/message.ts';
import { idFromOversize } from '../rpc/oversize.ts';
import { type IncomingRequest, Peer } from '../rpc/peer.ts';
import { describeExceeded } from '../rpc/shape.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Audience, Surface } from '../surface/surface.ts';
import type { Desk } from './desk.ts';
import { toRpcError } from './errors.ts';
import { HandshakeDesk, type ListedHost } from './handshake-desk.ts';
import type { ModernDesk } from './modern-desk.ts';
import type { Parking } from './parking.ts';
import type { StateSeal } from './request-state.ts';

export interface SessionOptions {
  /** Opens this session's view of the servers. */
  readonly openSurface: (audience: Audience) => Surface;
  readonly log: Log;
  /** Puts one message on the wire, in the framing the host uses; see PeerOptions.send. */
  readonly send: (json: string, framing: Framing, message: Outgoing) => void;
  /** Does the same for a large message, if the transport can. Only for hosts that use lines. */
  readonly sendPieces?: ((json: readonly Buffer[], message: Outgoing) => void) | undefined;
  /** The host has its first answers, so there's time for other work. */
  readonly onReady: () => void;
  /** The eras on offer; read once, with the first request. */
  readonly eras: () => 'both' | Era;
  readonly seal: StateSeal;
  readonly parking: Parking;
  /** How long a user may take to answer a question, in milliseconds. */
  readonly questionMs: () => number;
  readonly onRootsChanged: () => void;
  /** A handshake host has its first tool list, and can be asked something. */
  readonly onListed?: ((host: ListedHost) => void) | undefined;
  /** The ids of requests to the host that an earlier process used; see PeerOptions. */
  readonly lastId?: number | undefined;
}

const NEEDS_METHOD = 'A message needs "jsonrpc": "2.0" and a method.';
const NO_MESSAGE = 'A message must be a JSON object.';
/** Several answers in one message. HTTP never gets one: it splits batches itself. */
const BATCH = { kind: 'answer', about: undefined, result: undefined, error: undefined } as const;

export class Session {
  readonly #options: SessionOptions;
  readonly #peer: Peer;
  readonly #onBug = (error: unknown): void => this.#options.log.error(describeBug(error));
  #framing: Framing | undefined;
  #handshake: HandshakeDesk | undefined;
  #modern: ModernDesk | undefined;
  #loading: Promise<ModernDesk> | undefined;
  /** Fixed for the session: a reload must not change a running host's era. */
  #eras: 'both' | Era | undefined;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#peer = new Peer({
      send: (json, message) => this.#send(json, message),
      sendPieces: options.sendPieces && ((json, message) => this.#sendPieces(json, message)),
      onRequest: (request) => this.#answer(request),
      onNotification: (method) => this.#noteNotification(method),
      onBug: this.#onBug,
      lastId: options.lastId,
    });
  }

  /** The host and what it uses, for `status`. */
  get report() {
    const desk = this.#handshake?.revision ? this.#handshake : (this.#modern ?? this.#handshake);
    return desk?.report ?? { client: undefined, revision: undefined, active: [] };
  }

  receive({ text, value, framing }: MessageEvent): void {
    this.#framing ??= framing;
    noteHandled(text.length);
    const message = new Verbatim(text, value);
    if (Array.isArray(value)) this.#receiveBatch(message).catch(this.#onBug);
    else if (isMessage(value)) this.#peer.receive(message);
    else this.#refuse(INVALID_REQUEST, NEEDS_METHOD, idIn(value));
  }

  receiveBroken({ reason, framing, excerpt }: BrokenEvent): void {
    this.#framing ??= framing;
    this.#options.log.warn(`the host sent something that isn't a message: ${excerpt.slice(0, 80)}`);
    switch (reason) {
      case 'invalid-json':
        return this.#refuse(PARSE_ERROR, 'The message is not valid JSON.');
      case 'not-an-object':
        return this.#refuse(INVALID_REQUEST, NO_MESSAGE);
      case 'missing-content-length':
        return this.#refuse(INVALID_REQUEST, 'Missing Content-Length');
    }
  }

  receiveOversize({ limit, head, tail, complete, framing, bytesSoFar }: OversizeEvent): void {
    this.#framing ??= framing;
    if (!complete) return;
    const found = idFromOversize(head, tail);
    const reason =
      limit.name === 'messageBytes'
        ? `The message has ${bytesSoFar} bytes; the limit is ${limit.most} (limits.messageBytes).`
        : describeExceeded(limit);
    const error = new RpcError(INVALID_REQUEST, reason);
    // If it answers a question of ours, that question fails now.
    if (found?.kind === 'response') this.#peer.requests.fail(found.id, error);
    else this.#refuse(error.code, error.message, found?.id);
  }

  /** The host has closed its input: answers its open requests, after the limit with an error. */
  async finish(limitMs: number): Promise<void> {
    const modern = this.#modern ?? (await this.#loading);
    modern?.endSubscriptions(); // they never end on their own
    await this.#peer.finish(limitMs, tooLate());
  }

  /** The host is gone: cancels its open requests. */
  close(): void {
    this.#isClosed = true;
    this.#peer.close(new Error('The host has closed the connection.'));
    this.#handshake?.close();
    this.#modern?.close();
  }

  #answer(request: IncomingRequest): Verbatim | Promise<Verbatim> {
    const desk = this.#deskFor(request);
    return desk instanceof Promise ? desk.then((one) => one.answer(request)) : desk.answer(request);
  }

  /** The first request decides the era. After `server/discover` a host may still choose the handshake. */
  #deskFor({ method, params }: IncomingRequest): Desk | Promise<Desk> {
    if (this.#handshake?.revision) return this.#handshake;
    const eras = (this.#eras ??= this.#options.eras());
    const isModern = method === 'server/discover' || isEnveloped(params);
    if (eras === 'modern' || (eras === 'both' && isModern)) return this.#modernDesk();
    if (isModern && method !== 'server/discover') throw unsupported(params);
    return this.#handshakeDesk();
  }

  #handshakeDesk(): HandshakeDesk {
    const { openSurface, log, onReady, onRootsChanged, onListed, questionMs } = this.#options;
    this.#handshake ??= new HandshakeDesk({
      party: this,
      peer: this.#peer,
      openSurface,
      log,
      framing: () => this.#framing ?? 'newline',
      questionMs,
      onReady,
      onRootsChanged,
      onListed,
    });
    return this.#handshake;
  }

  /** Lazy: most hosts use the handshake era. */
  #modernDesk(): ModernDesk | Promise<ModernDesk> {
    if (this.#modern) return this.#modern;
    this.#loading ??= import('./modern-desk.ts').then((loaded) => {
      this.#modern = new loaded.ModernDesk({ ...this.#options, party: this, peer: this.#peer });
      if (this.#isClosed) this.#modern.close();
      return this.#modern;
    });
    return this.#loading;
  }

  #noteNotification(method: string): void {
    this.#options.log.debug(`host: ${method}`);
    (this.#handshake ?? this.#modern)?.receive(method);
  }

  async #receiveBatch(batch: Verbatim): Promise<void> {
    const messages = batch.elements();
    if (messages.length === 0) return this.#refuse(INVALID_REQUEST, 'A batch must not be empty.');
    if (this.#handshake?.revision !== BATCH_REVISION) {
      const reason = `Batches are only supported in MCP revision ${BATCH_REVISION}. Send each message separately.`;
      return this.#refuse(INVALID_REQUEST, reason);
    }
    const answers = messages.map(async (message) => {
      const { value } = message;
      if (!isObject(value)) return errorText('null', new RpcError(INVALID_REQUEST, NO_MESSAGE));
      if (!isMessage(value)) {
        const error = new RpcError(INVALID_REQUEST, NEEDS_METHOD);
        return errorText(JSON.stringify(idIn(value)), error);
      }
      if (value['id'] !== undefined && value['method'] !== undefined)
        return (await this.#peer.answer(message))?.text;
      this.#peer.receive(message);
      return undefined;
    });
    const texts = (await Promise.all(answers)).filter((text) => text !== undefined);
    if (texts.length > 0) this.#send(`[${texts.join(',')}]`, { ...BATCH, batch: idsIn(messages) });
  }

  #refuse(code: number, reason: string, id: Id | null = null): void {
    const error = new RpcError(code, reason);
    const about = id ?? undefined;
    const message: Outgoing = { kind: 'answer', about, result: undefined, error };
    this.#send(errorText(JSON.stringify(id), error), message);
  }

  #send(json: string, message: Outgoing): void {
    // Some hosts that use Content-Length count characters instead of bytes. In ASCII they're the same.
    const text = this.#framing === 'content-length' ? toAscii(json) : json;
    this.#options.send(text, this.#framing ?? 'newline', message);
  }

  #sendPieces(json: readonly Buffer[], message: Outgoing): void {
    if (this.#framing !== 'content-length') this.#options.sendPieces?.(json, message);
    else this.#send(decode(Buffer.concat(json)), message);
  }
}

function tooLate(): RpcError {
  const message = 'The host closed its input before this request finished.';
  return toRpcError(new SwitchboardError('CANCELLED', message));
}

/** Whether a request names its own revision, as modern ones do. */
function isEnveloped(params: Verbatim | undefined): boolean {
  const { _meta: meta } = isObject(params?.value) ? params.value : {};
  return isObject(meta) && meta[META.version] !== undefined;
}

function unsupported(params: Verbatim | undefined): RpcError {
  const requested = params?.member('_meta', META.version)?.value;
  const data = Verbatim.of({ supported: HANDSHAKE_REVISIONS, requested });
  return new RpcError(
    UNSUPPORTED_VERSION,
    'This session uses a handshake revision of MCP. Send initialize first.',
    data,
  );
}

function isMessage(value: unknown): boolean {
  if (!isObject(value)) return false;
  return typeof value['method'] === 'string' || 'result' in value || 'error' in value;
}

function idsIn(messages: readonly Verbatim[]): Id[] {
  const requests = messages.filter(({ value }) => isObject(value) && 'method' in value);
  return requests.flatMap(({ value }) => idIn(value) ?? []);
}

function idIn(value: unknown): Id | null {
  return isObject(value) && isId(value['id']) ? value['id'] : null;
}
