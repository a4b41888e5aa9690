// Makes a server usable in plain language: a model answers each query with the help of the server's tools. The result
// also lists the calls it made.
import type { Cancellation } from '../base/cancellation.ts';
import type { Log } from '../base/log.ts';
import type { Caller } from '../mcp/caller.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { type ChoiceParts, openProvider } from './choose.ts';
import { Conversations, type Dialogue } from './conversation.ts';
import { cut } from './cut.ts';
import { Deadline } from './deadline.ts';
import { explainModelFailure, tooLate } from './failures.ts';
import { type LoopResult, type ModelTask, runLoop } from './loop.ts';
import {
  type Delegate,
  type Message,
  ModelFailure,
  type Provider,
  ServerUnreachable,
} from './provider.ts';
import { formatResult } from './result-text.ts';
import { askForCall, carryOut, mustCarryOut, readCall } from './single.ts';
import { formatQuery, loopPrompt, singlePrompt } from './system-prompt.ts';
import type { OpenToolbox, Toolbox } from './toolbox.ts';
import { QueryWork, withCalls } from './work.ts';

export interface AssistantParts extends ChoiceParts {
  readonly openToolbox: OpenToolbox;
  readonly log: Log;
}

export interface Query {
  readonly text: string;
  readonly context: string | undefined;
  readonly caller: Caller | undefined;
  readonly cancellation: Cancellation;
  readonly onProgress: ((params: Verbatim) => void) | undefined;
}

/** An answer, and what to remember about the exchange. */
interface Answer {
  readonly result: Verbatim;
  readonly turn: LoopResult['turn'];
  readonly session?: string | undefined;
}

export class Assistant implements Disposable {
  readonly #parts: AssistantParts;
  readonly #conversations: Conversations;
  #provider: Promise<Provider | Delegate> | undefined;
  #opened: Provider | Delegate | undefined;

  constructor(parts: AssistantParts) {
    this.#parts = parts;
    this.#conversations = new Conversations(parts.settings.conversationMs);
  }

  async answer(query: Query): Promise<Verbatim> {
    const { settings, log } = this.#parts;
    const { timeoutMs } = settings;
    const begin = performance.now();
    using deadline = new Deadline(timeoutMs, query.cancellation, () => tooLate(timeoutMs));
    const work = new QueryWork({ deadline, onProgress: query.onProgress });
    const party = query.caller?.party;
    const before = this.#conversations.of(party);
    try {
      // First, because nothing works without a model.
      const provider = await this.#open();
      const { result, turn, session } =
        'run' in provider
          ? await this.#delegate(provider, query, before, work)
          : await this.#work(provider, query, before, work);
      this.#conversations.add(party, turn, session);
      return result;
    } catch (error) {
      // The provider may have lost this conversation, so the next query starts a new one.
      const isCancelled = deadline.cancellation.reason !== undefined;
      if (before.session !== undefined && !isCancelled) this.#conversations.forget(party);
      throw withCalls(error, work.calls);
    } finally {
      const ms = Math.round(performance.now() - begin);
      log.debug(`assistant: rounds ${work.rounds}, calls ${work.calls.length}, ${ms} ms.`);
    }
  }

  /** Removes a provider's files. */
  [Symbol.dispose](): void {
    if (this.#opened && Symbol.dispose in this.#opened) {
      (this.#opened as Disposable)[Symbol.dispose]();
    }
  }

  /** Opened once for all queries, even concurrent ones; a failed attempt is repeated. */
  async #open(): Promise<Provider | Delegate> {
    this.#provider ??= openProvider(this.#parts);
    try {
      this.#opened = await this.#provider;
      return this.#opened;
    } catch (error) {
      this.#provider = undefined;
      throw error;
    }
  }

  async #work(
    provider: Provider,
    query: Query,
    { turns }: Dialogue,
    work: QueryWork,
  ): Promise<Answer> {
    const toolbox = await this.#openToolbox(query, work);
    const { settings } = this.#parts;
    const isSingle = settings.mode === 'single';
    const task: ModelTask = {
      provider,
      toolbox,
      settings,
      system: this.#prompt(toolbox),
      history: turns,
      query: formatQuery(query.text, query.context),
      work,
    };
    const { text, turn } = isSingle ? await askForCall(task) : await runLoop(task);
    const called = await this.#carryOut(text, toolbox, work);
    if (!called) return { result: formatAnswer(text, provider, work), turn };
    return { result: called, turn: [...turn, resultNote(called, settings.maxResultChars)] };
  }

  /** A delegate uses the tools by itself, so we need the server only for calls it writes out. */
  async #delegate(
    provider: Delegate,
    query: Query,
    { session }: Dialogue,
    work: QueryWork,
  ): Promise<Answer> {
    const isSingle = this.#parts.settings.mode === 'single';
    const toolbox = isSingle ? await this.#openToolbox(query, work) : undefined;
    work.beginRound();
    const answer = await provider
      .run({
        system: this.#prompt(toolbox),
        query: formatQuery(query.text, query.context),
        tools: isSingle ? 'none' : 'all',
        session,
        cancellation: work.deadline.cancellation,
        onUse: (subtool) => work.beginUse(subtool),
        onRound: () => work.beginRound(),
      })
      .catch(async (error: unknown) => {
        throw await this.#explain(error, provider, query, work);
      });
    work.noteUsage(answer.usage);
    if (answer.rounds !== undefined) work.noteRounds(answer.rounds);
    const opened = toolbox ?? (await this.#openToolboxFor(answer.text, query, work));
    const called = opened && (await this.#carryOut(answer.text, opened, work));
    const result = called ?? formatAnswer(answer.text, provider, work);
    return { result, turn: [], session: answer.session };
  }

  /** Why a delegate failed. */
  async #explain(
    error: unknown,
    provider: Delegate,
    query: Query,
    work: QueryWork,
  ): Promise<unknown> {
    if (error instanceof ModelFailure) return explainModelFailure(error, provider);
    if (!(error instanceof ServerUnreachable)) return error;
    // Starting the server ourselves shows what's wrong with it.
    await this.#openToolbox(query, work);
    return explainModelFailure(new ModelFailure('it could not reach the server'), provider);
  }

  /** If the model's answer is a call, its result is the answer. */
  async #carryOut(text: string, toolbox: Toolbox, work: QueryWork): Promise<Verbatim | undefined> {
    return this.#parts.settings.mode === 'single'
      ? mustCarryOut(text, toolbox, work)
      : carryOut(text, toolbox, work);
  }

  #openToolbox({ caller }: Query, { deadline }: QueryWork): Promise<Toolbox> {
    const { cancellation } = deadline;
    return this.#parts.openToolbox({
      cancellation,
      caller: caller && offTheClock(caller, deadline),
    });
  }

  /** Only if the answer looks like a call. */
  async #openToolboxFor(text: string, query: Query, work: QueryWork): Promise<Toolbox | undefined> {
    return readCall(text) ? this.#openToolbox(query, work) : undefined;
  }

  #prompt(toolbox: Toolbox | undefined): string {
    const { childName, settings } = this.#parts;
    const parts = { childName, role: settings.role, instructions: toolbox?.instructions };
    return settings.mode === 'single'
      ? singlePrompt(parts, toolbox?.tools ?? [])
      : loopPrompt(parts);
  }
}

/**
 * Stops the clock while the server asks the caller something. Uses the handshake era, in which the call
 * continues after a question, and the model's work with it.
 */
function offTheClock(caller: Caller, deadline: Deadline): Caller {
  const { party, capabilities, info, logLevel } = caller;
  return {
    era: 'handshake',
    party,
    capabilities,
    info,
    logLevel,
    ask: (question) => deadline.outside(caller.ask(question)),
    noteMissing: (missing) => caller.noteMissing(missing),
    log: (params) => caller.log(params),
    pageVisited: (params) => caller.pageVisited(params),
  };
}

/** The result of a call the model wrote out, for follow-up queries. */
function resultNote({ value }: Verbatim, maxChars: number): Message {
  return { role: 'user', text: `Result of this call:\n${formatResult(value, maxChars).text}` };
}

/** More than any host's model can read. */
const LONGEST_ANSWER = 1_000_000;

function formatAnswer(
  said: string,
  { name, model }: Provider | Delegate,
  work: QueryWork,
): Verbatim {
  const { calls, rounds, usage } = work;
  const text = cut(said, LONGEST_ANSWER).toWellFormed();
  return Verbatim.of({
    content: [{ type: 'text', text }],
    // Not structuredContent: Claude Code and Codex would show that to their model instead of the text.
    _meta: { 'switchboard/assistant': { calls, rounds, usage, provider: name, model } },
  });
}
