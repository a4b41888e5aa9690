// One connection of a host: its requests answered in the era it speaks and the framing it uses. How its
// bytes reach us is not known here.
import { describeBug, SwitchboardError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { noteHandled } from '../base/memory.ts';
import { isObject } from '../base/object.ts';
import { type Era, META, UNSUPPORTED_VERSION } from '../mcp/eras.ts';
import { BATCH_REVISION, HANDSHAKE_REVISIONS } from '../mcp/revisions.ts';
import { toAscii } from '../rpc/ascii.ts';
import type { BrokenEvent, Framing, MessageEvent, OversizeEvent } from '../rpc/framing.ts';
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
import { HandshakeDesk } from './handshake-desk.ts';
import type { ModernDesk } from './modern-desk.ts';
import type { Parking } from './parking.ts';
import type { StateSeal } from './request-state.ts';

export interface SessionOptions {
  /** Gives what this session is shown. */
  readonly openSurface: (audience: Audience) => Surface;
  readonly log: Log;
  /** Puts one message on the wire, in the framing the host uses; see PeerOptions.send. */
  readonly send: (json: string, framing: Framing, message: Outgoing) => void;
  /** The host has what it needs to begin: there is time for other things now. */
  readonly onReady: () => void;
  /** Which eras are offered; asked once, with the first request. */
  readonly eras: () => 'both' | Era;
  readonly seal: StateSeal;
  readonly parking: Parking;
  /** How long a user may take over a question, in milliseconds. */
  readonly questionMs: () => number;
  readonly onRootsChanged: () => void;
}

const NO_MESSAGE = 'A message must be a JSON object.';
/** Several answers in one message: only over stdio, where nobody asks which. */
const BATCH: Outgoing = { kind: 'answer', about: undefined, result: undefined, error: undefined };

export class Session {
  readonly #options: SessionOptions;
  readonly #peer: Peer;
  readonly #onBug = (error: unknown): void => this.#options.log.error(describeBug(error));
  #framing: Framing | undefined;
  #handshake: HandshakeDesk | undefined;
  #modern: ModernDesk | undefined;
  #loading: Promise<ModernDesk> | undefined;
  /** Fixed for the session: a reload must not take the host's era away from it. */
  #eras: 'both' | Era | undefined;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#peer = new Peer({
      send: (json, message) => this.#send(json, message),
      onRequest: (request) => this.#answer(request),
      onNotification: (method) => this.#noteNotification(method),
      onBug: this.#onBug,
    });
  }

  /** Who the host is and what it uses, for people who look. */
  get report() {
    const desk = this.#handshake?.revision ? this.#handshake : (this.#modern ?? this.#handshake);
    return desk?.report ?? { client: undefined, revision: undefined, active: [] };
  }

  receive({ text, value, framing }: MessageEvent): void {
    this.#framing ??= framing;
    noteHandled(text);
    const message = new Verbatim(text, value);
    if (Array.isArray(value)) this.#receiveBatch(message).catch(this.#onBug);
    else if (
      isObject(value) &&
      (typeof value['method'] === 'string' || 'result' in value || 'error' in value)
    ) {
      this.#peer.receive(message);
    } else {
      const id = isObject(value) && isId(value['id']) ? value['id'] : null;
      this.#refuse(INVALID_REQUEST, 'A message needs "jsonrpc": "2.0" and a method.', id);
    }
  }

  receiveBroken({ reason, framing, excerpt }: BrokenEvent): void {
    this.#framing ??= framing;
    this.#options.log.warn(`the host sent something that is no message: ${excerpt.slice(0, 80)}`);
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
    // A question whose answer cannot be read is not waited for any longer.
    if (found?.kind === 'response') this.#peer.failRequest(found.id, error);
    else this.#refuse(error.code, error.message, found?.id);
  }

  /** The host sends nothing more: what it has asked for is answered, with an error after the limit. */
  async finish(limitMs: number): Promise<void> {
    const modern = this.#modern ?? (await this.#loading);
    modern?.endSubscriptions(); // nothing else would end them
    await this.#peer.finish(limitMs, tooLate());
  }

  /** The host has gone: what it still waits for is called off. */
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

  /** The first request decides; a host that only looked may still shake hands. */
  #deskFor({ method, params }: IncomingRequest): Desk | Promise<Desk> {
    if (this.#handshake?.revision) return this.#handshake;
    const eras = (this.#eras ??= this.#options.eras());
    const isModern = method === 'server/discover' || isEnveloped(params);
    if (eras === 'modern' || (eras === 'both' && isModern)) return this.#modernDesk();
    if (isModern && method !== 'server/discover') throw unsupported(params);
    return this.#handshakeDesk();
  }

  #handshakeDesk(): HandshakeDesk {
    const { openSurface, log, onReady, onRootsChanged, questionMs } = this.#options;
    this.#handshake ??= new HandshakeDesk({
      peer: this.#peer,
      openSurface,
      log,
      framing: () => this.#framing ?? 'newline',
      questionMs,
      onReady,
      onRootsChanged,
    });
    return this.#handshake;
  }

  /** Loaded for the hosts that need it: most shake hands. */
  #modernDesk(): ModernDesk | Promise<ModernDesk> {
    if (this.#modern) return this.#modern;
    this.#loading ??= import('./modern-desk.ts').then((loaded) => {
      this.#modern = new loaded.ModernDesk({ ...this.#options, peer: this.#peer });
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
      const reason = `Batches belong to revision ${BATCH_REVISION} of MCP alone: send each message by itself.`;
      return this.#refuse(INVALID_REQUEST, reason);
    }
    const answers = messages.map(async (message) => {
      const { value } = message;
      if (!isObject(value)) return errorText('null', new RpcError(INVALID_REQUEST, NO_MESSAGE));
      if (value['id'] !== undefined && value['method'] !== undefined)
        return (await this.#peer.answer(message))?.text;
      this.#peer.receive(message);
      return undefined;
    });
    const texts = (await Promise.all(answers)).filter((text) => text !== undefined);
    if (texts.length > 0) this.#send(`[${texts.join(',')}]`, BATCH);
  }

  #refuse(code: number, reason: string, id: Id | null = null): void {
    const error = new RpcError(code, reason);
    const about = id ?? undefined;
    const message: Outgoing = { kind: 'answer', about, result: undefined, error };
    this.#send(errorText(JSON.stringify(id), error), message);
  }

  #send(json: string, message: Outgoing): void {
    // Some hosts with Content-Length headers count characters; in ASCII both are the same.
    const text = this.#framing === 'content-length' ? toAscii(json) : json;
    this.#options.send(text, this.#framing ?? 'newline', message);
  }
}

function tooLate(): RpcError {
  const message = 'The host closed its input, and this request was not finished in time.';
  return toRpcError(new SwitchboardError('CANCELLED', message));
}

/** Whether a request says itself which revision it speaks, as modern ones do. */
function isEnveloped(params: Verbatim | undefined): boolean {
  const { _meta: meta } = isObject(params?.value) ? params.value : {};
  return isObject(meta) && meta[META.version] !== undefined;
}

function unsupported(params: Verbatim | undefined): RpcError {
  const requested = params?.member('_meta', META.version)?.value;
  const data = Verbatim.of({ supported: HANDSHAKE_REVISIONS, requested });
  return new RpcError(
    UNSUPPORTED_VERSION,
    'Begin with initialize: this session speaks the handshake revisions.',
    data,
  );
}
