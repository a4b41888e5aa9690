// Recognizes well-known credentials by their prefix, wherever they come from: access tokens, API keys and private keys.
// Everything Switchboard logs or shows goes through `maskTokens`. Only formats with a distinctive prefix: rules that
// measure randomness misfire on hashes and container IDs.
//
// Searching for the prefixes and matching only there is many times faster than one regular expression for all.
import { replaceSpans, type Span, StringSearch } from './search.ts';

/** Written instead of a secret. */
export const MASK = '***';

interface TokenRule {
  /** The kind of credential. */
  readonly name: string;
  readonly prefix: string;
  /** The whole token, and no letter or digit after it. Sticky. */
  readonly pattern: RegExp;
  /** It may match thousands of characters, so it's tried only once per word. */
  readonly isLong: boolean;
}

const PRIVATE_KEY = 'private key';
const KEY_TEXT = String.raw`(?:[A-Za-z0-9+/=:,.\s-]|\\[nr])`;
const KEY_END = '-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----';

/** By kind: prefixes separated by spaces, and what follows them. */
const FORMATS: readonly (readonly [name: string, starts: string, rest: string, isLong?: true])[] = [
  ['GitHub token', 'ghp_ gho_ ghs_ ghu_ ghr_', '[A-Za-z0-9]{36,255}'],
  ['GitHub token', 'github_pat_', String.raw`\w{22,255}`],
  [
    'GitLab token',
    'glpat- glptt- gldt- glrt- glcbt- gloas-',
    String.raw`[\w-]{20,255}(?:\.[\w-]{2,20}){0,2}`,
    true,
  ],
  ['Slack token', 'xox', '[abeoprs]-[A-Za-z0-9-]{10,255}'],
  ['Slack token', 'xapp-', String.raw`\d-[A-Za-z0-9-]{10,255}`],
  ['Slack webhook', 'hooks.slack.com/services/T', String.raw`\w{6,64}/B\w{6,64}/\w{16,64}`],
  ['AWS access key', 'AKIA ASIA', '[A-Z2-7]{16}'],
  ['Anthropic API key', 'sk-ant-', String.raw`[\w-]{20,255}`],
  ['OpenAI API key', 'sk-proj- sk-svcacct- sk-admin-', String.raw`[\w-]{20,255}`],
  ['OpenRouter API key', 'sk-or-v1-', '[0-9a-f]{64}'],
  ['OpenAI API key', 'sk-', '[A-Za-z0-9]{32,64}'],
  ['Stripe key', 'sk_live_ sk_test_ rk_live_ rk_test_', '[A-Za-z0-9]{16,255}'],
  ['Stripe key', 'whsec_', '[A-Za-z0-9+/]{24,255}'],
  ['Google API key', 'AIza', String.raw`[\w-]{35}`],
  ['Google OAuth token', 'ya29.', String.raw`[\w-]{20,2048}`, true],
  ['Google OAuth secret', 'GOCSPX-', String.raw`[\w-]{28}`],
  ['npm token', 'npm_', '[A-Za-z0-9]{36}'],
  ['PyPI token', 'pypi-AgEI', String.raw`[\w-]{50,1024}`, true],
  ['Hugging Face token', 'hf_', '[A-Za-z]{34}'],
  ['SendGrid API key', 'SG.', String.raw`[\w-]{22}\.[\w-]{43}`],
  ['DigitalOcean token', 'doo_v1_ dop_v1_ dor_v1_', '[0-9a-f]{64}'],
  ['Shopify token', 'shpat_ shpca_ shppa_ shpss_', '[0-9A-Fa-f]{32}'],
  ['Linear API key', 'lin_api_ lin_oauth_', '[A-Za-z0-9]{32,64}'],
  ['Notion token', 'ntn_', '[A-Za-z0-9]{40,64}'],
  ['Groq API key', 'gsk_', '[A-Za-z0-9]{52}'],
  ['xAI API key', 'xai-', '[A-Za-z0-9]{70,90}'],
  ['Replicate token', 'r8_', '[A-Za-z0-9]{37}'],
  ['Databricks token', 'dapi', '[0-9a-f]{32}'],
  ['Docker token', 'dckr_pat_ dckr_oat_', String.raw`[\w-]{24,64}`],
  ['Figma token', 'figd_', String.raw`[\w-]{40,64}`],
  ['Sentry token', 'sntrys_ sntryu_', String.raw`[\w+/=-]{32,512}`, true],
  ['Supabase token', 'sbp_', '[0-9a-f]{40}'],
  ['Vault token', 'hvs. hvb.', String.raw`[\w-]{24,255}`],
  ['Tailscale key', 'tskey-', '[a-z]{2,12}-[A-Za-z0-9]{8,32}-[A-Za-z0-9]{16,64}'],
  ['Atlassian token', 'ATATT3 ATCTT3', String.raw`[\w=-]{60,255}`],
  ['1Password token', 'ops_eyJ', String.raw`[\w-]{100,2048}`, true],
  ['age key', 'AGE-SECRET-KEY-1', '[A-Z0-9]{58}'],
  ['JSON Web Token', 'eyJ', String.raw`[\w-]{10,4096}\.eyJ[\w-]{10,8192}\.[\w-]{10,2048}`, true],
  [
    PRIVATE_KEY,
    '-----BEGIN',
    ` [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:${KEY_TEXT}{0,16384}?${KEY_END}|${KEY_TEXT}{0,16384})`,
  ],
];

let allRules: readonly TokenRule[] | undefined;
let search: StringSearch | undefined;

/** Built on first use. */
function getRules(): readonly TokenRule[] {
  allRules ??= FORMATS.flatMap(([name, prefixes, rest, isLong = false]) =>
    prefixes.split(' ').map((prefix): TokenRule => {
      const literal = prefix.replaceAll(/[./]/g, String.raw`\$&`);
      const pattern = new RegExp(`${literal}${rest}(?![A-Za-z0-9])`, 'y');
      return { name, prefix, pattern, isLong };
    }),
  );
  return allRules;
}

/** The prefixes of all well-known credentials, to search for together with other strings. */
export function tokenPrefixes(): readonly string[] {
  return getRules().map(({ prefix }) => prefix);
}

export interface FoundToken extends Span {
  /** The kind of credential, such as `GitHub token`. */
  readonly name: string;
  /** Whether it's a single word, as all but private keys are. */
  readonly isWord: boolean;
}

/** Reads the token at a place where the prefix with this index occurs. Undefined if there is none. */
export type ReadToken = (index: number, at: number) => FoundToken | undefined;

export function createTokenReader(text: string): ReadToken {
  let ends: number[] | undefined; // where each rule last matched
  return (index, at) => {
    const { name, pattern, isLong } = getRules()[index] as TokenRule;
    if (at < (ends?.[index] ?? 0) || !startsWord(text, at, isLong)) return undefined;
    pattern.lastIndex = at;
    if (!pattern.test(text)) return undefined;
    const end = pattern.lastIndex;
    ends ??= [];
    ends[index] = end;
    return { name, at, end, isWord: name !== PRIVATE_KEY };
  };
}

/** Replaces well-known credentials with `***`. */
export function maskTokens(text: string): string {
  return replaceSpans(text, findTokens(text), MASK);
}

/** The kinds of well-known credentials in a text, such as `GitHub token`. */
export function tokenKinds(text: string): ReadonlySet<string> {
  return new Set(findTokens(text).map(({ name }) => name));
}

/** What every token has: enough characters in a row, or the beginning of a private key. */
const MAY_BE_TOKEN = /[\w./+=-]{15}|-----BEGIN/;

/** Characters that were tested without a search, and how many are enough to prepare one. */
let tested = 0;
const MOST_TESTED = 1 << 15;

function findTokens(text: string): readonly FoundToken[] {
  // Preparing the search takes longer than most starts have to spare, but it's many times faster.
  if (!search && tested < MOST_TESTED) {
    tested += text.length;
    if (!MAY_BE_TOKEN.test(text)) return [];
  }
  search ??= new StringSearch(tokenPrefixes());
  const found: FoundToken[] = [];
  const read = createTokenReader(text);
  search.visit(text, (index, at) => {
    const token = read(index, at);
    if (token) found.push(token);
  });
  return found;
}

/** A token is a word of its own. In JSON, an escaped character may precede it, such as a line break. */
function startsWord(text: string, at: number, isLong: boolean): boolean {
  if (at === 0) return true;
  const before = text.charAt(at - 1);
  if (!(isLong ? /[\w-]/ : /[A-Za-z0-9]/).test(before)) return true;
  if ('bfnrt'.includes(before) && text.charAt(at - 2) === '\\') return true;
  return text.startsWith('\\u', at - 6) && /^[0-9a-fA-F]{4}$/.test(text.slice(at - 4, at));
}
