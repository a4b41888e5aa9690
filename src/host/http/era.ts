// Which era a request belongs to. Modern hosts send their revision with every request, in the body and in a header. A
// request without either belongs to a session that began with a handshake.
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../base/object.ts';
import {
  type Era,
  HEADER_MISMATCH,
  META,
  MODERN_REVISION,
  UNSUPPORTED_VERSION,
} from '../../mcp/eras.ts';
import { HANDSHAKE_REVISIONS, isRevision } from '../../mcp/revisions.ts';
import { INVALID_PARAMS } from '../../rpc/message.ts';
import { type Body, type Incoming, isBatch } from './incoming.ts';
import { badRequest, type HttpRefusal } from './refusal.ts';

export type Classified =
  | { readonly era: 'modern'; readonly message: Incoming }
  | { readonly era: 'handshake'; readonly body: Body };

export function classify(
  body: Body,
  headers: IncomingHttpHeaders,
  eras: readonly Era[],
): Classified | HttpRefusal {
  const header = versionHeader(headers);
  if (isBatch(body)) {
    const isModern = header === MODERN_REVISION || body.some((one) => claimOf(one) !== undefined);
    if (isModern) return badRequest("This MCP revision doesn't support batches.");
    return checkHandshake(header, undefined, eras) ?? { era: 'handshake', body };
  }
  const claim = claimOf(body);
  if (claim === undefined && header !== MODERN_REVISION) {
    return checkHandshake(header, body, eras) ?? { era: 'handshake', body };
  }
  return checkModern(body, claim, header, eras) ?? { era: 'modern', message: body };
}

export function versionHeader(headers: IncomingHttpHeaders): string | undefined {
  const value = headers['mcp-protocol-version'];
  return typeof value === 'string' ? value : undefined;
}

function checkHandshake(
  header: string | undefined,
  message: Incoming | undefined,
  eras: readonly Era[],
): HttpRefusal | undefined {
  if (header !== undefined && !isRevision(header)) {
    return unsupported(header, supportedBy(eras), message?.id);
  }
  // Sessions that have begun continue.
  if (message?.method !== 'initialize' || eras.includes('handshake')) return undefined;
  const { params } = message.value;
  const { protocolVersion } = isObject(params) ? params : {};
  const requested = typeof protocolVersion === 'string' ? protocolVersion : '';
  return unsupported(requested, supportedBy(eras), message.id);
}

function checkModern(
  message: Incoming,
  claim: unknown,
  header: string | undefined,
  eras: readonly Era[],
): HttpRefusal | undefined {
  const { id, kind } = message;
  if (kind === 'response')
    return badRequest("This MCP revision doesn't support responses from the host.");
  if (kind === 'notification' && claim === undefined) return undefined;
  const missing = missingKeys(message, claim);
  if (missing.length > 0) {
    const keys = missing.join(', ');
    return badRequest(`Missing in params: ${keys}.`, { id, code: INVALID_PARAMS });
  }
  if (header !== undefined && header !== claim) {
    const reason = 'MCP-Protocol-Version and the version in _meta differ.';
    return badRequest(reason, { id, code: HEADER_MISMATCH });
  }
  if (claim !== MODERN_REVISION || !eras.includes('modern')) {
    const supported = eras.includes('modern') ? [MODERN_REVISION] : supportedBy(eras);
    return unsupported(String(claim), supported, id);
  }
  if (header === undefined && kind === 'request') {
    const reason = 'Missing header: MCP-Protocol-Version.';
    return badRequest(reason, { id, code: HEADER_MISMATCH });
  }
  return undefined;
}

/** The required keys in `_meta` that are missing. */
function missingKeys({ value, kind }: Incoming, claim: unknown): string[] {
  if (metaOf(value) === undefined) return ['_meta'];
  const missing: string[] = typeof claim === 'string' ? [] : [META.version];
  if (kind === 'request' && !isObject(metaOf(value)?.[META.capabilities])) {
    missing.push(META.capabilities);
  }
  return missing;
}

/** The revision a message claims in `_meta`. */
function claimOf({ value }: Incoming): unknown {
  const meta = metaOf(value);
  return meta && Object.hasOwn(meta, META.version) ? meta[META.version] : undefined;
}

function metaOf({ params }: Record<string, unknown>): Record<string, unknown> | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? meta : undefined;
}

function supportedBy(eras: readonly Era[]): string[] {
  return [
    ...(eras.includes('modern') ? [MODERN_REVISION] : []),
    ...(eras.includes('handshake') ? HANDSHAKE_REVISIONS : []),
  ];
}

function unsupported(requested: string, supported: string[], id: Incoming['id']): HttpRefusal {
  const message = `Unsupported MCP revision. Supported: ${supported.join(', ')}.`;
  return badRequest(message, { id, code: UNSUPPORTED_VERSION, data: { supported, requested } });
}
