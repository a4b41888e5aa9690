// Results in the form each era expects.
import { isObject } from '../base/object.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { META } from './eras.ts';
import { SERVER_INFO } from './own-info.ts';

/** Whether a server needs input before it can answer. */
export function isInputRequired(result: unknown): boolean {
  return isObject(result) && result['resultType'] === 'input_required';
}

const COMPLETE = Verbatim.of('complete');

/** Almost every result lacks one of these: modern servers' the first, others' the second. */
const SIGNATURE = { _meta: { [META.server]: SERVER_INFO.value } };
const SIGNED = Verbatim.of(SIGNATURE);
const SIGNED_AND_COMPLETE = Verbatim.of({ ...SIGNATURE, resultType: COMPLETE.value });

/** How long a host may keep a list, and for whom. */
const CACHE_HINTS = { ttlMs: Verbatim.of(60_000), cacheScope: Verbatim.of('private') };

/** A modern result states its type and the server. */
export function toModernResult(result: Verbatim): Verbatim {
  if (!isObject(result.value)) return result;
  const isTyped = Object.hasOwn(result.value, 'resultType');
  if (!Object.hasOwn(result.value, '_meta')) {
    return result.prepend(isTyped ? SIGNED : SIGNED_AND_COMPLETE);
  }
  const typed = isTyped ? result : result.set('resultType', COMPLETE);
  const meta = typed.member('_meta');
  const own = isObject(meta?.value) ? meta : Verbatim.of({});
  if (Object.hasOwn(own.value as object, META.server)) return typed;
  return typed.set('_meta', own.set(META.server, SERVER_INFO));
}

/** For lists and resource contents, which hosts may cache. */
export function toCacheableResult(result: Verbatim): Verbatim {
  const own = result.value;
  if (!isObject(own)) return result;
  const hinted = Object.entries(CACHE_HINTS).reduce(
    (filled, [key, hint]) => (Object.hasOwn(own, key) ? filled : filled.set(key, hint)),
    result,
  );
  return toModernResult(hinted);
}

/** Removes what only the modern era has. */
export function toHandshakeResult(result: Verbatim): Verbatim {
  if (!isObject(result.value) || !Object.hasOwn(result.value, 'resultType')) return result;
  const plain = result.without('resultType', 'ttlMs', 'cacheScope');
  const meta = plain.member('_meta');
  if (!isObject(meta?.value) || !Object.hasOwn(meta.value, META.server)) return plain;
  const left = meta.without(META.server);
  return left.text === '{}' ? plain.without('_meta') : plain.with('_meta', left);
}
