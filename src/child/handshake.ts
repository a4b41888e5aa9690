// The handshake: it identifies the server, agrees on an MCP revision, and tells the server to start.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import type { Era, MODERN_REVISION } from '../mcp/eras.ts';
import { CLIENT_INFO } from '../mcp/own-info.ts';
import { CHILD_FACING_CAPABILITIES } from '../mcp/questions.ts';
import {
  ASSUMED_REVISION,
  HANDSHAKE_REVISIONS,
  isRevision,
  NEWEST_REVISION,
  type Revision,
} from '../mcp/revisions.ts';
import type { Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';

export interface Greeting {
  readonly era: Era;
  readonly revision: Revision | typeof MODERN_REVISION;
  readonly serverName: string | undefined;
  readonly serverVersion: string | undefined;
  readonly serverTitle?: string | undefined;
  readonly capabilities: Record<string, unknown>;
  readonly instructions: string | undefined;
}

export interface ShakeHandsOptions {
  readonly childName: string;
  readonly protocolVersion: string | undefined;
  readonly timeoutMs: number;
  readonly cancellation: Cancellation;
}

export async function shakeHands(peer: Peer, options: ShakeHandsOptions): Promise<Greeting> {
  const params = Verbatim.of({
    protocolVersion: options.protocolVersion ?? NEWEST_REVISION,
    capabilities: CHILD_FACING_CAPABILITIES,
    clientInfo: CLIENT_INFO.value,
  });
  const { timeoutMs, cancellation } = options;
  const { value } = await peer.request('initialize', params, { timeoutMs, cancellation });
  const greeting = parseGreeting(value, options.childName);
  peer.notify('notifications/initialized');
  return greeting;
}

function parseGreeting(value: unknown, childName: string): Greeting {
  const answer = isObject(value) ? value : {};
  const revision = answer['protocolVersion'] ?? ASSUMED_REVISION;
  if (!isRevision(revision)) {
    throw new SwitchboardError(
      'CHILD_PROTOCOL',
      `Server "${childName}" uses MCP revision ${JSON.stringify(revision).slice(0, 42)}, which Switchboard doesn't support.`,
      { hint: `Supported: ${HANDSHAKE_REVISIONS.join(', ')}. Update the server or Switchboard.` },
    );
  }
  const introduction = parseIntroduction(answer, answer['serverInfo']);
  return { era: 'handshake', revision, ...introduction };
}

/** What a server says about itself in either era. */
export function parseIntroduction(
  { capabilities, instructions }: Record<string, unknown>,
  serverInfo: unknown,
): Omit<Greeting, 'era' | 'revision'> {
  const { name, version, title } = isObject(serverInfo) ? serverInfo : {};
  return {
    serverName: typeof name === 'string' ? name : undefined,
    serverVersion: typeof version === 'string' ? version : undefined,
    serverTitle: typeof title === 'string' ? title : undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}
