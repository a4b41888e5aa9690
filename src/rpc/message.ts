// JSON-RPC 2.0 messages, and how we write ours.
import type { Verbatim } from './verbatim.ts';

export type Id = string | number;

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** An error the other side answered with, or that we will answer with. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: Verbatim | undefined;

  constructor(code: number, message: string, data?: Verbatim) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A description of the message. Transports get it along with the text, so they never have to parse the text. */
export type Outgoing = OutgoingRequest | OutgoingNotification | OutgoingAnswer;

export interface OutgoingRequest {
  readonly kind: 'request';
  readonly id: number;
  readonly method: string;
  /** The other side's request that this one belongs to. */
  readonly about: Id | undefined;
  /** Its parameters, if the transport has to repeat some of them next to the text. */
  readonly mirrored: Verbatim | undefined;
}

export interface OutgoingNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly about: Id | undefined;
  /** Our own request that it cancels. */
  readonly cancels: number | undefined;
}

export interface OutgoingAnswer {
  readonly kind: 'answer';
  /** The request it answers; undefined if that has no valid id. */
  readonly about: Id | undefined;
  readonly result: Verbatim | undefined;
  readonly error: RpcError | undefined;
  /** The requests it answers, if it's a batch. */
  readonly batch?: readonly Id[];
}

export function isId(value: unknown): value is Id {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

export function requestText(id: number, method: string, params: Verbatim | undefined): string {
  const tail = params === undefined ? '}' : `,"params":${params.text}}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${tail}`;
}

export function notificationText(method: string, params: Verbatim | undefined): string {
  const tail = params === undefined ? '}' : `,"params":${params.text}}`;
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${tail}`;
}

/** `idText` is the id as JSON, so that it goes back exactly as it came. */
export function resultText(idText: string, result: Verbatim): string {
  return `{"jsonrpc":"2.0","id":${idText},"result":${result.text}}`;
}

/** Like `resultText`, for a result that wasn't decoded. */
export function resultPieces(idText: string, pieces: readonly Buffer[]): Buffer[] {
  const head = Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":`);
  return [head, ...pieces, Buffer.from('}')];
}

export function errorText(idText: string, { code, message, data }: RpcError): string {
  const tail = data === undefined ? '}}' : `,"data":${data.text}}}`;
  return `{"jsonrpc":"2.0","id":${idText},"error":{"code":${code},"message":${JSON.stringify(message)}${tail}`;
}
