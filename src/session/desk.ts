// Shared by both eras: reading a request's parameters and rejecting invalid ones.
import { isObject } from '../base/object.ts';
import { INVALID_PARAMS, isId, RpcError } from '../rpc/message.ts';
import type { IncomingRequest } from '../rpc/peer.ts';
import { nestingDepth, Verbatim } from '../rpc/verbatim.ts';

/** Answers a host in one era. */
export interface Desk {
  answer(request: IncomingRequest): Verbatim | Promise<Verbatim>;
  receive(method: string): void;
  close(): void;
}

/** A client's name is cut in `status`. */
export const LONGEST_CLIENT = 100;

/** The capabilities we announce in both eras. */
export const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

/** Deeper parameters are refused: many servers' JSON libraries crash on them. */
const DEEPEST = 1_000;

export interface ParsedCall {
  readonly name: string;
  readonly args: Verbatim;
}

/** The parameters of `tools/call`. */
export function parseToolCall(params: Verbatim): ParsedCall {
  const { name } = isObject(params.value) ? params.value : {};
  if (typeof name !== 'string') {
    throw new RpcError(INVALID_PARAMS, 'tools/call requires a tool name.');
  }
  const args = params.member('arguments') ?? Verbatim.of({});
  if (!isObject(args.value)) throw new RpcError(INVALID_PARAMS, '"arguments" must be an object.');
  return { name, args };
}

/** The parameters as an object; `{}` if there are none. */
export function paramsOf({ params }: IncomingRequest): Verbatim {
  if (!params) return Verbatim.of({});
  if (!isObject(params.value)) throw new RpcError(INVALID_PARAMS, '"params" must be an object.');
  if (params.maxLength > DEEPEST && nestingDepth(params.text) > DEEPEST) {
    throw new RpcError(INVALID_PARAMS, `The parameters nest deeper than ${DEEPEST} levels.`);
  }
  return params;
}

/** The parameters' `_meta`, if it's an object. */
export function metaOf(params: Verbatim): Verbatim | undefined {
  const meta = params.member('_meta');
  return isObject(meta?.value) ? meta : undefined;
}

/** The token for progress notifications, if the host wants any. */
export function progressTokenOf(meta: Verbatim | undefined): Verbatim | undefined {
  const token = meta?.member('progressToken');
  return token && isId(token.value) ? token : undefined;
}
