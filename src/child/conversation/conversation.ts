// Talking to one child after the greeting, in the era it speaks. What differs between the eras ends
// here: whoever asks a child for something gets its result, and is asked what the child wants to know.
import type { Caller } from '../../mcp/caller.ts';
import type { Era } from '../../mcp/eras.ts';
import type { LogLevel } from '../../mcp/logging.ts';
import type { IncomingRequest, RequestOptions } from '../../rpc/peer.ts';
import type { Verbatim } from '../../rpc/verbatim.ts';

export interface ChildRequest
  extends Pick<RequestOptions, 'timeoutMs' | 'cancellation' | 'onProgress'> {
  readonly method: string;
  /** An object, without `_meta`. */
  readonly params: Verbatim;
  /** `_meta` of the host's request. */
  readonly meta?: Verbatim | undefined;
  /** For whom it is made; undefined for what we want to know ourselves. */
  readonly caller?: Caller | undefined;
  readonly inputs?: Inputs | undefined;
}

/** What a modern host sends along when it repeats a request to which a child wanted more. */
export interface Inputs {
  readonly responses: Verbatim | undefined;
  readonly state: string | undefined;
}

export interface Conversation {
  readonly era: Era;
  /** Gives the result; to a modern caller of a modern child also one that says what is still wanted. */
  request(request: ChildRequest): Promise<Verbatim>;
  /** Answers what the child asks of us. */
  answer(request: IncomingRequest): Verbatim | Promise<Verbatim>;
  /** Hands news of the child's to the one whom they concern; false where they are no such news. */
  hear(method: string, params: Verbatim): boolean;
  /** Has the child send log messages from this level on; a child that cannot is left alone. */
  setLogLevel(level: LogLevel | undefined): void;
  /** Has the child tell of changes of these resources, and of no others. */
  watch(uris: ReadonlySet<string>): Promise<void>;
}
