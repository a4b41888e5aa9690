// One running child that has shaken hands: its tools listed, its tools called. Failures leave here
// as sentences that name the child and what it was doing.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import type { Mask } from '../base/secrets.ts';
import type { ChildConfig } from '../config/config.ts';
import { parseTools, type Tool } from '../mcp/tools.ts';
import { isObject, RpcError } from '../rpc/message.ts';
import { type Params, type RequestOptions, RpcTimeout } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { explainEnd } from './failures.ts';
import type { Greeting } from './handshake.ts';
import { type Link, type LinkEnd, LinkEnded } from './link.ts';

export interface CallOptions {
  /** `_meta` of the host's request, handed on to the child. */
  readonly meta?: Record<string, unknown> | undefined;
  readonly cancellation?: Cancellation | undefined;
  /** Set where the host wants progress: called with each notification's parameters. */
  readonly onProgress?: ((params: Verbatim) => void) | undefined;
}

/** A child whose list of tools does not come to an end is cut off here. */
const MAX_PAGES = 1_000;
const MAX_TOOLS = 20_000;

export class Child {
  readonly greeting: Greeting;
  readonly ended: Promise<LinkEnd>;
  readonly #config: ChildConfig;
  readonly #link: Link;
  readonly #mask: Mask;
  #hasAnswered = false;
  #toolNames = new Set<string>();

  constructor(config: ChildConfig, link: Link, mask: Mask, greeting: Greeting) {
    this.#config = config;
    this.#link = link;
    this.#mask = mask;
    this.greeting = greeting;
    this.ended = link.ended;
  }

  get name(): string {
    return this.#config.name;
  }

  get pid(): number {
    return this.#link.pid;
  }

  /** Whether it has answered anything since its start: if not, it is not worth a quick restart. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** All tools, from every page of the list, which together must come within the limit. */
  async listTools(cancellation?: Cancellation): Promise<Tool[]> {
    const end = performance.now() + this.#config.timeouts.rpcMs;
    const pages: Tool[][] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const params = Verbatim.of(cursor === undefined ? {} : { cursor });
      const timeoutMs = Math.max(1, end - performance.now());
      const options = { cancellation, timeoutMs };
      const { value } = await this.#request('tools/list', params, options, 'its list of tools');
      pages.push(parseTools(value));
      const next = isObject(value) ? value['nextCursor'] : undefined;
      // A cursor that comes again would lead in a circle.
      cursor = typeof next === 'string' && !seen.has(next) ? next : undefined;
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined && pages.length < MAX_PAGES);
    const tools = pages.flat().slice(0, MAX_TOOLS);
    this.#toolNames = new Set(tools.map(({ name }) => name));
    return tools;
  }

  /** Whether the child has the tool, by its last list if that has it, else by a new one. */
  async hasTool(subtool: string, cancellation?: Cancellation): Promise<boolean> {
    if (!this.#toolNames.has(subtool)) await this.listTools(cancellation);
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
      const handedOn = onProgress ? { ...meta, progressToken: id } : meta;
      const tail = handedOn ? `,"_meta":${JSON.stringify(handedOn)}` : '';
      const text = `{"name":${JSON.stringify(subtool)},"arguments":${args.text}${tail}}`;
      return new Verbatim(text, undefined);
    };
    const timeoutMs = this.#config.timeouts.rpcMs;
    const requested = { cancellation, onProgress, timeoutMs };
    return this.#request('tools/call', params, requested, `subtool "${subtool}"`);
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
    return this.#link.peer.request(method, params, options).then(
      (answer) => {
        this.#hasAnswered = true;
        return answer;
      },
      (error: unknown) => {
        throw this.#explain(error, task);
      },
    );
  }

  #explain(error: unknown, task: string): unknown {
    const { name, origin, timeouts } = this.#config;
    if (error instanceof RpcError) {
      const data = error.data && new Verbatim(this.#mask(error.data.text), undefined);
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
}
