// What HTTP needs of a session, and what a session needs of HTTP: messages in, messages out, each with
// word of the request it is about, since over HTTP that decides which response carries it.
import type { Era } from '../../mcp/eras.ts';
import type { Outgoing } from '../../rpc/message.ts';

export interface HttpSession {
  /** One message of the host. */
  receive(message: { text: string; value: unknown; framing: 'newline' }): void;
  /** The client has too much unread, or has caught up. */
  setFull(isFull: boolean): void;
  close(): void;
}

export interface HttpSessionOptions {
  readonly era: Era;
  /** Puts one message on the wire; see PeerOptions.send. */
  readonly send: (json: string, message: Outgoing) => void;
}

export type OpenSession = (options: HttpSessionOptions) => HttpSession;

/** The input schema of a tool by the name that hosts know it by; undefined if it has none. */
export type ToolSchema = (name: string) => unknown;
