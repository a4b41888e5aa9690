// The seam between an assistant and whoever runs its model. A provider is asked for one answer at a
// time and knows nothing of servers; what it is asked and what it answers has one form for all.
import type { Cancellation } from '../base/cancellation.ts';
import type { AssistantProvider } from '../config/config.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

export interface Provider {
  readonly name: AssistantProvider;
  /** What is asked; undefined where that is the provider's own choice. */
  readonly model: string | undefined;
  /** Where its key is looked for, to be named to those who have to set it right. */
  readonly keyVariable?: string | undefined;
  /**
   * One request, sent once, and once more only where its form was refused. Rejects with a ModelFailure where no answer came of it, and with the
   * reason of `cancellation` when it is called off; the request is aborted then.
   */
  complete(request: CompletionRequest): Promise<Completion>;
}

/** A provider that uses the server's tools by itself, and keeps its conversations itself. */
export interface Delegate {
  readonly name: AssistantProvider;
  readonly model: string | undefined;
  readonly keyVariable?: undefined;
  run(task: DelegatedTask): Promise<DelegatedAnswer>;
}

export interface CompletionRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  readonly cancellation: Cancellation;
}

export interface Completion {
  readonly text: string;
  readonly toolCalls: readonly ToolUse[];
  /** `limit`: the answer was cut off where it had become too long. */
  readonly stop: 'done' | 'tools' | 'limit' | 'refused';
  readonly usage: Usage;
  /** What was understood of the answer, in the provider's own words, to be sent back to it. */
  readonly raw: unknown;
}

export interface DelegatedTask {
  readonly system: string;
  readonly query: string;
  /** Whether it may use the server's tools. */
  readonly tools: 'all' | 'none';
  /** The conversation to go on with, by the name it was given. */
  readonly session: string | undefined;
  readonly cancellation: Cancellation;
  /** A tool is used; the returned function is told once whether it worked. */
  readonly onUse: (subtool: string) => (isOk: boolean) => void;
  /** The model is asked again. */
  readonly onRound: () => void;
}

export interface DelegatedAnswer {
  readonly text: string;
  readonly usage: Usage;
  readonly rounds: number | undefined;
  readonly session: string | undefined;
}

export type Message =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly answer: Completion }
  /** The model's words without the way to them, as they are remembered. */
  | { readonly role: 'said'; readonly text: string }
  | { readonly role: 'tools'; readonly outcomes: readonly ToolOutcome[] };

export interface ModelTool {
  /** A name that the provider accepts. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A tool that the model wants to be used. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  /** Undefined if the model did not write a JSON object. */
  readonly args: Verbatim | undefined;
}

export interface ToolOutcome {
  /** Of the use that it came of. */
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** A number of tokens, where somebody else's answer has one. */
export function readCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : 0;
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

/** No answer came of a request. Which it was is said by facts, so that nobody has to read a message. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  /** The HTTP status of the refusal; undefined where there was none. */
  readonly status: number | undefined;
  /** How long the provider wants to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** There was an answer, which is none that can be read. */
  readonly isUnreadable: boolean;

  constructor(message: string, facts: FailureFacts = {}) {
    super(message);
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.isUnreadable = facts.isUnreadable === true;
  }
}

/** A provider that uses tools by itself could not reach the server that has them. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
}

interface FailureFacts {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly isUnreadable?: true;
}

/** `retry-after` in seconds or as a date, and the finer word that some providers send beside it. */
export function readRetryAfter(headers: Headers | undefined): number | undefined {
  const ms = Number(headers?.get('retry-after-ms') || Number.NaN);
  if (ms >= 0 && Number.isFinite(ms)) return ms;
  const text = headers?.get('retry-after');
  if (!text) return undefined;
  const seconds = Number(text);
  const wait = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1_000;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
