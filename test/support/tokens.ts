// Invented credentials in the formats of well-known services, put together here so that no scanner takes this
// repository's files for a leak.

const letters = (count: number): string => 'aB3dE5gH7jK9mN'.repeat(20).slice(0, count);
const hex = (count: number): string => '0123456789abcdef'.repeat(10).slice(0, count);

/** By the kind of credential. */
export const TOKENS: readonly (readonly [kind: string, token: string])[] = [
  ['GitHub token', ['ghp', letters(36)].join('_')],
  ['GitHub token', ['github', 'pat', letters(22), letters(59)].join('_')],
  ['GitLab token', ['glpat', letters(20)].join('-')],
  ['Slack token', ['xoxb', '123456789012', letters(24)].join('-')],
  ['AWS access key', ['AK', 'IA', 'ABCDEFGHIJKLMNOP'].join('')],
  ['Anthropic API key', ['sk', 'ant', 'api03', letters(80)].join('-')],
  ['OpenAI API key', ['sk', 'proj', letters(60)].join('-')],
  ['OpenAI API key', ['sk', letters(48)].join('-')],
  ['OpenRouter API key', ['sk', 'or', 'v1', hex(64)].join('-')],
  ['Stripe key', ['sk', 'live', letters(24)].join('_')],
  ['Google API key', ['AI', 'za', letters(35)].join('')],
  ['npm token', ['npm', letters(36)].join('_')],
  ['Hugging Face token', ['hf', 'abcdefghijklmnopqrstuvwxyzABCDEFGH'].join('_')],
  ['SendGrid API key', ['SG', letters(22), letters(43)].join('.')],
  ['DigitalOcean token', ['dop', 'v1', hex(64)].join('_')],
  ['Databricks token', ['da', 'pi', hex(32)].join('')],
  ['JSON Web Token', ['eyJhbGciOiJIUzI1NiJ9', `eyJ${letters(40)}`, letters(43)].join('.')],
  [
    'private key',
    ['-----BEGIN', 'RSA PRIVATE', `KEY-----\n${letters(64)}\n-----END RSA PRIVATE KEY-----`].join(
      ' ',
    ),
  ],
];

/** One that every rule set knows. */
export const GITHUB_TOKEN: string = TOKENS[0]?.[1] ?? '';
