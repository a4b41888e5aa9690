// One connection of a host, in the handshake revisions of MCP: its requests answered from the
// surface, in the order and the framing it uses. How its bytes reach us is not known here.
import type { Log } from '../base/log.ts';
import { VERSION } from '../base/version.ts';
import { BATCH_REVISION, isRevision, NEWEST_REVISION, type Revision } from '../mcp/revisions.ts';
import type { BrokenEvent, Framing, MessageEvent, OversizeEvent } from '../rpc/framer.ts';
import { idFromOversize } from '../rpc/framer.ts';
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
import { type IncomingRequest, Peer } from '../rpc/peer.ts';
import { nestingDepth, Verbatim } from '../rpc/verbatim.ts';
import type { Surface } from '../surface/surface.ts';
import { answerFailure } from './errors.ts';

export interface SessionOptions {
  readonly surface: Surface;
  readonly log: Log;
  readonly messageBytes: number;
  /** Puts one message on the wire, in the framing the host uses. */
  readonly send: (json: string, framing: Framing) => void;
}

const INSTRUCTIONS =
  'Each tool here stands for a whole MCP server. Call it with {"action": "introspect"} to see the ' +
  "server's subtools and what they take, then with " +
  '{"action": "call", "subtool": "<name>", "args": {…}} to run one.';

/** Deeper arguments are refused: many a server's parser would not survive them. */
const DEEPEST_ARGUMENTS = 1_000;

export class Session {
  readonly #options: SessionOptions;
  readonly #peer: Peer;
  #framing: Framing | undefined;
  #revision: Revision | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#peer = new Peer({
      send: (json) => this.#send(json),
      onRequest: (request) => this.#answer(request),
      onNotification: (method) => options.log.debug(`host: ${method}`),
      onBug: (error) => options.log.error(describeBug(error)),
    });
  }

  receive({ text, value, framing }: MessageEvent): void {
    this.#framing ??= framing;
    if (Array.isArray(value)) void this.#receiveBatch(value);
    else if (
      isObject(value) &&
      (typeof value['method'] === 'string' || 'result' in value || 'error' in value)
    ) {
      this.#peer.receive(new Verbatim(text, value));
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
        return this.#refuse(INVALID_REQUEST, 'A message must be a JSON object.');
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
  }

  async #answer(request: IncomingRequest): Promise<Verbatim> {
    switch (request.method) {
      case 'initialize':
        return this.#initialize(request.params?.value);
      case 'ping':
        return Verbatim.of({});
      case 'tools/list':
        return Verbatim.of({ tools: this.#options.surface.listTools() });
      case 'tools/call':
        return this.#callTool(request);
      default:
        throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`);
    }
  }

  #initialize(params: unknown): Verbatim {
    const wanted = isObject(params) ? params['protocolVersion'] : undefined;
    this.#revision = isRevision(wanted) ? wanted : NEWEST_REVISION;
    return Verbatim.of({
      protocolVersion: this.#revision,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'switchboard', title: 'Switchboard', version: VERSION },
      instructions: INSTRUCTIONS,
      name: 'switchboard', // where JSON-RPC clients without MCP look for it
    });
  }

  async #callTool({ params, signal }: IncomingRequest): Promise<Verbatim> {
    const name = params?.member('name')?.value;
    if (!params || typeof name !== 'string') {
      throw new RpcError(INVALID_PARAMS, 'tools/call needs the name of a tool.');
    }
    const args = params.member('arguments') ?? Verbatim.of({});
    if (!isObject(args.value)) throw new RpcError(INVALID_PARAMS, '"arguments" must be an object.');
    if (nestingDepth(args.text) > DEEPEST_ARGUMENTS) {
      throw new RpcError(
        INVALID_PARAMS,
        `"arguments" nests deeper than ${DEEPEST_ARGUMENTS} levels.`,
      );
    }
    const { progressToken, ...meta } = readMeta(params.value);
    try {
      return await this.#options.surface.callTool({
        name,
        args,
        meta: Object.keys(meta).length > 0 ? meta : undefined,
        signal,
        onProgress: isId(progressToken) ? this.#progressSender(progressToken, signal) : undefined,
      });
    } catch (error) {
      return answerFailure(error, this.#framing ?? 'newline');
    }
  }

  #progressSender(progressToken: Id, signal: AbortSignal) {
    return (params: Record<string, unknown>): void => {
      if (signal.aborted) return;
      this.#peer.notify('notifications/progress', Verbatim.of({ ...params, progressToken }));
    };
  }

  async #receiveBatch(messages: readonly unknown[]): Promise<void> {
    if (this.#revision !== BATCH_REVISION || messages.length === 0) {
      const reason =
        messages.length === 0
          ? 'A batch must not be empty.'
          : 'Batches are not part of this revision of MCP: send each message by itself.';
      return this.#refuse(INVALID_REQUEST, reason);
    }
    const answers = messages.map(async (message) => {
      if (!isObject(message))
        return errorText(null, new RpcError(INVALID_REQUEST, 'A message must be a JSON object.'));
      if (message['id'] !== undefined && message['method'] !== undefined)
        return this.#peer.answer(Verbatim.of(message));
      this.#peer.receive(Verbatim.of(message));
      return undefined;
    });
    const texts = (await Promise.all(answers)).filter((text) => text !== undefined);
    if (texts.length > 0) this.#send(`[${texts.join(',')}]`);
  }

  #refuse(code: number, message: string, id: Id | null = null): void {
    this.#send(errorText(id, new RpcError(code, message)));
  }

  #send(json: string): void {
    this.#options.send(json, this.#framing ?? 'newline');
  }
}

function readMeta(params: unknown): Record<string, unknown> {
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? meta : {};
}

function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
