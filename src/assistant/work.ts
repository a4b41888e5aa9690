// The record of one query's work: progress for the waiting caller, and the list of calls for the answer. It doesn't
// contain arguments or results.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { isErrorResult } from '../mcp/tools.ts';
import { RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { cut } from './cut.ts';
import type { Deadline } from './deadline.ts';
import { formatWait } from './failures.ts';
import { addUsage, NO_USAGE, type ToolOutcome, type Usage } from './provider.ts';
import { formatResult } from './result-text.ts';
import type { Toolbox } from './toolbox.ts';

/** One call of a subtool. */
export interface MadeCall {
  readonly subtool: string;
  readonly ok: boolean;
  readonly ms: number;
}

export interface QueryWorkParts {
  readonly deadline: Deadline;
  readonly onProgress: ((params: Verbatim) => void) | undefined;
}

export class QueryWork {
  readonly deadline: Deadline;
  readonly #parts: QueryWorkParts;
  readonly #calls: MadeCall[] = [];
  #usage: Usage = NO_USAGE;
  #rounds = 0;
  #progress = 0;

  constructor(parts: QueryWorkParts) {
    this.#parts = parts;
    this.deadline = parts.deadline;
  }

  get calls(): readonly MadeCall[] {
    return this.#calls;
  }

  get usage(): Usage {
    return this.#usage;
  }

  get rounds(): number {
    return this.#rounds;
  }

  beginRound(): void {
    this.#rounds++;
    this.#report(`Round ${this.#rounds}: asking the model`);
  }

  noteUsage(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage);
  }

  noteRounds(rounds: number): void {
    this.#rounds = rounds;
  }

  noteWait(ms: number): void {
    this.#report(`The model is busy; retrying in ${formatWait(ms)}`);
  }

  /** A subtool call starts; call the returned function with its outcome. */
  beginUse(subtool: string): (ok: boolean) => void {
    this.#report(`Round ${this.#rounds}: ${subtool}`);
    const begin = performance.now();
    return (ok) => this.#calls.push({ subtool, ok, ms: Math.round(performance.now() - begin) });
  }

  /** Calls a subtool and returns its result unchanged. */
  async call(toolbox: Toolbox, subtool: string, args: Verbatim): Promise<Verbatim> {
    this.deadline.cancellation.throwIfCancelled();
    const note = this.beginUse(subtool);
    try {
      const result = await toolbox.call(subtool, args, this.#forward(subtool));
      note(!isErrorResult(result.value));
      return result;
    } catch (error) {
      note(false);
      throw error;
    }
  }

  /** The same for the model: errors become results, so that it can react. */
  async callForModel(
    toolbox: Toolbox,
    subtool: string,
    args: Verbatim,
    maxChars: number,
  ): Promise<Omit<ToolOutcome, 'id'>> {
    try {
      const result = await this.call(toolbox, subtool, args);
      return formatResult(result.value, maxChars);
    } catch (error) {
      this.deadline.cancellation.throwIfCancelled();
      if (error instanceof SwitchboardError)
        return { text: cut(error.text, maxChars), isError: true };
      if (error instanceof RpcError) return { text: cut(error.message, maxChars), isError: true };
      throw error;
    }
  }

  /** Turns the server's own progress into ours. */
  #forward(subtool: string): ((params: Verbatim) => void) | undefined {
    if (!this.#parts.onProgress) return undefined;
    return ({ value }) => {
      const message = isObject(value) ? value['message'] : undefined;
      this.#report(typeof message === 'string' ? `${subtool}: ${message}` : subtool);
    };
  }

  #report(message: string): void {
    // In a server's form; the host's own token replaces this one.
    const params = { progressToken: 0, progress: ++this.#progress, message };
    this.#parts.onProgress?.(Verbatim.of(params));
  }
}

/** Adds the calls made so far to a failure, since they may have changed something. */
export function withCalls(error: unknown, calls: readonly MadeCall[]): unknown {
  if (!(error instanceof SwitchboardError) || calls.length === 0) return error;
  const { code, message, hint, cause, data } = error;
  const names = calls.map(({ subtool, ok }) => (ok ? subtool : `${subtool} (failed)`));
  const done = `Calls made so far: ${names.slice(0, 30).join(', ')}${names.length > 30 ? ' …' : ''}.`;
  return new SwitchboardError(code, message, {
    hint: hint === undefined ? done : `${hint} ${done}`,
    cause,
    data: { ...data, calls },
  });
}
