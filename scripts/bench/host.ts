// The two kinds of hosts: one starts with a handshake, and a modern one sends its revision with every request.

export type HostEra = 'handshake' | 'modern';

export const MODERN_REVISION = '2026-07-28';

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN_REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The parameters of a request in the form of the era. */
export function paramsOf(era: HostEra, params: object): object {
  return era === 'modern' ? { ...params, _meta: ENVELOPE } : params;
}
