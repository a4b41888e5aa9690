// The two eras of MCP. In the older one, a connection starts with a handshake and either side may send
// requests. Since 2026-07-28 there is no connection state: every request carries the client's identity and
// capabilities, and a server that needs input says so in its response.

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

/** The parts of `_meta` that describe a modern request itself. They are rewritten when it is forwarded. */
export const ENVELOPE_KEYS = [META.version, META.capabilities, META.client, META.logLevel] as const;

export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;
/** An unknown resource in the handshake era; the modern era uses -32602. */
export const RESOURCE_NOT_FOUND = -32002;
/** Handshake era: the user has to visit a URL first. */
export const URL_ELICITATION_REQUIRED = -32042;
/** An HTTP session the server no longer knows. MCP only defines a status for it, but many servers send this. */
export const SESSION_NOT_FOUND = -32001;
