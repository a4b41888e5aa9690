// What HTTP needs of a session, and what a session needs of HTTP: messages in, messages out, each with
// word of the request it is about, since over HTTP that decides which response carries it.
import type { Era } from '../../mcp/eras.ts';
import type { Id } from '../../rpc/message.ts';

export interface HttpSession {
  /** One message of the host. */
  receive(message: { text: string; value: unknown; framing: 'newline' }): void;
  close(): void;
}

export interface HttpSessionOptions {
  readonly era: Era;
  /**
   * Puts one message on the wire. `about` is the id of the host's request that it answers or
   * concerns; undefined for others. `isAnswer` is true for the answer itself.
   */
  readonly send: (json: string, about: Id | undefined, isAnswer: boolean) => void;
}

export type OpenSession = (options: HttpSessionOptions) => HttpSession;

/** The input schema of a tool by the name that hosts know it by; undefined if it has none. */
export type ToolSchema = (name: string) => unknown;
