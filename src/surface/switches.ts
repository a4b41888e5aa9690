// What one session has switched on, and the three tools with which it does so.
import { SwitchboardError } from '../base/errors.ts';
import type { ChildConfig } from '../config/config.ts';
import { isExposed } from '../config/expose.ts';
import { textResult } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { gatewayAction, parseServerName } from './gateway.ts';
import { type OwnTool, OwnTools, prefixedName } from './own-tools.ts';
import type { Audience, ToolCall } from './surface.ts';
import {
  activatedText,
  alreadyActiveText,
  deactivatedText,
  notActiveText,
  notFlipText,
  notReadyText,
  staticText,
  statusResult,
  unknownServerText,
} from './switch-texts.ts';
import type { ViewParts } from './view.ts';

export interface SwitchesOptions {
  /** Asked each time: a new configuration brings new ones. */
  readonly parts: () => ViewParts;
  readonly audience: Audience;
  /** The tools of a child that are listed at the moment. */
  readonly toolsOf: (childName: string) => readonly OwnTool[];
  /** Something is on that was not, or the other way round. */
  readonly onChanged: () => void;
}

export class Switches {
  readonly #options: SwitchesOptions;
  readonly #active = new Set<string>();

  constructor(options: SwitchesOptions) {
    this.#options = options;
  }

  get active(): readonly string[] {
    return [...this.#active];
  }

  isOn(childName: string): boolean {
    return this.#active.has(childName);
  }

  /** The children that can be switched. */
  get flips(): ChildConfig[] {
    return this.#options.parts().children.filter(({ show }) => show === 'flip');
  }

  /**
   * The answer to a call of one of the three tools; undefined where the call is for another. Without
   * any servers they are not listed, but still say so.
   */
  call(call: ToolCall): Promise<Verbatim> | undefined {
    const isAnswered = this.flips.length > 0 || this.#options.parts().children.length === 0;
    const action = isAnswered ? gatewayAction(call.name) : undefined;
    return action && this.#carryOut(action, call);
  }

  /** Switches off what can no longer be switched. */
  dropOthers(): void {
    const flips = new Set(this.flips.map(({ name }) => name));
    for (const name of this.#active) if (!flips.has(name)) this.#active.delete(name);
  }

  /** Switches off what has failed without having run: it could not be started when it was needed. */
  dropFailed(): void {
    const { pool } = this.#options.parts();
    for (const name of this.#active) if (pool.report(name).state === 'error') this.drop(name);
  }

  /** A child has ended by itself: it is switched off, and the host is told. */
  drop(childName: string): void {
    if (!this.#active.delete(childName)) return;
    this.#options.onChanged();
    this.#options.audience.announce();
  }

  /** What to do about a tool that is there, but not switched on. */
  hintFor(toolName: string): string | undefined {
    const { pool, suites } = this.#options.parts();
    const isMeant = (childName: string, subtool: string): boolean =>
      subtool === toolName || prefixedName(childName, subtool) === toolName;
    const owner = this.flips.find(
      ({ name, expose }) =>
        !this.#active.has(name) &&
        pool.tools(name)?.some((tool) => isMeant(name, tool.name) && isExposed(tool.name, expose)),
    );
    if (!owner) return undefined;
    const suite = suites.toolFor(owner.name);
    return `It belongs to server "${owner.name}", which is not switched on: call gateway_activate with {"name": ${JSON.stringify(owner.name)}}, or call it through ${suite}.`;
  }

  async #carryOut(action: 'activate' | 'deactivate' | 'status', call: ToolCall): Promise<Verbatim> {
    switch (action) {
      case 'activate':
        return this.#activate(parseServerName(call), call);
      case 'deactivate':
        return this.#deactivate(parseServerName(call));
      case 'status':
        return this.#status();
    }
  }

  async #activate(name: string, { cancellation }: ToolCall): Promise<Verbatim> {
    const { audience, onChanged, toolsOf } = this.#options;
    const { pool, suites } = this.#options.parts();
    const refusal = this.#refuse(name);
    if (refusal) return refusal;
    const suite = suites.toolFor(name);
    if (audience.isStatic) return textResult(staticText(name, suite));
    if (this.#active.has(name)) return textResult(alreadyActiveText(name, suite));
    const { state } = pool.report(name);
    if (state === 'warming') {
      // One that is wanted need not wait for its turn.
      pool.warm(name).catch(() => {}); // its state says why
      return textResult(notReadyText(name), { isError: true });
    }
    try {
      // An idle child whose tools are known is started by their first call.
      if (state === 'error' || pool.tools(name) === undefined) {
        await cancellation.orElse(pool.warm(name));
      }
    } catch (error) {
      return failedResult(name, error);
    }
    // The configuration may be another one by now.
    const lateRefusal = this.#refuse(name);
    if (lateRefusal) return lateRefusal;
    this.#active.add(name);
    onChanged();
    const tools = toolsOf(name);
    await audience.announceAndSettle(cancellation);
    // Who fails while the host takes the list in has been switched off again.
    const failure = this.#active.has(name) ? undefined : this.#failureOf(name);
    return failure ? failedResult(name, failure) : textResult(activatedText(name, tools, suite));
  }

  #deactivate(name: string): Verbatim {
    const { audience, onChanged, toolsOf } = this.#options;
    const refusal = this.#refuse(name);
    if (refusal) return refusal;
    const tools = toolsOf(name);
    if (!this.#active.delete(name)) return textResult(notActiveText(name));
    onChanged();
    audience.announce();
    return textResult(deactivatedText(name, tools.length));
  }

  #status(): Verbatim {
    const { pool } = this.#options.parts();
    return statusResult(
      this.flips.map((config) => {
        const { name } = config;
        const { state } = pool.report(name);
        const isActive = this.#active.has(name);
        const tools = pool.tools(name);
        return {
          name,
          state: isActive ? 'active' : state,
          ready: isActive || state === 'ready',
          active: isActive,
          tools: tools && new OwnTools().arrange([{ config, tools }], () => false).size,
          error: state === 'error' ? pool.errorOf(name)?.message : undefined,
        };
      }),
    );
  }

  /** The answer for a name that cannot be switched. */
  #refuse(name: string): Verbatim | undefined {
    const { children, suites } = this.#options.parts();
    const config = children.find((child) => child.name === name);
    if (config?.show === 'flip') return undefined;
    const names = this.flips.map((child) => child.name);
    const text = config
      ? notFlipText(config, suites.toolFor(name))
      : unknownServerText(name, names);
    return textResult(text, { isError: true });
  }

  /** Why a child cannot be used, where it is still there. */
  #failureOf(name: string): Error | undefined {
    const { children, pool } = this.#options.parts();
    return children.some((child) => child.name === name) ? pool.errorOf(name) : undefined;
  }
}

/** The answer where a child was to be switched on and cannot be used. */
function failedResult(name: string, error: unknown): Verbatim {
  if (!(error instanceof Error)) throw error;
  const text = error instanceof SwitchboardError ? error.text : error.message;
  return textResult(notReadyText(name, text), { isError: true });
}
