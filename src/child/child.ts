// One running server after the greeting. Lists the server's items and forwards requests to it.
import type { Cancellation } from '../base/cancellation.ts';
import type { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import type { Mask } from '../base/secrets.ts';
import { Underway } from '../base/underway.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Caller } from '../mcp/caller.ts';
import { cleanList, cleanTools, type RefusedTool } from '../mcp/clean-lists.ts';
import type { LogLevel } from '../mcp/logging.ts';
import { signQuestionsIn } from '../mcp/questions.ts';
import { isInputRequired } from '../mcp/results.ts';
import type { Tool } from '../mcp/tools.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { ChildRequest, Conversation } from './conversation/conversation.ts';
import { explainEnd, explainRequest } from './failures.ts';
import type { Greeting } from './handshake.ts';
import type { Link, LinkEnd, StopReason } from './link.ts';
import { type ListKind, listPages } from './list-pages.ts';
import { NOTHING_HELD, type Screen, type ScreenVerdict } from './screen.ts';

/** Options for a request made on behalf of a caller. */
export interface CallOptions
  extends Pick<ChildRequest, 'meta' | 'cancellation' | 'onProgress' | 'caller' | 'inputs'> {
  /** The host's `task` parameter, if the call should run as a task. */
  readonly task?: Verbatim | undefined;
  /** Values in the request that must not be written anywhere. */
  readonly secrets?: readonly string[] | undefined;
}

export interface ChildListOptions {
  readonly cancellation?: Cancellation | undefined;
  readonly limitMs?: number | undefined;
  /** Whether a caller asked for it. Our own requests don't keep a server from being idle. */
  readonly isUse?: boolean;
}

/** For a list that is only needed to explain a failure: the time limit, and how long the list stays fresh. */
const QUICK_LIST_MS = 2_000;
const FRESH_LIST_MS = 10_000;

export interface ChildParts {
  readonly config: ChildConfig;
  readonly link: Link;
  readonly greeting: Greeting;
  readonly conversation: Pick<Conversation, 'request' | 'watch' | 'setLogLevel' | 'notify'>;
  /** Checks its lists; undefined if every item may be shown. */
  readonly screen?: Screen | undefined;
}

export class Child {
  readonly greeting: Greeting;
  readonly ended: Promise<LinkEnd>;
  #config: ChildConfig;
  readonly #link: Link;
  readonly #conversation: ChildParts['conversation'];
  readonly #mask: Mask;
  readonly #screen: Screen | undefined;
  #hasAnswered = false;
  #calls = 0;
  #inFlight = 0;
  #lastActive = performance.now();
  #settled: (() => void)[] = [];
  #toolNames = new Set<string>();
  #listedAt = -Infinity;
  #refused: readonly RefusedTool[] = [];
  #verdict = NOTHING_HELD;
  #heldPrompts: readonly string[] = [];
  /** The callers that wait for an answer, once for each request. */
  readonly #underway = new Underway<Caller>();
  /** Called when a call starts or ends. Set only while a host is behind, so that other calls don't pay for it. */
  onCallsChanged: (() => void) | undefined;

  constructor({ config, link, greeting, conversation, screen }: ChildParts) {
    this.#config = config;
    this.#link = link;
    this.#conversation = conversation;
    this.#mask = link.mask;
    this.#screen = screen;
    this.greeting = greeting;
    this.ended = link.ended;
  }

  /** Whether it has answered anything. If not, an immediate restart isn't worth it. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  get pid(): number | undefined {
    return this.#link.pid;
  }

  /** How many tool calls it has received. */
  get calls(): number {
    return this.#calls;
  }

  /** Milliseconds since it was last used; 0 while it's in use. */
  get idleMs(): number {
    return this.#inFlight > 0 ? 0 : performance.now() - this.#lastActive;
  }

  /** Applies settings that don't need a new process, such as the file that errors name. */
  reconfigure(config: ChildConfig): void {
    this.#config = config;
  }

  /** The party of each call in flight. */
  get parties(): readonly object[] {
    return this.#underway.all().map(({ party }) => party);
  }

  /** Resolves when no request is in flight. */
  settled(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }

  /** All its tools, except those that must not be shown. */
  async listTools(options: ChildListOptions = {}): Promise<Tool[]> {
    const raw = await this.#list('tools', options);
    const { held } = await this.#check('tools', raw);
    const { tools, refused } = cleanTools(raw);
    const names = new Set(held.map(({ name }) => name));
    const shown = names.size === 0 ? tools : tools.filter(({ name }) => !names.has(name));
    const hiding = new Set(refused.map(({ name }) => name));
    this.#refused = [
      ...refused,
      ...held
        .filter(({ name }) => !hiding.has(name)) // accepting it wouldn't help
        .map(({ name, because }) => ({ name, where: because })),
    ];
    this.#toolNames = new Set(shown.map(({ name }) => name));
    this.#listedAt = performance.now();
    return shown;
  }

  /** All its prompts, resources or templates, except those that must not be shown. */
  async list(
    kind: Exclude<ListKind, 'tools'>,
    options: ChildListOptions = {},
  ): Promise<readonly unknown[]> {
    const raw = await this.#list(kind, options);
    const clean = cleanList(kind, raw);
    if (kind !== 'prompts') return clean;
    const { held } = await this.#check(kind, raw);
    this.#heldPrompts = held.map(({ name }) => name);
    return clean.filter((item) => !isNamed(item, this.#heldPrompts));
  }

  /** A list as the server sent it, hidden characters included, for the scanner. */
  listRaw(kind: ListKind, options: ChildListOptions = {}): Promise<readonly unknown[]> {
    return this.#list(kind, options);
  }

  /** Whether this process has listed its tools. */
  get hasListed(): boolean {
    return this.#listedAt > -Infinity;
  }

  /** The outcome of the last check of its lists. */
  get verdict(): ScreenVerdict {
    return this.#verdict;
  }

  /** Prompts from its last list that must not be shown or used. */
  get heldPrompts(): readonly string[] {
    return this.#heldPrompts;
  }

  /** Its instructions, unless they are held. Call it after `listTools`. */
  get instructions(): string | undefined {
    return this.#verdict.holdsInstructions ? undefined : this.greeting.instructions;
  }

  async #check(kind: 'tools' | 'prompts', raw: readonly unknown[]): Promise<ScreenVerdict> {
    if (!this.#screen) return NOTHING_HELD;
    const { instructions } = this.greeting;
    const verdict = await this.#screen({ kind, raw, instructions, mask: this.#mask });
    // Prompts have no rights and come without instructions.
    this.#verdict = kind === 'tools' ? verdict : { ...this.#verdict, counts: verdict.counts };
    return verdict;
  }

  /** Tools from its last list that must not be shown or called. */
  get refusedTools(): readonly RefusedTool[] {
    return this.#refused;
  }

  set refusedTools(refused: readonly RefusedTool[]) {
    this.#refused = refused;
  }

  /** All pages of a list. Together they must arrive within the limit and be no larger than one message. */
  async #list(kind: ListKind, options: ChildListOptions): Promise<unknown[]> {
    const { cancellation, limitMs = this.#config.timeouts.rpcMs, isUse = true } = options;
    // All pages count as one request.
    this.#inFlight++;
    try {
      return await listPages(kind, {
        limitMs,
        maxChars: this.#config.messageBytes,
        request: (method, params, timeoutMs) =>
          this.#request(
            { method, params, cancellation, timeoutMs, owner: this.#link },
            `its list of ${kind}`,
            isUse,
          ),
      });
    } finally {
      this.#settleOne(isUse);
    }
  }

  /** Whether the server has the tool. Lists its tools again if the last list is old. */
  async hasTool(subtool: string, cancellation?: Cancellation): Promise<boolean> {
    const isOld = performance.now() - this.#listedAt > FRESH_LIST_MS;
    if (!this.#toolNames.has(subtool) && isOld)
      await this.listTools({ cancellation, limitMs: QUICK_LIST_MS });
    return this.#toolNames.has(subtool);
  }

  /** The tool names in its last list. */
  get toolNames(): readonly string[] {
    return [...this.#toolNames];
  }

  /** Calls a tool; returns the server's result unchanged. */
  callTool(subtool: string, args: Verbatim, options: CallOptions): Promise<Verbatim> {
    const task = options.task ? `,"task":${options.task.text}` : '';
    const text = `{"name":${JSON.stringify(subtool)},"arguments":${args.text}${task}}`;
    this.#calls++;
    return this.ask(
      'tools/call',
      new Verbatim(text, { name: subtool, arguments: args.value }),
      options,
      `subtool "${subtool}"`,
    );
  }

  /** Makes a request for a caller; `task` names it in errors. */
  ask(method: string, params: Verbatim, options: CallOptions, task: string): Promise<Verbatim> {
    const { meta, cancellation, onProgress, caller, inputs, secrets } = options;
    if (secrets) this.#link.hide(secrets);
    const { rpcMs: timeoutMs } = this.#config.timeouts;
    const owner = this.#link;
    return this.#request(
      { method, params, timeoutMs, meta, cancellation, onProgress, caller, inputs, owner },
      task,
      true,
    );
  }

  /** Whether its tools can be called as tasks. */
  get hasTasks(): boolean {
    const { tasks } = this.greeting.capabilities;
    const requests = isObject(tasks) ? tasks['requests'] : undefined;
    return isObject(requests) && isObject(requests['tools']);
  }

  /** Subscribes to changes of these resources, and of the lists if the era requires it. */
  async watch(uris: ReadonlySet<string>): Promise<void> {
    try {
      await this.#conversation.watch(uris);
    } catch (error) {
      throw this.#explain(error, 'a subscription');
    }
  }

  setLogLevel(level: LogLevel | undefined): void {
    this.#conversation.setLogLevel(level);
  }

  /** Sends the server a notification. */
  notify(method: string, params?: Verbatim): void {
    this.#conversation.notify(method, params);
  }

  /** The start of an answer, to quote in an error. */
  excerptOf(answer: Verbatim): string {
    return this.#mask(answer.text.slice(0, 5_000)).slice(0, 200);
  }

  /** Why it ended, if no request was in flight. */
  explainEnd(end: LinkEnd): SwitchboardError {
    return explainEnd(end, this.#config, this.#link.lastOutput, 'running');
  }

  /** The server's text without secrets, to print. */
  masked(text: string): string {
    return this.#mask(text);
  }

  /** The values that are masked in its text. */
  get secrets(): readonly string[] {
    return this.#link.secrets;
  }

  /** Whether a text contains a secret. */
  holdsSecret(text: string): boolean {
    return this.#mask(text) !== text;
  }

  pause(): void {
    this.#link.pause();
  }

  resume(): void {
    this.#link.resume();
  }

  stop(why?: StopReason): Promise<void> {
    return this.#link.stop(why);
  }

  /** Whether another session holds up the server's output. */
  get isHeld(): boolean {
    return this.#link.isHeld ?? false;
  }

  /** How many sessions use its process. */
  get sessions(): number {
    return this.#link.sessions ?? 1;
  }

  /** Variables whose values keep other sessions from sharing its process. */
  get apart(): readonly string[] {
    return this.#link.apart ?? [];
  }

  #request(request: ChildRequest, task: string, isUse: boolean): Promise<Verbatim> {
    this.#inFlight++;
    const place = request.caller && this.#underway.add(request.caller);
    this.onCallsChanged?.();
    return this.#conversation.request(request).then(
      (answer) => {
        this.#hasAnswered = true;
        if (place) this.#underway.remove(place);
        this.#settleOne(isUse);
        return isInputRequired(answer.value) ? signQuestionsIn(answer, this.#config.name) : answer;
      },
      (error: unknown) => {
        if (place) this.#underway.remove(place);
        this.#settleOne(isUse);
        throw this.#explain(error, task);
      },
    );
  }

  /** Our own requests don't keep it from being idle. */
  #settleOne(isUse: boolean): void {
    if (isUse) this.#lastActive = performance.now();
    this.onCallsChanged?.();
    if (--this.#inFlight > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }

  #explain(error: unknown, task: string): unknown {
    return explainRequest(error, task, this.#config, this.#link);
  }
}

function isNamed(item: unknown, names: readonly string[]): boolean {
  const name = isObject(item) ? item['name'] : undefined;
  return typeof name === 'string' && names.includes(name);
}
