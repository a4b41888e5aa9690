// One running child that has shaken hands: its tools listed, its tools called. Failures leave here
// as sentences that name the child and what it was doing.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { type Mask, maskValue } from '../base/secrets.ts';
import type { ChildConfig } from '../config/config.ts';
import { parseTools, type Tool } from '../mcp/tools.ts';
import { isObject, RpcError } from '../rpc/message.ts';
import { type Params, type RequestOptions, RpcTimeout } from '../rpc/peer.ts';
import { nestingDepth, Verbatim } from '../rpc/verbatim.ts';
import { explainEnd } from './failures.ts';
import type { Greeting } from './handshake.ts';
import { type Link, type LinkEnd, LinkEnded } from './link.ts';

export interface CallOptions {
  /** `_meta` of the host's request, handed on to the child. */
  readonly meta?: Verbatim | undefined;
  readonly cancellation?: Cancellation | undefined;
  /** Set where the host wants progress: called with each notification's parameters. */
  readonly onProgress?: ((params: Verbatim) => void) | undefined;
}

/** A child whose list of tools does not come to an end is cut off here. */
const MAX_PAGES = 1_000;
const MAX_TOOLS = 20_000;
/** A list that is asked for only to explain a failure: how long it may take, and how long it serves. */
const QUICK_LIST_MS = 2_000;
const FRESH_LIST_MS = 10_000;

export interface ChildParts {
  readonly config: ChildConfig;
  readonly link: Link;
  readonly greeting: Greeting;
}

export class Child {
  readonly greeting: Greeting;
  readonly ended: Promise<LinkEnd>;
  readonly #config: ChildConfig;
  readonly #link: Link;
  readonly #mask: Mask;
  #hasAnswered = false;
  #calls = 0;
  #inFlight = 0;
  #lastActive = performance.now();
  #settled: (() => void)[] = [];
  #toolNames = new Set<string>();
  #listedAt = -Infinity;

  constructor({ config, link, greeting }: ChildParts) {
    this.#config = config;
    this.#link = link;
    this.#mask = link.mask;
    this.greeting = greeting;
    this.ended = link.ended;
  }

  /** Whether it has answered anything since its start: if not, it is not worth a quick restart. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  get pid(): number | undefined {
    return this.#link.pid;
  }

  /** How many tools were called in its life. */
  get calls(): number {
    return this.#calls;
  }

  /** Milliseconds for which nobody has wanted anything of it; 0 while somebody does. */
  get idleMs(): number {
    return this.#inFlight > 0 ? 0 : performance.now() - this.#lastActive;
  }

  /** Resolves as soon as nobody waits for an answer of it. */
  settled(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }

  /**
   * All tools, from every page of the list, which together must come within the limit and must not
   * be larger than one message may be.
   */
  async listTools(
    cancellation?: Cancellation,
    limitMs = this.#config.timeouts.rpcMs,
  ): Promise<Tool[]> {
    const end = performance.now() + limitMs;
    const tools: Tool[] = [];
    const seen = new Set<string>();
    let chars = 0;
    let cursor: string | undefined;
    do {
      const params = Verbatim.of(cursor === undefined ? {} : { cursor });
      const timeoutMs = Math.max(1, end - performance.now());
      const options = { cancellation, timeoutMs };
      const page = await this.#request('tools/list', params, options, 'its list of tools');
      for (const tool of parseTools(page.value)) if (tools.length < MAX_TOOLS) tools.push(tool);
      const next = isObject(page.value) ? page.value['nextCursor'] : undefined;
      // A cursor that comes again would lead in a circle.
      cursor = typeof next === 'string' && !seen.has(next) ? next : undefined;
      if (cursor !== undefined) seen.add(cursor);
      chars += page.text.length;
    } while (cursor !== undefined && seen.size < MAX_PAGES && chars < this.#config.messageBytes);
    this.#toolNames = new Set(tools.map(({ name }) => name));
    this.#listedAt = performance.now();
    return tools;
  }

  /** Whether the child has the tool: by its last list, or by a new one if that is some time ago. */
  async hasTool(subtool: string, cancellation?: Cancellation): Promise<boolean> {
    const isOld = performance.now() - this.#listedAt > FRESH_LIST_MS;
    if (!this.#toolNames.has(subtool) && isOld) await this.listTools(cancellation, QUICK_LIST_MS);
    return this.#toolNames.has(subtool);
  }

  /** The names in its last list. */
  get toolNames(): readonly string[] {
    return [...this.#toolNames];
  }

  /** Calls a tool; gives the child's result as it came. */
  callTool(subtool: string, args: Verbatim, options: CallOptions): Promise<Verbatim> {
    const { meta, cancellation, onProgress } = options;
    const params = (id: number): Verbatim => {
      // The child tells of progress under a token of ours.
      const handedOn = onProgress ? meta?.with('progressToken', Verbatim.of(id)) : meta;
      const tail = handedOn ? `,"_meta":${handedOn.text}` : '';
      const text = `{"name":${JSON.stringify(subtool)},"arguments":${args.text}${tail}}`;
      return new Verbatim(text, undefined);
    };
    const timeoutMs = this.#config.timeouts.rpcMs;
    const requested = { cancellation, onProgress, timeoutMs };
    this.#calls++;
    return this.#request('tools/call', params, requested, `subtool "${subtool}"`);
  }

  /** The beginning of what the child answered, to be quoted in an error. */
  excerptOf(answer: Verbatim): string {
    return this.#mask(answer.text.slice(0, 5_000)).slice(0, 200);
  }

  /** Why it has ended, where nobody waited for an answer. */
  explainEnd(end: LinkEnd): SwitchboardError {
    return explainEnd(end, this.#config, this.#link.lastOutput, 'running');
  }

  pause(): void {
    this.#link.pause();
  }

  resume(): void {
    this.#link.resume();
  }

  stop(): Promise<void> {
    return this.#link.stop();
  }

  #request(
    method: string,
    params: Params,
    options: RequestOptions,
    task: string,
  ): Promise<Verbatim> {
    this.#inFlight++;
    return this.#link.peer.request(method, params, options).then(
      (answer) => {
        this.#hasAnswered = true;
        this.#settleOne();
        return answer;
      },
      (error: unknown) => {
        this.#settleOne();
        throw this.#explain(error, task);
      },
    );
  }

  #settleOne(): void {
    this.#lastActive = performance.now();
    if (--this.#inFlight > 0) return;
    for (const resolve of this.#settled.splice(0)) resolve();
  }

  #explain(error: unknown, task: string): unknown {
    const { name, origin, timeouts } = this.#config;
    if (error instanceof RpcError) {
      const data = error.data && this.#maskData(error.data);
      return new RpcError(
        error.code,
        `${this.#mask(error.message)} (server "${name}", ${task})`,
        data,
      );
    }
    if (error instanceof RpcTimeout) {
      return new SwitchboardError(
        'CHILD_TIMEOUT',
        `${error.message}: server "${name}" did not answer for ${task} within ${timeouts.rpcMs} ms.`,
        {
          hint: `If it needs longer, raise rpcTimeoutMs for it (declared in ${origin}).`,
          cause: error,
        },
      );
    }
    if (error instanceof LinkEnded) {
      return explainEnd(error.end, this.#config, this.#link.lastOutput, `working on ${task}`);
    }
    return error;
  }

  /** Error data without secrets. It is rewritten only if there is one in it. */
  #maskData(data: Verbatim): Verbatim | undefined {
    if (this.#mask(data.text) === data.text) return data;
    // What nests too deep to be written again is left out.
    return nestingDepth(data.text) > 500
      ? undefined
      : Verbatim.of(maskValue(data.value, this.#mask));
  }
}
