// The two kinds of hosts there are: one shakes hands first, and one of the modern era says with every
// request itself what it speaks.

export type HostEra = 'handshake' | 'modern';

export const MODERN_REVISION = '2026-07-28';

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN_REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The parameters of a request as a host of the era writes them. */
export function paramsOf(era: HostEra, params: object): object {
  return era === 'modern' ? { ...params, _meta: ENVELOPE } : params;
}
