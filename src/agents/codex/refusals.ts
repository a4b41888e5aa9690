// Which of an agent's actions were refused, by the sandbox or because nobody approved them. The engine tells
// only the model: a command that the sandbox stops at once is not even an item. So both are read, the items
// and what the model calls and is answered.
import { isAbsolute, relative, resolve } from 'node:path';
import { isObject } from '../../base/object.ts';
import type { Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import { readChanges } from './changes.ts';
import type { SandboxMode } from './engine-config.ts';
import { textOf } from './events.ts';
import { commandOf } from './shell-words.ts';

export interface RefusalsOptions {
  readonly cwd: string;
  /** Undefined where it is not one of the three. */
  readonly sandbox: SandboxMode | undefined;
  readonly mask: Mask;
}

/** Of calls that are not answered yet, and of actions that were refused. */
const MOST = 1_000;
const LONGEST_ACTION = 120;
const LONGEST_COMPLAINT = 300;

/** The engine refused the action itself, before it was tried. */
const REJECTED =
  /^(?:patch rejected|approval policy is \w+; reject command|exec_command failed.*Rejected).*$/m;
const READ_ONLY = /read-only file system(?![\w-])/gi;
/** What macOS says in its place. Others than the sandbox say so, too. */
const NOT_PERMITTED = /operation not permitted(?![\w-])/gi;
const SHELLS = new Set<unknown>(['exec_command', 'shell', 'shell_command']);
const FILE_OF_PATCH = /\*\*\* (?:Add|Update|Delete) File: ([^\n\\]+)/g;

export class Refusals {
  readonly #options: RefusalsOptions;
  /** What a call is about, until it is answered. */
  readonly #calls = new Map<string, string>();
  /** A sentence for each action that was refused and did not succeed later. */
  readonly #refused = new Map<string, string>();

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  get sentences(): string[] {
    return [...this.#refused.values()];
  }

  hear(method: string, item: unknown): void {
    if (!isObject(item)) return;
    if (method === 'item/completed') this.#hearItem(item);
    else if (method === 'rawResponseItem/completed') this.#hearRaw(item);
  }

  #hearItem(item: Record<string, unknown>): void {
    const { type, status, exitCode } = item;
    if (type !== 'fileChange' && type !== 'commandExecution') return;
    const paths = () => (readChanges(item['changes']) ?? []).map(({ path }) => path);
    const action =
      type === 'fileChange' ? this.#changesTo(paths()) : this.#quoted(commandOf(item['command']));
    if (status === 'declined') this.#note(action, notApproved(action));
    else if (type === 'commandExecution') {
      this.#judgeOutput(action, textOf(item['aggregatedOutput']), exitCode !== 0);
    } else if (status === 'completed') this.#note(action, undefined);
  }

  #hearRaw(item: Record<string, unknown>): void {
    const id = textOf(item['call_id']);
    switch (item['type']) {
      case 'function_call':
        return this.#remember(id, this.#functionOf(item));
      case 'custom_tool_call':
        return this.#remember(id, this.#customOf(item));
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const action = this.#calls.get(id);
        this.#calls.delete(id);
        if (action !== undefined) this.#judgeAnswer(action, outputOf(item['output']));
      }
    }
  }

  #remember(id: string, action: string | undefined): void {
    if (action !== undefined && this.#calls.size < MOST) this.#calls.set(id, action);
  }

  /** Servers run outside the sandbox: their answers are not about it. */
  #functionOf(item: Record<string, unknown>): string | undefined {
    if (!SHELLS.has(item['name']) || textOf(item['namespace']) !== '') return undefined;
    const { cmd, command } = parseObject(textOf(item['arguments']));
    return this.#quoted(commandOf(cmd ?? command));
  }

  /** A patch, or a program that may apply one. */
  #customOf(item: Record<string, unknown>): string {
    const input = textOf(item['input']);
    const files = [...input.matchAll(FILE_OF_PATCH)].map(([, file = '']) => file.trim());
    return files.length > 0 ? this.#changesTo(files) : this.#quoted(input);
  }

  #judgeAnswer(action: string, answer: string): void {
    const [rejected] = REJECTED.exec(answer) ?? [];
    if (rejected === undefined) {
      return this.#judgeOutput(action, answer, /exited with code [1-9]/.test(answer));
    }
    const isSandbox = /sandbox|outside of the project/.test(rejected);
    this.#note(action, isSandbox ? `${this.#blocked(action)}.` : notApproved(action));
  }

  #judgeOutput(action: string, output: string, hasFailed: boolean): void {
    if (this.#options.sandbox === 'danger-full-access') return;
    const reason =
      complaintIn(output, READ_ONLY) ??
      (hasFailed ? complaintIn(output, NOT_PERMITTED) : undefined);
    if (reason !== undefined) {
      const words = excerpt(reason, LONGEST_COMPLAINT, this.#options.mask);
      this.#note(action, `${this.#blocked(action)}: ${words}.`);
    } else if (!hasFailed) this.#note(action, undefined);
  }

  /** Without a sentence it succeeded, maybe after it was refused once. */
  #note(action: string, sentence: string | undefined): void {
    if (sentence === undefined) this.#refused.delete(action);
    else if (this.#refused.size < MOST) this.#refused.set(action, sentence);
  }

  #changesTo(paths: readonly string[]): string {
    const { cwd, mask } = this.#options;
    const names = paths.map((path) => {
      const inside = relative(cwd, resolve(cwd, path));
      return inside.startsWith('..') || isAbsolute(inside) ? resolve(cwd, path) : inside;
    });
    return `changes to ${excerpt(names.join(', ') || 'files', LONGEST_ACTION, mask)}`;
  }

  #quoted(action: string): string {
    return `\`${excerpt(action, LONGEST_ACTION, this.#options.mask)}\``;
  }

  #blocked(action: string): string {
    const { sandbox } = this.#options;
    return `The ${sandbox === undefined ? '' : `${sandbox} `}sandbox blocked ${action}`;
  }
}

/** What a program says when it fails: the words alone, or behind its own name and the file's. */
function complaintIn(output: string, words: RegExp): string | undefined {
  for (const { 0: found, index } of output.matchAll(words)) {
    const near = output.slice(Math.max(0, index - LONGEST_COMPLAINT), index);
    const before = near.slice(near.lastIndexOf('\n') + 1);
    // It may be a string in what a program printed as JSON.
    if (/(?:^\s*|[:\]] )$/.test(before)) {
      return `${before.slice(before.lastIndexOf('"') + 1)}${found}`.trim();
    }
  }
  return undefined;
}

function notApproved(action: string): string {
  return `Not approved, so not done: ${action}.`;
}

/** A text, or a list of texts and images. */
function outputOf(output: unknown): string {
  if (!Array.isArray(output)) return textOf(output);
  return output.map((part) => (isObject(part) ? textOf(part['text']) : '')).join('\n');
}

function parseObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {}; // a model's arguments may be anything
  }
}
