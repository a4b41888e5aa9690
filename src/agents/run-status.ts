// The status of a running or queued run, for `switchboard status`.
import { excerpt } from '../base/text.ts';
import type { ListedAgent } from './agent.ts';
import type { EngineEvent } from './engine.ts';
import type { AgentTask } from './task.ts';

export const RUN_STATES = ['running', 'waiting'] as const;

export interface RunStatus {
  /** The name of the agent's tool. */
  readonly agent: string;
  readonly cwd: string;
  readonly state: (typeof RUN_STATES)[number];
  /** When it entered that state. ISO. */
  readonly since: string;
  /** If it waits: how many are ahead of it. */
  readonly before: number | undefined;
  /** Its latest step. */
  readonly doing: string | undefined;
}

const LONGEST_STEP = 200;

export class RunWatch {
  #status: RunStatus;

  constructor({ toolName: agent }: ListedAgent, { cwd }: AgentTask) {
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

  /** It is queued, or has moved up. */
  wait(before: number): void {
    const since = this.#status.state === 'waiting' ? this.#status.since : now();
    this.#status = { ...this.#status, state: 'waiting', since, before };
  }

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
