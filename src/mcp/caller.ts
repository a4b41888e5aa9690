// The one for whom a request is carried out, as far as a child may want something of him meanwhile.
// Sessions are this to children, in whichever era each of them speaks.
import type { Cancellation } from '../base/cancellation.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Era } from './eras.ts';
import type { LogLevel } from './logging.ts';

export interface Caller {
  /** The same for all requests that may know of each other: those of one connection. */
  readonly party: object;
  readonly era: Era;
  /** What he has said that he can do. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** What he has said that he is. */
  readonly info: Verbatim | undefined;
  /** The least important log messages he wants; none at all where undefined. */
  readonly logLevel: LogLevel | undefined;
  /** Asks him. Rejects with an RpcError where he cannot be asked or refuses. */
  ask(question: Question): Promise<Verbatim>;
  /** A child wanted to ask what he has not said that he can be asked. */
  noteMissing(capabilities: Readonly<Record<string, unknown>>): void;
  /** Hands him a log message of the child's. */
  log(params: Verbatim): void;
  /** Signs a text so that only the same party gets the same signature. Missing for callers without tasks. */
  sign?(text: string): string;
  /** Tells him, also after his request is answered, that the page he was to visit was visited. */
  pageVisited(params: Verbatim): void;
}

/** What a child wants to know of the one who called it. */
export interface Question {
  readonly method: QuestionMethod;
  readonly params: Verbatim | undefined;
  /** The child does not want to know any more. */
  readonly cancellation: Cancellation;
}

export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
