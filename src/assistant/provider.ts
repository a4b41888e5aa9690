// The seam between an assistant and its model. A provider answers one request at a time and knows nothing about
// servers. `test/contract/provider.test.ts` defines the contract for each.
import type { Cancellation } from '../base/cancellation.ts';
import type { AssistantProvider } from '../config/config.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

export interface Provider {
  readonly name: AssistantProvider;
  /** Undefined if the provider chooses. */
  readonly model: string | undefined;
  /** The variable that holds its API key, for error messages. */
  readonly keyVariable?: string | undefined;
  /**
   * Sends one request, and a second time only if its format was refused. Rejects with a ModelFailure, or with the
   * reason of `cancellation` once cancelled, which aborts the request.
   */
  complete(request: CompletionRequest): Promise<Completion>;
}

/** A provider that uses the server's tools and keeps its own conversations. */
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
  /** `limit`: the answer was too long and was cut off. */
  readonly stop: 'done' | 'tools' | 'limit' | 'refused';
  readonly usage: Usage;
  /** The answer in the provider's own format, to be sent back to it. */
  readonly raw: unknown;
}

export interface DelegatedTask {
  readonly system: string;
  readonly query: string;
  /** Whether it may use the server's tools. */
  readonly tools: 'all' | 'none';
  /** The id of the conversation to continue. */
  readonly session: string | undefined;
  readonly cancellation: Cancellation;
  /** A tool call starts; call the returned function once with its outcome. */
  readonly onUse: (subtool: string) => (isOk: boolean) => void;
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
  /** A remembered answer, without the tool calls behind it. */
  | { readonly role: 'said'; readonly text: string }
  | { readonly role: 'tools'; readonly outcomes: readonly ToolOutcome[] };

export interface ModelTool {
  /** In a form the provider accepts. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  /** Undefined if the model did not write a JSON object. */
  readonly args: Verbatim | undefined;
}

export interface ToolOutcome {
  /** The id of its tool use. */
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** Reads a token count, or 0. */
export function readCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : 0;
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

/** A request that got no answer. Code checks the fields, never the message. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  /** The HTTP status, if there was one. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** There was an answer, but it couldn't be parsed. */
  readonly isUnreadable: boolean;

  constructor(message: string, facts: FailureFacts = {}) {
    super(message);
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.isUnreadable = facts.isUnreadable === true;
  }
}

/** A delegate couldn't reach the server. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
}

interface FailureFacts {
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly isUnreadable?: true;
}

/** `retry-after` in seconds or as a date, or the more precise header some providers send. */
export function readRetryAfter(headers: Headers | undefined): number | undefined {
  const ms = Number(headers?.get('retry-after-ms') || Number.NaN);
  if (ms >= 0 && Number.isFinite(ms)) return ms;
  const text = headers?.get('retry-after');
  if (!text) return undefined;
  const seconds = Number(text);
  const wait = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1_000;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
