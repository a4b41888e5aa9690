// Calls to handshake-era servers that wait for a modern host to answer a question. The server's request stays open
// meanwhile. If the host doesn't return in time, the call is cancelled.
import type { Cancellation } from '../base/cancellation.ts';
import { guard } from '../base/guard.ts';
import { isObject } from '../base/object.ts';
import type { Question } from '../mcp/caller.ts';
import { Unanswered } from '../mcp/questions.ts';
import { INTERNAL_ERROR, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { invalidState } from './request-state.ts';

const MOST_CALLS = 100;

interface OpenQuestion {
  readonly question: Question;
  readonly resolve: (answer: Verbatim) => void;
  readonly reject: (error: Error) => void;
}

/** A request from the host through which the call can report to it. */
interface Round {
  progress(params: Verbatim): void;
  notify(method: string, params: Verbatim): void;
}

/** One call across all rounds of the host's request. */
export class ParkedCall {
  readonly cancellation: Cancellation;
  /** Lazy: most calls have no questions. */
  #open: Map<string, OpenQuestion> | undefined;
  #count = 0;
  #onAsked: () => void = () => {};
  /** Its result; set once the call is running. */
  outcome: Promise<Verbatim> | undefined;
  /** Capabilities the host lacks for a question the server wanted to ask. */
  missing: Readonly<Record<string, unknown>> | undefined;
  /** The host's current request for this call. */
  round: Round | undefined;

  constructor(cancellation: Cancellation) {
    this.cancellation = cancellation;
  }

  ask(question: Question): Promise<Verbatim> {
    const open = (this.#open ??= new Map());
    return new Promise((resolve, reject) => {
      const key = `question_${++this.#count}`;
      open.set(key, { question, resolve, reject });
      question.cancellation.listen(() => {
        open.delete(key);
        reject(
          question.cancellation.reason ??
            new RpcError(INTERNAL_ERROR, 'The question was cancelled.'),
        );
      });
      this.#onAsked();
    });
  }

  /** The result, or the questions the host has to answer first. */
  next(): Promise<{ result: Verbatim } | { questions: Verbatim }> {
    return new Promise((resolve, reject) => {
      const tell = (): void => {
        // The server may have withdrawn its questions meanwhile.
        if (this.#isAsking) resolve({ questions: this.#describeQuestions() });
      };
      // Questions asked together are sent together.
      this.#onAsked = () => void setImmediate(guard(reject, tell));
      if (this.#isAsking) this.#onAsked();
      this.outcome?.then(
        (result) => (this.#isAsking ? this.#onAsked() : resolve({ result })),
        (error: unknown) => (this.#isAsking ? this.#onAsked() : reject(error)),
      );
    });
  }

  /** Takes the host's answers. Questions it didn't answer stay open. */
  answer(responses: Verbatim | undefined): void {
    if (!this.#open || !responses || !isObject(responses.value)) return;
    for (const [key, { resolve }] of this.#open) {
      const response = responses.member(key);
      if (!response) continue;
      this.#open.delete(key);
      resolve(response);
    }
  }

  /** No more answers will come: cancels the call. */
  giveUp(reason: Error): void {
    for (const { reject } of this.#open?.values() ?? []) reject(reason);
    this.#open?.clear();
    this.cancellation.cancel(reason);
  }

  get #isAsking(): boolean {
    return this.#open !== undefined && this.#open.size > 0;
  }

  #describeQuestions(): Verbatim {
    const parts = [...(this.#open ?? [])].map(
      ([
        key,
        {
          question: { method, params },
        },
      ]) => {
        const text = `{"method":${JSON.stringify(method)},"params":${params?.text ?? '{}'}}`;
        return `${JSON.stringify(key)}:${text}`;
      },
    );
    return Verbatim.fromText(`{${parts.join(',')}}`);
  }
}

export class Parking {
  readonly #calls = new Map<string, { call: ParkedCall; timer: NodeJS.Timeout }>();

  /** Keeps a call until the host returns with the handle, which works once. */
  park(call: ParkedCall, limitMs: number): string {
    if (this.#calls.size >= MOST_CALLS) {
      const error = new RpcError(
        INTERNAL_ERROR,
        `${MOST_CALLS} calls are already waiting for answers.`,
      );
      call.giveUp(error);
      throw error;
    }
    const handle = process.getBuiltinModule('node:crypto').randomBytes(18).toString('base64url');
    const timer = setTimeout(() => {
      this.#calls.delete(handle);
      call.giveUp(new Unanswered());
    }, limitMs).unref();
    this.#calls.set(handle, { call, timer });
    return handle;
  }

  resume(handle: string): ParkedCall {
    const parked = this.#calls.get(handle);
    if (!parked) throw invalidState();
    clearTimeout(parked.timer);
    this.#calls.delete(handle);
    return parked.call;
  }

  close(): void {
    for (const { call, timer } of this.#calls.values()) {
      clearTimeout(timer);
      call.giveUp(new RpcError(INTERNAL_ERROR, 'Switchboard is shutting down.'));
    }
    this.#calls.clear();
  }
}
