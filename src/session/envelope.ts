// What a request of the modern era says of itself in its `_meta`: who asks, and what he can do.
import { isObject } from '../base/object.ts';
import { ENVELOPE_KEYS, META, MODERN_REVISION, UNSUPPORTED_VERSION } from '../mcp/eras.ts';
import { type LogLevel, parseLogLevel } from '../mcp/logging.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { progressTokenOf } from './desk.ts';

export interface Envelope {
  /** As it is written. */
  readonly text: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Verbatim | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly progressToken: Verbatim | undefined;
  /** What else there is: it is meant for the child. */
  readonly handedOn: Verbatim | undefined;
}

export function readEnvelope(meta: Verbatim | undefined): Envelope {
  const said = isObject(meta?.value) ? meta.value : {};
  const { [META.version]: version, [META.capabilities]: capabilities } = said;
  if (!meta || typeof version !== 'string') throw missing(META.version);
  if (version !== MODERN_REVISION) {
    const data = Verbatim.of({ supported: [MODERN_REVISION], requested: version });
    throw new RpcError(UNSUPPORTED_VERSION, `Unsupported protocol version: ${version}`, data);
  }
  if (!isObject(capabilities)) throw missing(META.capabilities);
  const handedOn = meta.without(...ENVELOPE_KEYS, 'progressToken');
  return {
    text: meta.text,
    capabilities,
    info: meta.member(META.client),
    logLevel: parseLogLevel(said[META.logLevel]),
    progressToken: progressTokenOf(meta),
    handedOn: handedOn.text === '{}' ? undefined : handedOn,
  };
}

function missing(key: string): RpcError {
  return new RpcError(INVALID_PARAMS, `params._meta needs "${key}".`);
}
