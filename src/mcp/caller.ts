// The caller of a request, as seen by a server that needs something from it in the meantime. Sessions are callers,
// no matter which era they and the server use.
import type { Cancellation } from '../base/cancellation.ts';
import { isObject } from '../base/object.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Era } from './eras.ts';
import type { LogLevel } from './logging.ts';

export interface Caller {
  /** The same object for all requests of one connection. */
  readonly party: object;
  readonly era: Era;
  /** The capabilities it has declared. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Its `clientInfo`. */
  readonly info: Verbatim | undefined;
  /** The least important log messages it wants; undefined for none. */
  readonly logLevel: LogLevel | undefined;
  /** Rejects with an RpcError if it can't be asked or refuses. */
  ask(question: Question): Promise<Verbatim>;
  /** A server asked for something that needs capabilities the caller hasn't declared. */
  noteMissing(capabilities: Readonly<Record<string, unknown>>): void;
  /** Forwards a log message from the server. */
  log(params: Verbatim): void;
  /** Signs a string for this party only. Missing for callers without tasks. */
  sign?(text: string): string;
  /** Reports that the user has visited the page a server asked for, even after the call has ended. */
  pageVisited(params: Verbatim): void;
}

/** A server's request to its caller. */
export interface Question {
  readonly method: QuestionMethod;
  readonly params: Verbatim | undefined;
  /** The server no longer needs an answer. */
  readonly cancellation: Cancellation;
}

export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list';

/** The name in a `clientInfo`. */
export function clientName(info: Verbatim | undefined): string | undefined {
  const name = isObject(info?.value) ? info.value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}
