// Secrets in a server's results: its configured values in every form we know, and well-known tokens.
import { Verbatim } from '../../rpc/verbatim.ts';
import type { SecretFinder } from './finder.ts';
import { maskJson } from './mask-json.ts';

export interface Filtered {
  /** Kinds of secrets, such as `GitHub token`; empty if there are none. */
  readonly found: readonly string[];
  readonly result: Verbatim;
}

/** Where hosts find the kinds of secrets. */
const KINDS_KEY = 'switchboard/secrets';

/** The result with `***` instead of each secret. */
export function maskResult(result: Verbatim, finder: SecretFinder): Filtered {
  const secrets = finder.findIn(result.text);
  const { kinds } = secrets;
  if (kinds.length === 0) return { found: kinds, result };
  const text = maskJson(result.text, finder, secrets);
  return { found: kinds, result: text === result.text ? result : Verbatim.fromText(text) };
}

/** The result with a note about its secrets: for the model in `content`, for programs in `_meta`. */
export function noteSecrets(result: Verbatim, finder: SecretFinder): Filtered {
  const { kinds } = finder.findIn(result.text);
  if (kinds.length === 0) return { found: kinds, result };
  const note = Verbatim.of({ type: 'text', text: describeSecrets(kinds) });
  const content = result.member('content');
  const noted = Array.isArray(content?.value)
    ? result.with('content', content.append(note))
    : result;
  const meta = (result.member('_meta') ?? Verbatim.of({})).set(KINDS_KEY, Verbatim.of(kinds));
  return { found: kinds, result: noted.set('_meta', meta) };
}

function describeSecrets(kinds: readonly string[]): string {
  return `Note from Switchboard: this result contains secrets (${kinds.join(', ')}). Don't repeat them or pass them on.`;
}
