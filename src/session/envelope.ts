// A modern request carries the client's identity and capabilities in its `_meta`.
import { isObject } from '../base/object.ts';
import { ENVELOPE_KEYS, META, MODERN_REVISION, UNSUPPORTED_VERSION } from '../mcp/eras.ts';
import { type LogLevel, parseLogLevel } from '../mcp/logging.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { progressTokenOf } from './desk.ts';

export interface Envelope {
  /** As it was written. */
  readonly text: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Verbatim | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly progressToken: Verbatim | undefined;
  /** The rest of `_meta`, which is for the server. */
  readonly forwarded: Verbatim | undefined;
}

export function readEnvelope(meta: Verbatim | undefined): Envelope {
  const fields = isObject(meta?.value) ? meta.value : {};
  const { [META.version]: version, [META.capabilities]: capabilities } = fields;
  if (!meta || typeof version !== 'string') throw missing(META.version);
  if (version !== MODERN_REVISION) {
    const data = Verbatim.of({ supported: [MODERN_REVISION], requested: version });
    throw new RpcError(UNSUPPORTED_VERSION, `Unsupported protocol version: ${version}`, data);
  }
  if (!isObject(capabilities)) throw missing(META.capabilities);
  const forwarded = meta.without(...ENVELOPE_KEYS, 'progressToken');
  return {
    text: meta.text,
    capabilities,
    info: meta.member(META.client),
    logLevel: parseLogLevel(fields[META.logLevel]),
    progressToken: progressTokenOf(meta),
    forwarded: forwarded.text === '{}' ? undefined : forwarded,
  };
}

function missing(key: string): RpcError {
  return new RpcError(INVALID_PARAMS, `params._meta must include "${key}".`);
}
