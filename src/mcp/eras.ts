// The two eras of MCP. In the older one a connection begins with a handshake and either side may ask
// the other; since 2026-07-28 there is no connection to speak of: every request says itself who asks
// and what he can do, and a server that needs something answers that it does.

export type Era = 'handshake' | 'modern';

/** The one revision of the modern era so far. */
export const MODERN_REVISION = '2026-07-28';

/** Keys of `_meta` that belong to the protocol. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** What a modern request's `_meta` says about the request itself, and is said anew on the way on. */
export const ENVELOPE_KEYS = [META.version, META.capabilities, META.client, META.logLevel] as const;

export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;
/** What handshake revisions say of a resource that is not there; the modern one has -32602. */
export const RESOURCE_NOT_FOUND = -32002;
/** What handshake revisions say where the user has to visit an address first. */
export const URL_ELICITATION_REQUIRED = -32042;
/** Of a session over HTTP that is not known any more. MCP has a status for it alone; many servers say so, too. */
export const SESSION_NOT_FOUND = -32001;
