// `switchboard trust [action] [name…]`: what a project would run or tell models, and the user's decisions about it.
import { SwitchboardError } from '../../base/errors.ts';
import { nameHidden } from '../../base/text.ts';
import { isWaiting, type JudgedSubject } from '../../config/judge.ts';
import { approvedLines, recordDecisions } from '../../trust/approvals/decide.ts';
import { describeSubject } from '../../trust/approvals/describe.ts';
import { applyDecisions, describeApplied } from '../status/reload.ts';
import { withAudit } from '../terminal/audited.ts';
import { formatRows } from '../terminal/layout.ts';
import { count, createOutput, type Output, type Style } from '../terminal/output.ts';
import { type CommandOptions, judgedFor } from './with-switchboard.ts';

export interface TrustOptions extends CommandOptions {
  readonly all?: boolean | undefined;
}

const ACTIONS = ['list', 'diff', 'approve', 'deny', 'revoke'] as const;
type Action = (typeof ACTIONS)[number];

const DECISIONS = { approve: 'approved', deny: 'denied', revoke: 'revoked' } as const;

export async function trust(
  action: string | undefined,
  names: readonly string[],
  options: TrustOptions,
): Promise<number> {
  const wanted = parseAction(action);
  const output = createOutput(options);
  const { config, judged } = await judgedFor({ ...options, warnings: 'shown' });
  const { project, home } = config;
  if (wanted === 'list' || wanted === 'diff') {
    const chosen = names.length > 0 ? choose(judged, names) : judged;
    const rows = wanted === 'diff' ? chosen.filter(({ verdict }) => isWaiting(verdict)) : chosen;
    output.json({ project, items: rows.map((one) => toRow(one, home)) });
    printList(rows, { home, isDetailed: wanted === 'diff' }, output);
    return 0;
  }
  const chosen = options.all ? allFor(wanted, judged) : choose(judged, required(wanted, names));
  await withAudit(config, (audit) =>
    recordDecisions(home, chosen, DECISIONS[wanted], 'user', audit),
  );
  const after = (await judgedFor({ ...options, warnings: 'shown' })).judged;
  const isChosen = new Set(chosen.map(({ hash }) => hash));
  const rows = after.filter(({ hash }) => isChosen.has(hash));
  const reloaded = chosen.length > 0 ? await applyDecisions(home, project) : [];
  output.json({ project, items: rows.map((one) => toRow(one, home)), reloaded });
  printList(rows, { home, isDetailed: wanted === 'approve' }, output);
  const applied = describeApplied(reloaded);
  if (applied.length > 0) output.line();
  for (const line of applied) output.line(line);
  return reloaded.every(({ ok }) => ok) ? 0 : 2;
}

function parseAction(action = 'list'): Action {
  const found = ACTIONS.find((one) => one === action);
  if (found) return found;
  throw new SwitchboardError('USAGE', `Unknown action: "${action}".`, {
    hint: `Use one of: ${ACTIONS.join(', ')}. For example: switchboard trust approve memory`,
  });
}

function required(action: Action, names: readonly string[]): readonly string[] {
  if (names.length > 0) return names;
  throw new SwitchboardError('USAGE', `Missing name: switchboard trust ${action} <name>.`, {
    hint: 'Add a name, or use --all. To list the names, run: switchboard trust',
  });
}

/** What the action makes a difference for. */
function allFor(action: keyof typeof DECISIONS, judged: readonly JudgedSubject[]): JudgedSubject[] {
  const isMeant = {
    approve: isWaiting,
    deny: isWaiting,
    revoke: (verdict: JudgedSubject['verdict']) => verdict === 'approved' || verdict === 'denied',
  }[action];
  return judged.filter(({ verdict }) => isMeant(verdict));
}

/** By name, as it's shown, or by hash. A name may have several parts, such as an agent and its instructions. */
function choose(judged: readonly JudgedSubject[], names: readonly string[]): JudgedSubject[] {
  return names.flatMap((name) => {
    const found = judged.filter(
      (one) => one.hash === name || one.subject.name === name || shownName(one) === name,
    );
    if (found.length > 0) return found;
    const known = [...new Set(judged.map(shownName))];
    throw new SwitchboardError('USAGE', `Nothing in this project is named "${name}".`, {
      hint: known.length > 0 ? `Known names: ${known.join(', ')}.` : 'Nothing here needs approval.',
    });
  });
}

function shownName({ subject }: JudgedSubject): string {
  return nameHidden(subject.name).replaceAll(/\s+/g, ' ');
}

function toRow(one: JudgedSubject, home: string) {
  const { subject, hash, verdict, isLimited } = one;
  const { kind, file } = subject;
  const before = verdict === 'changed' ? approvedLines(home, one) : undefined;
  return {
    kind,
    name: shownName(one),
    file,
    status: verdict,
    hash,
    details: describeSubject(one),
    ...(isLimited && { limited: true }),
    ...(before && { before }),
  };
}

const STYLES: Readonly<Record<JudgedSubject['verdict'], Style>> = {
  approved: 'green',
  pending: 'yellow',
  changed: 'yellow',
  denied: 'red',
};

interface ListOptions {
  readonly home: string;
  /** Also show details of approved items. */
  readonly isDetailed: boolean;
}

function printList(
  judged: readonly JudgedSubject[],
  { home, isDetailed }: ListOptions,
  output: Output,
): void {
  if (judged.length === 0) return output.line('Nothing in this project needs approval.');
  for (const one of judged) {
    const { subject, verdict } = one;
    const cells = [
      { text: verdict, style: STYLES[verdict] },
      { text: subject.kind },
      { text: shownName(one), style: 'bold' as const },
      { text: nameHidden(subject.file), style: 'dim' as const },
    ];
    for (const line of formatRows([{ cells }], output)) output.line(line);
    if (one.isLimited) output.line(`    ${describeLimit(one)}`);
    if (!isDetailed && !isWaiting(verdict)) continue;
    const before = verdict === 'changed' ? approvedLines(home, one) : undefined;
    for (const line of compare(before, describeSubject(one))) output.line(`    ${line}`);
  }
  const waiting = judged.filter(({ verdict }) => isWaiting(verdict));
  if (waiting.length === 0) return;
  output.line();
  output.line(
    `${count(waiting.length, 'item')} pending. To approve one: switchboard trust approve NAME`,
  );
  output.line('To approve all of them: switchboard trust approve --all');
}

/** A file of the user's that was trusted at first sight, but without all the rights it asks for. */
function describeLimit({ subject }: JudgedSubject): string {
  const { rights = [], name } = subject;
  return `limited: to let it run as written (${rights.join(', ')}), run: switchboard trust approve ${nameHidden(name)}`;
}

/** Removed lines start with `-`, added ones with `+`. */
function compare(before: readonly string[] | undefined, now: readonly string[]): string[] {
  if (!before) return [...now];
  const gone = before.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  return [...gone, ...now.map((line) => (before.includes(line) ? `  ${line}` : `+ ${line}`))];
}
