// One connection of a host, in the handshake revisions of MCP: its requests answered from the
// surface, in the order and the framing it uses. How its bytes reach us is not known here.
import type { Cancellation } from '../base/cancellation.ts';
import type { Log } from '../base/log.ts';
import { noteHandled } from '../base/memory.ts';
import { VERSION } from '../base/version.ts';
import { BATCH_REVISION, isRevision, NEWEST_REVISION, type Revision } from '../mcp/revisions.ts';
import type { BrokenEvent, Framing, MessageEvent, OversizeEvent } from '../rpc/framing.ts';
import {
  errorText,
  type Id,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isId,
  isObject,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  RpcError,
} from '../rpc/message.ts';
import { idFromOversize } from '../rpc/oversize.ts';
import { type IncomingRequest, Peer } from '../rpc/peer.ts';
import { nestingDepth, Verbatim } from '../rpc/verbatim.ts';
import type { Audience, Surface } from '../surface/surface.ts';
import { answerFailure } from './errors.ts';
import { ListChanges } from './list-changes.ts';

export interface SessionOptions {
  /** Gives what this session is shown. */
  readonly openSurface: (audience: Audience) => Surface;
  readonly log: Log;
  readonly messageBytes: number;
  /** Puts one message on the wire, in the framing the host uses. */
  readonly send: (json: string, framing: Framing) => void;
  /** The host has what it needs to begin: there is time for other things now. */
  readonly onReady: () => void;
}

/** Deeper parameters are refused: many a server's own JSON writer would not survive them. */
const DEEPEST = 1_000;

/** How long a host that is ready may take to ask for the list. */
const LIST_FIRST_MS = 100;

const NO_MESSAGE = 'A message must be a JSON object.';

export class Session {
  readonly #options: SessionOptions;
  readonly #peer: Peer;
  readonly #listChanges: ListChanges;
  readonly #surface: Surface;
  #framing: Framing | undefined;
  #revision: Revision | undefined;
  #client: string | undefined;
  #isInitialized = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#peer = new Peer({
      send: (json) => this.#send(json),
      onRequest: (request) => this.#answer(request),
      onNotification: (method) => this.#noteNotification(method),
      onBug: (error) => options.log.error(describeBug(error)),
    });
    this.#listChanges = new ListChanges(() => {
      // A host that has said nothing yet knows no list, nor do we know how to frame a message for it.
      if (this.#framing) this.#peer.notify('notifications/tools/list_changed');
    });
    this.#surface = options.openSurface(this.#listChanges);
  }

  /** Who the host is and what it uses, for people who look. */
  get report() {
    return { client: this.#client, revision: this.#revision, active: this.#surface.active };
  }

  receive({ text, value, framing }: MessageEvent): void {
    this.#framing ??= framing;
    noteHandled(text);
    const message = new Verbatim(text, value);
    if (Array.isArray(value)) void this.#receiveBatch(message);
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

  receiveOversize({ head, tail, complete, framing, bytesSoFar }: OversizeEvent): void {
    this.#framing ??= framing;
    if (!complete) return;
    const limit = this.#options.messageBytes;
    const found = idFromOversize(head, tail);
    this.#refuse(
      INVALID_REQUEST,
      `The message has ${bytesSoFar} bytes; the limit is ${limit} (limits.messageBytes).`,
      found?.kind === 'request' ? found.id : null,
    );
  }

  /** The host has gone: what it still waits for is called off. */
  close(): void {
    this.#peer.close(new Error('The host has closed the connection.'));
    this.#listChanges.close();
    this.#surface.close();
  }

  #answer(request: IncomingRequest): Verbatim | Promise<Verbatim> {
    switch (request.method) {
      case 'initialize':
        return this.#initialize(request.params?.value);
      case 'ping':
        return Verbatim.of({});
      case 'tools/list':
        return this.#listTools();
      case 'tools/call':
        return this.#callTool(request);
      default:
        throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`);
    }
  }

  #noteNotification(method: string): void {
    this.#options.log.debug(`host: ${method}`);
    if (method !== 'notifications/initialized') return;
    // Hosts mostly ask for the list next, and are to get it before anything is started.
    this.#isInitialized = true;
    setTimeout(this.#options.onReady, LIST_FIRST_MS).unref();
  }

  #initialize(params: unknown): Verbatim {
    const { protocolVersion: wanted, clientInfo } = isObject(params) ? params : {};
    this.#revision = isRevision(wanted) ? wanted : NEWEST_REVISION;
    const client = isObject(clientInfo) ? clientInfo['name'] : undefined;
    this.#client = typeof client === 'string' ? client.slice(0, 100) : undefined;
    this.#listChanges.noteClient(client);
    return Verbatim.of({
      protocolVersion: this.#revision,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'switchboard', title: 'Switchboard', version: VERSION },
      instructions: this.#surface.instructions,
      name: 'switchboard', // where JSON-RPC clients without MCP look for it
    });
  }

  #listTools(): Verbatim {
    const tools = this.#surface.listTools();
    this.#listChanges.noteListed();
    if (this.#isInitialized) setImmediate(this.#options.onReady); // once this answer has left
    return Verbatim.of({ tools });
  }

  async #callTool({ params, cancellation }: IncomingRequest): Promise<Verbatim> {
    const { name } = isObject(params?.value) ? params.value : {};
    if (!params || typeof name !== 'string') {
      throw new RpcError(INVALID_PARAMS, 'tools/call needs the name of a tool.');
    }
    if (params.text.length > DEEPEST && nestingDepth(params.text) > DEEPEST) {
      throw new RpcError(INVALID_PARAMS, `The parameters nest deeper than ${DEEPEST} levels.`);
    }
    const args = params.member('arguments') ?? Verbatim.of({});
    if (!isObject(args.value)) throw new RpcError(INVALID_PARAMS, '"arguments" must be an object.');
    const meta = params.member('_meta');
    const token = meta?.member('progressToken');
    try {
      return await this.#surface.callTool({
        name,
        args,
        meta: isObject(meta?.value) ? meta : undefined,
        cancellation,
        onProgress:
          token && isId(token.value)
            ? (progress) => this.#sendProgress(progress, token, cancellation)
            : undefined,
      });
    } catch (error) {
      return answerFailure(error, this.#framing ?? 'newline');
    }
  }

  /** A child's progress, under the token that the host knows. */
  #sendProgress(params: Verbatim, token: Verbatim, { reason }: Cancellation): void {
    if (reason) return;
    this.#peer.notify('notifications/progress', params.with('progressToken', token));
  }

  async #receiveBatch(batch: Verbatim): Promise<void> {
    const messages = batch.elements();
    if (messages.length === 0) return this.#refuse(INVALID_REQUEST, 'A batch must not be empty.');
    if (this.#revision !== BATCH_REVISION) {
      const reason = `Batches belong to revision ${BATCH_REVISION} of MCP alone: send each message by itself.`;
      return this.#refuse(INVALID_REQUEST, reason);
    }
    const answers = messages.map(async (message) => {
      const { value } = message;
      if (!isObject(value)) return errorText('null', new RpcError(INVALID_REQUEST, NO_MESSAGE));
      if (value['id'] !== undefined && value['method'] !== undefined)
        return this.#peer.answer(message);
      this.#peer.receive(message);
      return undefined;
    });
    const texts = (await Promise.all(answers)).filter((text) => text !== undefined);
    if (texts.length > 0) this.#send(`[${texts.join(',')}]`);
  }

  #refuse(code: number, message: string, id: Id | null = null): void {
    this.#send(errorText(JSON.stringify(id), new RpcError(code, message)));
  }

  #send(json: string): void {
    this.#options.send(json, this.#framing ?? 'newline');
  }
}

function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
