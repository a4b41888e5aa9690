// Finds out whether a server speaks the modern era. Servers of the handshake era reject
// `server/discover` as an unknown method, and get a handshake instead.
import type { Cancellation } from '../base/cancellation.ts';
import { isObject } from '../base/object.ts';
import { META, MODERN_REVISION } from '../mcp/eras.ts';
import { CLIENT_INFO } from '../mcp/own-info.ts';
import { isRevision } from '../mcp/revisions.ts';
import { RpcError } from '../rpc/message.ts';
import type { Peer } from '../rpc/peer.ts';
import { RpcTimeout } from '../rpc/requests.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { type Greeting, parseIntroduction } from './handshake.ts';

export interface Discovery {
  readonly greeting: Greeting;
  /** It also speaks the handshake era. */
  readonly speaksBoth: boolean;
}

/** How the server introduces itself; undefined if it doesn't speak the modern era. */
export async function probe(
  peer: Peer,
  timeoutMs: number,
  cancellation: Cancellation,
): Promise<Discovery | undefined> {
  const meta = Verbatim.of({ [META.version]: MODERN_REVISION, [META.capabilities]: {} });
  const params = Verbatim.of({}).set('_meta', meta.set(META.client, CLIENT_INFO));
  try {
    const options = { timeoutMs, cancellation, mirrored: params };
    return parseDiscovery((await peer.request('server/discover', params, options)).value);
  } catch (error) {
    if (error instanceof RpcError || error instanceof RpcTimeout) return undefined;
    throw error;
  }
}

function parseDiscovery(value: unknown): Discovery | undefined {
  if (!isObject(value) || !Array.isArray(value['supportedVersions'])) return undefined;
  const versions: unknown[] = value['supportedVersions'];
  if (!versions.includes(MODERN_REVISION)) return undefined;
  const { _meta } = value;
  const info = isObject(_meta) ? _meta[META.server] : undefined;
  return {
    speaksBoth: versions.some((known) => isRevision(known)),
    greeting: {
      era: 'modern',
      revision: MODERN_REVISION,
      ...parseIntroduction(value, info),
    },
  };
}
