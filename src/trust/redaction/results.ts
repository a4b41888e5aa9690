// Secrets in a server's results: its configured values in every form we know, and well-known tokens.
import { createMask, secretForms } from '../../base/secrets.ts';
import { maskTokens, type TokenRule, tokenKinds, tokenRulesFor } from '../../base/tokens.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { maskJson } from './mask-json.ts';

export interface Filtered {
  /** Kinds of secrets, such as `GitHub token`; empty if there are none. */
  readonly found: readonly string[];
  readonly result: Verbatim;
}

/** Where hosts find the kinds of secrets. */
const KINDS_KEY = 'switchboard/secrets';

/** The result with `***` instead of each secret. `values`: the server's configured secrets. */
export function maskResult(result: Verbatim, values: readonly string[]): Filtered {
  const found = findSecrets(result.text, values);
  const { kinds } = found;
  if (kinds.length === 0) return { found: kinds, result };
  const mask = createMask(found.values);
  const text = maskJson(result.text, (string) => maskTokens(mask(string), found.rules));
  return { found: kinds, result: text === result.text ? result : Verbatim.fromText(text) };
}

/** The result with a note about its secrets: for the model in `content`, for programs in `_meta`. */
export function noteSecrets(result: Verbatim, values: readonly string[]): Filtered {
  const { kinds } = findSecrets(result.text, values);
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

interface Found {
  readonly kinds: readonly string[];
  /** The configured values that occur in some form. */
  readonly values: readonly string[];
  /** The rules for tokens that may apply. */
  readonly rules: readonly TokenRule[];
}

function findSecrets(text: string, configured: readonly string[]): Found {
  const plain = withoutEscapes(text);
  const values = configured.filter((value) =>
    secretForms([value]).some((form) => plain.includes(form)),
  );
  const rules = tokenRulesFor(plain);
  const kinds = tokenKinds(plain, rules);
  return { kinds: values.length > 0 ? [...kinds, 'configured value'] : [...kinds], values, rules };
}

/** Some servers escape characters that JSON doesn't require to be escaped. */
const ESCAPE = /\\u([0-9a-fA-F]{4})|\\\//g;

function withoutEscapes(text: string): string {
  if (!text.includes('\\u') && !text.includes('\\/')) return text;
  return text.replaceAll(ESCAPE, (_escape, code?: string) =>
    code === undefined ? '/' : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
