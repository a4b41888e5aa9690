// Talks to one server after the greeting, in its era. Nothing above this knows about eras: a caller gets the result of
// its request, and the server's questions.
import type { Caller } from '../../mcp/caller.ts';
import type { LogLevel } from '../../mcp/logging.ts';
import type { IncomingRequest } from '../../rpc/peer.ts';
import type { RequestOptions } from '../../rpc/requests.ts';
import type { Verbatim } from '../../rpc/verbatim.ts';

export interface ChildRequest
  extends Pick<RequestOptions, 'timeoutMs' | 'cancellation' | 'onProgress' | 'owner'> {
  readonly method: string;
  /** An object, without `_meta`. */
  readonly params: Verbatim;
  /** The host's `_meta`. */
  readonly meta?: Verbatim | undefined;
  /** Undefined for our own requests. */
  readonly caller?: Caller | undefined;
  readonly inputs?: Inputs | undefined;
  /** Set if several hosts share the session: its roots, instead of the caller's. */
  readonly roots?: Verbatim | undefined;
}

/** Added by a modern host when it repeats a request with the answers to the server's questions. */
export interface Inputs {
  readonly responses: Verbatim | undefined;
  readonly state: string | undefined;
  /** It is a later round of a request that has already passed our own checks. */
  readonly isRepeated?: boolean | undefined;
}

export interface Conversation {
  /** Returns the result. Between two modern sides that can be `input_required`. */
  request(request: ChildRequest): Promise<Verbatim>;
  /** Answers a request from the server. */
  answer(request: IncomingRequest): Verbatim | Promise<Verbatim>;
  /** Forwards a notification to the caller it's for; false if it isn't for a caller. */
  receive(method: string, params: Verbatim): boolean;
  /** Forwards a host's notification, if the era has such notifications. */
  notify(method: string, params?: Verbatim): void;
  /** Sets the server's log level, if it has one. */
  setLogLevel(level: LogLevel | undefined): void;
  /** Subscribes to changes of exactly these resources. */
  watch(uris: ReadonlySet<string>): Promise<void>;
}
