// One server spoken to in plain language: a query goes to a model that may use the server's tools, and
// comes back as an answer with the list of what was done for it.
import type { Cancellation } from '../base/cancellation.ts';
import type { Log } from '../base/log.ts';
import type { Caller } from '../mcp/caller.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { type ChoiceParts, openProvider } from './choose.ts';
import { type Conversation, Conversations } from './conversation.ts';
import { cut } from './cut.ts';
import { Deadline } from './deadline.ts';
import { explainModelFailure, tooLate } from './failures.ts';
import { runLoop, type Said, type Task } from './loop.ts';
import {
  type Delegate,
  type Message,
  ModelFailure,
  type Provider,
  ServerUnreachable,
} from './provider.ts';
import { formatResult } from './result-text.ts';
import { askForCall, carryOutTold, mustCarryOut } from './single.ts';
import { formatQuery, loopPrompt, singlePrompt } from './system-prompt.ts';
import { readToldCall } from './told-call.ts';
import type { OpenToolbox, Toolbox } from './toolbox.ts';
import { Work, withDeeds } from './work.ts';

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

/** An answer with what is to be remembered of the way to it. */
interface Answer {
  readonly result: Verbatim;
  readonly turn: Said['turn'];
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
    const work = new Work({ deadline, onProgress: query.onProgress });
    const party = query.caller?.party;
    const before = this.#conversations.of(party);
    try {
      // Before anything is started: without a model there is nothing to be done.
      const provider = await this.#open();
      const { result, turn, session } =
        'run' in provider
          ? await this.#delegate(provider, query, before, work)
          : await this.#work(provider, query, before, work);
      this.#conversations.add(party, turn, session);
      return result;
    } catch (error) {
      // A conversation that the provider may no longer know is not gone on with.
      const isCalledOff = deadline.cancellation.reason !== undefined;
      if (before.session !== undefined && !isCalledOff) this.#conversations.forget(party);
      throw withDeeds(error, work.deeds);
    } finally {
      const ms = Math.round(performance.now() - begin);
      log.debug(`assistant: rounds ${work.rounds}, calls ${work.deeds.length}, ${ms} ms.`);
    }
  }

  /** Removes what a provider has put on the disk. */
  [Symbol.dispose](): void {
    if (this.#opened && Symbol.dispose in this.#opened) {
      (this.#opened as Disposable)[Symbol.dispose]();
    }
  }

  /** Once for all queries, also for several at once; one that cannot be opened is tried again. */
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
    { turns }: Conversation,
    work: Work,
  ): Promise<Answer> {
    const toolbox = await this.#openToolbox(query, work);
    const { settings } = this.#parts;
    const isSingle = settings.mode === 'single';
    const task: Task = {
      provider,
      toolbox,
      settings,
      system: this.#prompt(toolbox),
      history: turns,
      query: formatQuery(query.text, query.context),
      work,
    };
    const { text, turn } = isSingle ? await askForCall(task) : await runLoop(task);
    const told = await this.#carryOut(text, toolbox, work);
    if (!told) return { result: formatAnswer(text, provider, work), turn };
    return { result: told, turn: [...turn, resultNote(told, settings.maxResultChars)] };
  }

  /** For a provider that uses the tools by itself, the server is only needed for a call that it tells. */
  async #delegate(
    provider: Delegate,
    query: Query,
    { session }: Conversation,
    work: Work,
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
    const told = opened && (await this.#carryOut(answer.text, opened, work));
    const result = told ?? formatAnswer(answer.text, provider, work);
    return { result, turn: [], session: answer.session };
  }

  /** Why a provider that uses tools by itself has not answered. */
  async #explain(error: unknown, provider: Delegate, query: Query, work: Work): Promise<unknown> {
    if (error instanceof ModelFailure) return explainModelFailure(error, provider);
    if (!(error instanceof ServerUnreachable)) return error;
    // What hinders the server shows where we start it ourselves.
    await this.#openToolbox(query, work);
    return explainModelFailure(new ModelFailure('it does not reach the server'), provider);
  }

  /** The result of the call that the model's words tell, which is the answer then. */
  async #carryOut(text: string, toolbox: Toolbox, work: Work): Promise<Verbatim | undefined> {
    return this.#parts.settings.mode === 'single'
      ? mustCarryOut(text, toolbox, work)
      : carryOutTold(text, toolbox, work);
  }

  #openToolbox({ caller }: Query, { deadline }: Work): Promise<Toolbox> {
    const { cancellation } = deadline;
    return this.#parts.openToolbox({
      cancellation,
      caller: caller && offTheClock(caller, deadline),
    });
  }

  /** Only for an answer that looks like a call. */
  async #openToolboxFor(text: string, query: Query, work: Work): Promise<Toolbox | undefined> {
    return readToldCall(text) ? this.#openToolbox(query, work) : undefined;
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
 * The one who asks, as the server may ask him back. In the words of the handshake era: there a question
 * is answered and the call goes on, and the model's work with it.
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

/** What came of a call that the model has only told: a follow-up is about that. */
function resultNote({ value }: Verbatim, maxChars: number): Message {
  return { role: 'user', text: `What came of this call:\n${formatResult(value, maxChars).text}` };
}

/** No host's model can read more. */
const LONGEST_ANSWER = 1_000_000;

function formatAnswer(said: string, { name, model }: Provider | Delegate, work: Work): Verbatim {
  const { deeds: calls, rounds, usage } = work;
  const text = cut(said, LONGEST_ANSWER).toWellFormed();
  return Verbatim.of({
    content: [{ type: 'text', text }],
    // Not structuredContent: Claude Code and Codex would show their model that instead of the text.
    _meta: { 'switchboard/assistant': { calls, rounds, usage, provider: name, model } },
  });
}
