// The interface between HTTP and a session: messages in, and messages out together with the request they are about,
// which decides which HTTP response carries them.
import type { Era } from '../../mcp/eras.ts';
import type { Outgoing } from '../../rpc/message.ts';

export interface HttpSession {
  /** One message from the host. */
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

/** The input schema of a tool, by the name it is listed under. */
export type ToolSchema = (name: string) => unknown;
