// One running child that has shaken hands: its tools listed, its tools called. Failures leave here
// as sentences that name the child and what it was doing.
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
  readonly signal?: AbortSignal | undefined;
  /** Set where the host wants progress: called with each notification's parameters. */
  readonly onProgress?: ((params: Record<string, unknown>) => void) | undefined;
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

  /** All tools, from every page of the list. */
  async listTools(signal?: AbortSignal): Promise<Tool[]> {
    const tools: Tool[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page++) {
      const params = Verbatim.of(cursor === undefined ? {} : { cursor });
      const { value } = await this.#request('tools/list', params, { signal }, 'its list of tools');
      tools.push(...parseTools(value));
      const next = isObject(value) ? value['nextCursor'] : undefined;
      if (typeof next !== 'string' || seen.has(next)) break;
      seen.add(next);
      cursor = next;
    }
    this.#toolNames = new Set(tools.map(({ name }) => name));
    return tools;
  }

  /** Whether the child has the tool, by its last list if that has it, else by a new one. */
  async hasTool(subtool: string, signal?: AbortSignal): Promise<boolean> {
    if (!this.#toolNames.has(subtool)) await this.listTools(signal);
    return this.#toolNames.has(subtool);
  }

  /** The names in its last list. */
  get toolNames(): readonly string[] {
    return [...this.#toolNames];
  }

  /** Calls a tool; gives the child's result as it came. */
  callTool(subtool: string, args: Verbatim, options: CallOptions): Promise<Verbatim> {
    const { meta, signal, onProgress } = options;
    const params = (id: number): Verbatim => {
      const handedOn = { ...meta, ...(onProgress ? { progressToken: id } : {}) };
      const tail = Object.keys(handedOn).length > 0 ? `,"_meta":${JSON.stringify(handedOn)}` : '';
      const text = `{"name":${JSON.stringify(subtool)},"arguments":${args.text}${tail}}`;
      return new Verbatim(text, undefined);
    };
    return this.#request('tools/call', params, { signal, onProgress }, `subtool "${subtool}"`);
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

  async #request(
    method: string,
    params: Params,
    options: Omit<RequestOptions, 'timeoutMs'>,
    task: string,
  ): Promise<Verbatim> {
    const timeoutMs = this.#config.timeouts.rpcMs;
    try {
      const answer = await this.#link.peer.request(method, params, { ...options, timeoutMs });
      this.#hasAnswered = true;
      return answer;
    } catch (error) {
      throw this.#explain(error, task);
    }
  }

  #explain(error: unknown, task: string): unknown {
    const { name, origin, timeouts } = this.#config;
    if (error instanceof RpcError) {
      const data = error.data && new Verbatim(this.#mask(error.data.text), error.data.value);
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
