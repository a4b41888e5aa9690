// What is told of a run while it goes on, or waits for its turn, to people who look.
import { excerpt } from '../base/text.ts';
import type { ListedAgent } from './agent.ts';
import type { EngineEvent } from './engine.ts';
import type { Task } from './task.ts';

export const RUN_STATES = ['running', 'waiting'] as const;

export interface RunStatus {
  /** The name of the agent's tool. */
  readonly agent: string;
  /** The folder that it works in. */
  readonly cwd: string;
  readonly state: (typeof RUN_STATES)[number];
  /** Since when it is in that state. ISO. */
  readonly since: string;
  /** How many wait before it, where it waits. */
  readonly before: number | undefined;
  /** What it began to do last. */
  readonly doing: string | undefined;
}

const LONGEST_STEP = 200;

export class RunWatch {
  #status: RunStatus;

  constructor({ toolName: agent }: ListedAgent, { cwd }: Task) {
    this.#status = {
      agent,
      cwd,
      state: 'running',
      since: now(),
      before: undefined,
      doing: undefined,
    };
  }

  get status(): RunStatus {
    return this.#status;
  }

  /** It waits, or has moved on in the line. */
  wait(before: number): void {
    const since = this.#status.state === 'waiting' ? this.#status.since : now();
    this.#status = { ...this.#status, state: 'waiting', since, before };
  }

  /** It is its turn. */
  begin(): void {
    this.#status = { ...this.#status, state: 'running', since: now(), before: undefined };
  }

  hear({ kind, text }: EngineEvent): void {
    if (kind === 'step') this.#status = { ...this.#status, doing: excerpt(text, LONGEST_STEP) };
  }
}

function now(): string {
  return new Date().toISOString();
}
