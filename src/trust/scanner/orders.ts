// Finds orders to the model to keep something from the user, or to read secrets. Each alone is only worth a look,
// because honest descriptions contain similar sentences. Both in one tool are an attack.
import { excerpt } from '../../base/text.ts';
import type { Words } from '../changes/words.ts';
import type { Finding } from './finding.ts';

const PEOPLE = String.raw`(?:the |any |your )?(?:users?|humans?|person|people|operator|owner|anyone|anybody)`;
const TELL = String.raw`(?:tell|mention|inform|reveal|disclose|notify|alert|warn|report)(?:ing)?`;

const CONCEAL = [
  // "Do not mention this to the user." "… without telling the user."
  String.raw`\b(?:do not|don['’]?t|never|must not|mustn['’]t|should not|avoid|without|refrain from)\s+(?:\w+\s+){0,3}?${TELL}\b[^.!?\n]{0,60}?\b${PEOPLE}\b`,
  // "The user must not know." "The user should never be told."
  String.raw`\b${PEOPLE}\s+(?:must|should|may|can|need|shall)(?:\s+not|\s+never|n['’]t)\s+(?:\w+\s+){0,2}?(?:know|see|notice|learn|find out|hear|be\s+(?:told|informed|aware|notified|alerted))\b`,
  // "Hide this from the user." "Keep this secret from the user."
  String.raw`\b(?:hide|conceal|withhold|keep)\b[^.!?\n]{0,60}?\bfrom\s+${PEOPLE}\b`,
  String.raw`\b(?:secretly|covertly|surreptitiously|behind (?:the|their) (?:user['’]?s? )?backs?)\b`,
  String.raw`\bkeep (?:this|it|that|these)(?: \w+)? (?:a )?secret\b`,
].map((pattern) => new RegExp(pattern, 'i'));

/** Files that hold nothing but secrets, or the configuration of MCP hosts. */
const SECRET_FILE = new RegExp(
  [
    String.raw`(?:~|\$HOME|%USERPROFILE%)?[/\\]?\.ssh[/\\]`,
    String.raw`\bid_(?:rsa|dsa|ecdsa|ed25519)\b`,
    String.raw`\.aws[/\\](?:credentials|config)`,
    String.raw`\.(?:netrc|pgpass|git-credentials|pypirc|npmrc)\b`,
    String.raw`\.kube[/\\]config`,
    String.raw`\.docker[/\\]config\.json`,
    String.raw`\.gnupg\b`,
    String.raw`\.config[/\\]gh[/\\]`,
    String.raw`/etc/(?:shadow|passwd|sudoers)\b`,
    String.raw`\.cursor[/\\]mcp\.json`,
    String.raw`\bclaude_desktop_config\.json`,
    String.raw`\.claude\.json`,
    String.raw`\.codex[/\\](?:auth\.json|config\.toml)`,
    String.raw`(?<![\w/\\*])\.env(?:\.\w+)?\b(?!\s*\()`,
    String.raw`\bwallet\.dat\b`,
    String.raw`\bcookies\.sqlite\b`,
    String.raw`\bLogin Data\b`,
  ].join('|'),
  'i',
);

const READ = String.raw`\b(?:read|open|load|cat|fetch|get|copy|collect|extract|retrieve|access|include|attach|send|pass|provide|upload|paste)\b`;
/** "Read ~/.ssh/id_rsa", with the verb before the file in the same sentence. */
const READ_SECRET = new RegExp(String.raw`${READ}[^.!?\n]{0,80}?(?:${SECRET_FILE.source})`, 'i');

const LONGEST_QUOTE = 120;

export function findOrders(words: Words): Finding[] {
  const conceal = words.flatMap(([where, text]) => quote(where, matchConcealment(text)));
  const secrets = words.flatMap(([where, text]) => quote(where, READ_SECRET.exec(text)?.[0]));
  const namesSecret = words.some(([, text]) => SECRET_FILE.test(text));
  const isBoth = conceal.length > 0 && namesSecret;
  const severity: Finding['severity'] = isBoth ? 'hard' : 'soft';
  return [
    ...conceal.map(({ where, said }) => ({
      rule: 'conceal' as const,
      severity,
      where,
      detail: `Tells the model to keep something from the user: "${said}"`,
    })),
    ...secrets.map(({ where, said }) => ({
      rule: 'secrets' as const,
      severity,
      where,
      detail: `Tells the model to use a file with secrets: "${said}"`,
    })),
  ];
}

/** Whether a text gives an order, for encoded texts: honest ones don't. */
export function hasOrder(text: string): boolean {
  return matchConcealment(text) !== undefined || READ_SECRET.test(text);
}

function matchConcealment(text: string): string | undefined {
  for (const pattern of CONCEAL) {
    const found = pattern.exec(text);
    if (found) return found[0];
  }
  return undefined;
}

function quote(where: string, said: string | undefined): { where: string; said: string }[] {
  return said === undefined ? [] : [{ where, said: excerpt(said, LONGEST_QUOTE) }];
}
