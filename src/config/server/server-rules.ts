// What the rules of all files decide for one server.
import type {
  Permission,
  PermissionDecision,
  RuleHints,
  RuleTarget,
  ServerRules,
} from '../permission-rules.ts';
import { isTooLong } from './expose.ts';
import { onlyReads, type Rule } from './permission-rule.ts';

/** The rules of one file that apply to one server. */
export interface FileRules {
  readonly file: string;
  readonly default: Permission;
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  /** Takes targets out of `ask`, whether a rule or the default asks. */
  readonly exempt: readonly Rule[];
  readonly allow: readonly Rule[];
}

export class RulesOfServer implements ServerRules {
  readonly refusal: PermissionDecision | undefined;
  readonly readOnlyIn: string | undefined;
  readonly coversLibrary: boolean;
  readonly #files: readonly FileRules[];

  constructor(files: readonly FileRules[], readOnlyIn: string | undefined) {
    this.#files = files;
    this.readOnlyIn = readOnlyIn;
    this.refusal = files.map(refusalIn).find((refusal) => refusal !== undefined);
    this.coversLibrary = files.some(coversLibrary);
  }

  decide(target: RuleTarget): PermissionDecision | undefined {
    if (isTooLong(target.name)) return TOO_LONG;
    const complete = target.kind === 'tool' ? target : { ...target, hints: READS };
    const decisions = [
      ...(this.readOnlyIn === undefined ? [] : [decideReadOnly(this.readOnlyIn, complete)]),
      ...this.#files.map((rules) => decideIn(rules, complete)),
    ];
    const denied = decisions.find((decision) => decision?.permission === 'deny');
    if (denied) return denied;
    if (decisions.includes(undefined)) return undefined;
    const made = decisions.filter((decision) => decision !== undefined);
    const asked = made.find(({ permission }) => permission === 'ask');
    return asked ?? made.find(({ rule }) => rule !== undefined) ?? made[0] ?? BY_DEFAULT;
  }

  forAssistant(): ServerRules | undefined {
    if (!this.refusal) return undefined;
    const { refusal } = this;
    return {
      refusal,
      readOnlyIn: undefined,
      coversLibrary: true,
      decide: () => refusal,
      forAssistant: () => this,
    };
  }

  toJSON(): unknown {
    const texts = (rules: readonly Rule[]) => rules.map(({ text }) => text);
    const files = this.#files.map(({ file, default: usual, deny, ask, exempt, allow }) => ({
      file,
      default: usual,
      deny: texts(deny),
      ask: [...texts(ask), ...texts(exempt).map((text) => `!${text}`)],
      allow: texts(allow),
    }));
    return { files, ...(this.readOnlyIn !== undefined && { readOnly: this.readOnlyIn }) };
  }
}

const TOO_LONG: PermissionDecision = {
  permission: 'deny',
  by: 'deny',
  because: 'its name is too long',
};

const BY_DEFAULT = decision('allow', 'default', undefined, undefined);

function decision(
  permission: Permission,
  by: PermissionDecision['by'],
  file: string | undefined,
  rule?: string,
): PermissionDecision {
  const key = by === 'readOnly' ? by : `permissions.${by}`;
  const place = file === undefined ? '' : ` in ${file}`;
  const because = `${key}${rule === undefined ? '' : ` ${JSON.stringify(rule)}`}${place}`;
  return { permission, by, because, ...(rule !== undefined && { rule }), ...(file && { file }) };
}

/** Prompts and resources only read. */
const READS: RuleHints = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

/** Names nothing: only rules for all that is read match it. */
const ANY_RESOURCE: RuleTarget = { kind: 'resource', name: '', hints: READS };

/** Whether a file may restrict something that is neither a tool nor known by name yet. */
function coversLibrary({ default: usual, deny, ask, allow }: FileRules): boolean {
  const restrictions = [...deny, ...ask];
  if (restrictions.some((rule) => rule.isByName || rule.matches(ANY_RESOURCE))) return true;
  return usual !== 'allow' && !allow.some((rule) => !rule.isByName && rule.matches(ANY_RESOURCE));
}

/** Why a file permits nothing at all. */
function refusalIn({ file, default: usual, deny, ask, exempt, allow }: FileRules) {
  const whole = deny.find(({ isWhole }) => isWhole);
  if (whole) return decision('deny', 'deny', file, whole.text);
  const isSome = ask.length > 0 || allow.length > 0 || exempt.length > 0;
  return usual === 'deny' && !isSome ? decision('deny', 'default', file) : undefined;
}

function decideReadOnly(file: string, { hints }: RuleTarget): PermissionDecision | undefined {
  if (!hints) return undefined;
  return decision(onlyReads(hints) ? 'allow' : 'deny', 'readOnly', file);
}

/** Undefined if annotations are needed. */
function decideIn(rules: FileRules, target: RuleTarget): PermissionDecision | undefined {
  const { file, default: usual } = rules;
  const denied = findRule(rules.deny, target);
  if (denied === 'unknown') return undefined;
  if (denied) return decision('deny', 'deny', file, denied.text);
  const exempt = findRule(rules.exempt, target);
  const asked = findRule(rules.ask, target);
  if (exempt === 'unknown' || asked === 'unknown') return undefined;
  if (asked && !exempt) return decision('ask', 'ask', file, asked.text);
  const allowed = findRule(rules.allow, target);
  if (allowed === 'unknown') return undefined;
  if (allowed) return decision('allow', 'allow', file, allowed.text);
  if (usual === 'ask' && exempt) return decision('allow', 'ask', file, `!${exempt.text}`);
  return decision(usual, 'default', file);
}

/** `unknown` if a rule may match, depending on annotations. */
function findRule(rules: readonly Rule[], target: RuleTarget): Rule | 'unknown' | undefined {
  let isOpen = false;
  for (const rule of rules) {
    const isMatch = rule.matches(target);
    if (isMatch) return rule;
    isOpen ||= isMatch === undefined;
  }
  return isOpen ? 'unknown' : undefined;
}
