// The form in which a host asks its user to approve pending items. Items that can't be shown
// completely aren't offered.
import { isObject } from '../../base/object.ts';
import { nameHidden } from '../../base/text.ts';
import type { JudgedSubject, Subject } from '../../config/judge.ts';
import { describeSubject } from './describe.ts';

const CHOICES = {
  approve: 'Approve',
  never: 'Never, and stop asking',
  later: 'Not now',
} as const;

/** Few hosts show more than this, and users don't read it. */
const LONGEST = 4_000;
/** Hosts show a field for each. */
const MOST_PARTS = 10;

const KINDS: Readonly<Record<Subject['kind'], string>> = {
  server: 'Server',
  settings: 'Settings',
  script: 'Script',
  descriptions: 'Descriptions',
  role: 'Assistant role',
  agent: 'Agent',
  instructions: 'Instructions for agent',
  'model-map': 'Model names',
  'agent-server': 'Server for agents',
  hooks: 'Hooks',
  runner: 'Project packages for server',
};

const INTRODUCTION =
  "These parts of the project need your approval. Switchboard doesn't use them until you approve them.";

export interface ApprovalForm {
  /** The params of `elicitation/create`. */
  readonly params: { readonly message: string; readonly requestedSchema: object };
  /** By field. */
  readonly offered: ReadonlyMap<string, JudgedSubject>;
}

/** Undefined if nothing can be shown completely. */
export function createForm(waiting: readonly JudgedSubject[]): ApprovalForm | undefined {
  const offered = new Map<string, JudgedSubject>();
  const shown: string[] = [];
  let room = LONGEST - INTRODUCTION.length - describeRest(waiting.length).length;
  for (const one of waiting) {
    const text = describePart(one, offered.size + 1);
    if (offered.size === MOST_PARTS || text.length > room) continue;
    room -= text.length;
    shown.push(text);
    offered.set(`part_${offered.size + 1}`, one);
  }
  if (offered.size === 0) return undefined;
  const left = waiting.length - offered.size;
  const message = [INTRODUCTION, ...shown, ...(left > 0 ? [describeRest(left)] : [])].join('\n\n');
  const fields = [...offered].map(([key, one], index) => [key, fieldFor(one, index + 1)]);
  const properties = Object.fromEntries(fields) as object;
  const requestedSchema = { type: 'object', properties, required: [...offered.keys()] };
  return { params: { message, requestedSchema }, offered };
}

export interface Decided {
  readonly approved: readonly JudgedSubject[];
  readonly denied: readonly JudgedSubject[];
}

/**
 * Only a choice in a field decides something. Hosts that run without a user decline or cancel every form at once,
 * which therefore means "not now".
 */
export function readForm(answer: unknown, { offered }: ApprovalForm): Decided {
  const isAccepted = isObject(answer) && answer['action'] === 'accept';
  const content = isAccepted && isObject(answer['content']) ? answer['content'] : {};
  const chosen = (choice: keyof typeof CHOICES) =>
    [...offered].filter(([key]) => content[key] === choice).map(([, one]) => one);
  return { approved: chosen('approve'), denied: chosen('never') };
}

function fieldFor(one: JudgedSubject, number: number): object {
  const choices = Object.keys(CHOICES);
  return {
    type: 'string',
    title: titleOf(one, number),
    enum: choices,
    enumNames: Object.values(CHOICES),
    default: 'later',
  };
}

function describePart(one: JudgedSubject, number: number): string {
  const { subject, verdict } = one;
  const changed = verdict === 'changed' ? ' (changed since you approved it)' : '';
  const lines = describeSubject(one).map((line) => `    ${line}`);
  return [`${titleOf(one, number)}${changed}, in ${oneLine(subject.file)}`, ...lines].join('\n');
}

function titleOf({ subject: { kind, name } }: JudgedSubject, number: number): string {
  return `${number}. ${KINDS[kind]} "${oneLine(name)}"`;
}

function describeRest(count: number): string {
  const what = count === 1 ? 'One more item needs' : `${count} more items need`;
  return `${what} approval but can't be shown here. To see everything, run: switchboard trust`;
}

/** Line breaks could fake another part. */
function oneLine(text: string): string {
  return nameHidden(text).replaceAll(/\s+/g, ' ');
}
