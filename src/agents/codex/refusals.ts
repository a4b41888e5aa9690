// Collects an agent's actions that the sandbox or a missing approval blocked. Codex reports them only to the
// model: if the sandbox stops a command right away, there isn't even an item for it. So this reads both the items and
// the model's calls with their results.
import { resolve } from 'node:path';
import { isObject } from '../../base/object.ts';
import { pathInside } from '../../base/paths.ts';
import type { Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import type { SandboxMode } from '../agent.ts';
import { readChanges } from './changes.ts';
import { stringOf } from './events.ts';
import { commandOf } from './shell-words.ts';

export interface RefusalsOptions {
  readonly cwd: string;
  /** Undefined if permissions define it. */
  readonly sandbox: SandboxMode | undefined;
  readonly mask: Mask;
}

/** Of pending calls, and of refused actions. */
const MOST = 1_000;
const LONGEST_ACTION = 120;
const LONGEST_COMPLAINT = 300;

/** Codex refused the action without trying it. */
const REJECTED =
  /^(?:patch rejected|approval policy is \w+; reject command|exec_command failed.*Rejected).*$/m;
const READ_ONLY = /read-only file system(?![\w-])/gi;
/** The macOS equivalent, which can also have other causes than the sandbox. */
const NOT_PERMITTED = /operation not permitted(?![\w-])/gi;
const SHELLS = new Set<unknown>(['exec_command', 'shell', 'shell_command']);
const FILE_OF_PATCH = /\*\*\* (?:Add|Update|Delete) File: ([^\n\\]+)/g;

export class Refusals {
  readonly #options: RefusalsOptions;
  /** Pending calls: id → action. */
  readonly #calls = new Map<string, string>();
  /** A sentence per action that was refused and didn't succeed later. */
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
      this.#judgeOutput(action, stringOf(item['aggregatedOutput']), exitCode !== 0);
    } else if (status === 'completed') this.#note(action, undefined);
  }

  #hearRaw(item: Record<string, unknown>): void {
    const id = stringOf(item['call_id']);
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

  /** Servers run outside the sandbox, so their results don't count. */
  #functionOf(item: Record<string, unknown>): string | undefined {
    if (!SHELLS.has(item['name']) || stringOf(item['namespace']) !== '') return undefined;
    const { cmd, command } = parseObject(stringOf(item['arguments']));
    return this.#quoted(commandOf(cmd ?? command));
  }

  /** A patch, or code that may apply one. */
  #customOf(item: Record<string, unknown>): string {
    const input = stringOf(item['input']);
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

  /** No sentence means success, maybe after a refusal. */
  #note(action: string, sentence: string | undefined): void {
    if (sentence === undefined) this.#refused.delete(action);
    else if (this.#refused.size < MOST) this.#refused.set(action, sentence);
  }

  #changesTo(paths: readonly string[]): string {
    const { cwd, mask } = this.#options;
    const names = paths.map((path) => {
      const whole = resolve(cwd, path);
      return pathInside(cwd, whole) ?? whole;
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

/** A program's error message: alone, or after the names of the program and the file. */
function complaintIn(output: string, words: RegExp): string | undefined {
  for (const { 0: found, index } of output.matchAll(words)) {
    const near = output.slice(Math.max(0, index - LONGEST_COMPLAINT), index);
    const before = near.slice(near.lastIndexOf('\n') + 1);
    // It may be a string in JSON output.
    if (/(?:^\s*|[:\]] )$/.test(before)) {
      return `${before.slice(before.lastIndexOf('"') + 1)}${found}`.trim();
    }
  }
  return undefined;
}

function notApproved(action: string): string {
  return `Not approved: ${action}.`;
}

/** A string, or a list of text and image parts. */
function outputOf(output: unknown): string {
  if (!Array.isArray(output)) return stringOf(output);
  return output.map((part) => (isObject(part) ? stringOf(part['text']) : '')).join('\n');
}

function parseObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {}; // a model's arguments may be anything
  }
}
