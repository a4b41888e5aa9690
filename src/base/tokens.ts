// Recognizes well-known credentials by their prefix, wherever they come from: access tokens, API keys and private keys.
// Everything Switchboard logs or shows goes through `maskTokens`. Only formats with a distinctive prefix: rules that
// measure randomness misfire on hashes and container IDs.

interface TokenRule {
  readonly name: string;
  /** Without flags or groups that capture. */
  readonly pattern: RegExp;
  /** It may match thousands of characters, so it's tried only once per word. */
  readonly isLong?: true;
}

const KEY_TEXT = String.raw`(?:[A-Za-z0-9+/=:,.\s-]|\\[nr])`;

const RULES: readonly TokenRule[] = [
  { name: 'GitHub token', pattern: /gh[opsur]_[A-Za-z0-9]{36,255}/ },
  { name: 'GitHub token', pattern: /github_pat_\w{22,255}/ },
  {
    name: 'GitLab token',
    pattern: /gl(?:pat|ptt|dt|rt|cbt|oas)-[\w-]{20,255}(?:\.[\w-]{2,20}){0,2}/,
    isLong: true,
  },
  { name: 'Slack token', pattern: /xox[abeoprs]-[A-Za-z0-9-]{10,255}/ },
  { name: 'Slack token', pattern: /xapp-\d-[A-Za-z0-9-]{10,255}/ },
  { name: 'Slack webhook', pattern: /hooks\.slack\.com\/services\/T\w{6,}\/B\w{6,}\/\w{16,64}/ },
  { name: 'AWS access key', pattern: /A(?:KIA|SIA)[A-Z2-7]{16}/ },
  { name: 'Anthropic API key', pattern: /sk-ant-[\w-]{20,255}/ },
  { name: 'OpenAI API key', pattern: /sk-(?:proj|svcacct|admin|None)-[\w-]{20,255}/ },
  { name: 'OpenRouter API key', pattern: /sk-or-v1-[0-9a-f]{64}/ },
  { name: 'OpenAI API key', pattern: /sk-[A-Za-z0-9]{32,64}/ },
  { name: 'Stripe key', pattern: /[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/ },
  { name: 'Stripe key', pattern: /whsec_[A-Za-z0-9+/]{24,255}/ },
  { name: 'Google API key', pattern: /AIza[\w-]{35}/ },
  { name: 'Google OAuth token', pattern: /ya29\.[\w-]{20,2048}/, isLong: true },
  { name: 'Google OAuth secret', pattern: /GOCSPX-[\w-]{28}/ },
  { name: 'npm token', pattern: /npm_[A-Za-z0-9]{36}/ },
  { name: 'PyPI token', pattern: /pypi-AgEI[\w-]{50,1024}/, isLong: true },
  { name: 'Hugging Face token', pattern: /hf_[A-Za-z]{34}/ },
  { name: 'SendGrid API key', pattern: /SG\.[\w-]{22}\.[\w-]{43}/ },
  { name: 'DigitalOcean token', pattern: /do[opr]_v1_[0-9a-f]{64}/ },
  { name: 'Shopify token', pattern: /shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}/ },
  { name: 'Linear API key', pattern: /lin_(?:api|oauth)_[A-Za-z0-9]{32,64}/ },
  { name: 'Notion token', pattern: /ntn_[A-Za-z0-9]{40,64}/ },
  { name: 'Groq API key', pattern: /gsk_[A-Za-z0-9]{52}/ },
  { name: 'xAI API key', pattern: /xai-[A-Za-z0-9]{70,90}/ },
  { name: 'Replicate token', pattern: /r8_[A-Za-z0-9]{37}/ },
  { name: 'Databricks token', pattern: /dapi[0-9a-f]{32}/ },
  { name: 'Docker token', pattern: /dckr_(?:pat|oat)_[\w-]{24,64}/ },
  { name: 'Figma token', pattern: /figd_[\w-]{40,64}/ },
  { name: 'Sentry token', pattern: /sntry[su]_[\w+/=-]{32,512}/, isLong: true },
  { name: 'Supabase token', pattern: /sbp_[0-9a-f]{40}/ },
  { name: 'Vault token', pattern: /hv[bs]\.[\w-]{24,255}/ },
  { name: 'Tailscale key', pattern: /tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,64}/ },
  { name: 'Atlassian token', pattern: /AT(?:ATT|CTT)3[\w=-]{60,255}/ },
  { name: '1Password token', pattern: /ops_eyJ[\w-]{100,2048}/, isLong: true },
  { name: 'age key', pattern: /AGE-SECRET-KEY-1[A-Z0-9]{58}/ },
  {
    name: 'JSON Web Token',
    pattern: /eyJ[\w-]{10,4096}\.eyJ[\w-]{10,8192}\.[\w-]{10,2048}/,
    isLong: true,
  },
  {
    name: 'private key',
    pattern: new RegExp(
      `-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:${KEY_TEXT}{0,16384}?-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|${KEY_TEXT}{0,16384})`,
    ),
  },
];

/** Written instead of a secret. */
export const MASK = '***';

/** A token is a word of its own. In JSON, an escaped line break may precede it. */
const EDGE = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))`;
const LONG_EDGE = String.raw`(?:(?<![\w-])|(?<=\\[bfnrt]))`;

/** All rules at once, built on first use. */
let anyToken: RegExp | undefined;

/** Replaces well-known credentials with `***`. */
export function maskTokens(text: string): string {
  return text.replace(tokenPattern(), MASK);
}

/** The kinds of well-known credentials in a text, such as `GitHub token`. */
export function tokenKinds(text: string): ReadonlySet<string> {
  const found = Array.from(text.matchAll(tokenPattern()), ([token]) => kindOf(token));
  return new Set(found);
}

function tokenPattern(): RegExp {
  if (anyToken) return anyToken;
  const patterns = RULES.map(({ pattern: { source }, isLong }) =>
    isLong ? LONG_EDGE + source : source,
  );
  anyToken = new RegExp(`${EDGE}(?:${patterns.join('|')})(?![A-Za-z0-9])`, 'g');
  return anyToken;
}

function kindOf(token: string): string {
  return RULES.find(({ pattern }) => pattern.exec(token)?.index === 0)?.name ?? 'token';
}
