// What is done for one query, written down as it happens: for the one who asked, who is told of it while
// he waits and gets the list with the answer. What was asked and what came of it stands nowhere in it.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { cut } from './cut.ts';
import type { Deadline } from './deadline.ts';
import { formatWait } from './failures.ts';
import { addUsage, NO_USAGE, type ToolOutcome, type Usage } from './provider.ts';
import { formatResult } from './result-text.ts';
import type { Toolbox } from './toolbox.ts';

/** One use of a subtool. */
export interface Deed {
  readonly subtool: string;
  readonly ok: boolean;
  readonly ms: number;
}

export interface WorkParts {
  readonly deadline: Deadline;
  readonly onProgress: ((params: Verbatim) => void) | undefined;
}

export class Work {
  readonly deadline: Deadline;
  readonly #parts: WorkParts;
  readonly #deeds: Deed[] = [];
  #usage: Usage = NO_USAGE;
  #rounds = 0;
  #progress = 0;

  constructor(parts: WorkParts) {
    this.#parts = parts;
    this.deadline = parts.deadline;
  }

  get deeds(): readonly Deed[] {
    return this.#deeds;
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
    this.#report(`The model is busy: asking again in ${formatWait(ms)}`);
  }

  /** A subtool is used; the returned function is told whether that worked. */
  beginUse(subtool: string): (ok: boolean) => void {
    this.#report(`Round ${this.#rounds}: ${subtool}`);
    const begin = performance.now();
    return (ok) => this.#deeds.push({ subtool, ok, ms: Math.round(performance.now() - begin) });
  }

  /** Uses a subtool; its result as it is. */
  async call(toolbox: Toolbox, subtool: string, args: Verbatim): Promise<Verbatim> {
    this.deadline.cancellation.throwIfCancelled();
    const note = this.beginUse(subtool);
    try {
      const result = await toolbox.call(subtool, args, this.#passOn(subtool));
      note(!(isObject(result.value) && result.value['isError'] === true));
      return result;
    } catch (error) {
      note(false);
      throw error;
    }
  }

  /** The same for the model, which is told what went wrong and may do something about it. */
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

  /** A server's own words about how far it is, in the line of ours. */
  #passOn(subtool: string): ((params: Verbatim) => void) | undefined {
    if (!this.#parts.onProgress) return undefined;
    return ({ value }) => {
      const message = isObject(value) ? value['message'] : undefined;
      this.#report(typeof message === 'string' ? `${subtool}: ${message}` : subtool);
    };
  }

  #report(message: string): void {
    // As a server would write it; the host's own token takes the place of this one.
    const params = { progressToken: 0, progress: ++this.#progress, message };
    this.#parts.onProgress?.(Verbatim.of(params));
  }
}

/** A failure, with what had been done by then: it may have changed something. */
export function withDeeds(error: unknown, deeds: readonly Deed[]): unknown {
  if (!(error instanceof SwitchboardError) || deeds.length === 0) return error;
  const { code, message, hint, cause, data } = error;
  const names = deeds.map(({ subtool, ok }) => (ok ? subtool : `${subtool} (failed)`));
  const done = `By then it had called: ${names.slice(0, 30).join(', ')}${names.length > 30 ? ' …' : ''}.`;
  return new SwitchboardError(code, message, {
    hint: hint === undefined ? done : `${hint} ${done}`,
    cause,
    data: { ...data, calls: deeds },
  });
}
