// What one session has switched on, and the three tools with which it does so.
import { SwitchboardError } from '../base/errors.ts';
import { soon } from '../base/time.ts';
import type { ChildConfig } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import { textResult } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { gatewayAction, parseServerName } from './gateway.ts';
import { type OwnTool, OwnTools, prefixedName } from './own-tools.ts';
import { tellOfStart } from './starting.ts';
import type { Audience, ToolCall } from './surface.ts';
import {
  activatedText,
  alreadyActiveText,
  deactivatedText,
  notActiveText,
  notFlipText,
  notOnText,
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
  /** The name of a child's suite, if this host lists it. */
  readonly suiteOf: (config: ChildConfig) => string | undefined;
  /** Something is on that was not, or the other way round. */
  readonly onChanged: () => void;
}

/** Many hosts give up on a call after a minute. */
const LONGEST_WAIT_MS = 45_000;

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
   * Whether switching a child on has an effect in this host. Hosts that never refresh their list use
   * suites instead, if those are listed.
   */
  isSwitchable(config: ChildConfig): boolean {
    const { audience, suiteOf } = this.#options;
    if (audience.isStatic) return false;
    return !audience.neverRelists || suiteOf(config) === undefined;
  }

  /**
   * The answer to a call of one of the three tools; undefined for any other. They are answered even
   * without servers, when they are not listed.
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
    const { parts, suiteOf } = this.#options;
    const { pool } = parts();
    const isMeant = (childName: string, subtool: string): boolean =>
      subtool === toolName || prefixedName(childName, subtool) === toolName;
    const findSubtool = ({ name, expose }: ChildConfig) =>
      pool.tools(name)?.find((tool) => isMeant(name, tool.name) && isExposed(tool.name, expose));
    for (const config of this.flips) {
      const subtool = this.#active.has(config.name) ? undefined : findSubtool(config)?.name;
      if (subtool === undefined) continue;
      return notOnText(config.name, {
        subtool,
        suite: suiteOf(config),
        isSwitchable: this.isSwitchable(config),
      });
    }
    return undefined;
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

  async #activate(name: string, call: ToolCall): Promise<Verbatim> {
    const { audience, onChanged, toolsOf, suiteOf } = this.#options;
    const config = this.flips.find((child) => child.name === name);
    if (!config) return this.#refuse(name);
    if (this.#active.has(name)) return textResult(alreadyActiveText(name));
    try {
      // No await if it is ready: the next request must find it active.
      if (!this.#isReady(name) && !(await this.#becomesReady(config, call))) {
        return textResult(notReadyText(name), { isError: true });
      }
    } catch (error) {
      return failedResult(name, error);
    }
    // The configuration or the switches may have changed meanwhile.
    if (!this.flips.some((child) => child.name === name)) return this.#refuse(name);
    if (audience.isStatic) return textResult(this.#introduce(name));
    if (this.#active.has(name)) return textResult(alreadyActiveText(name));
    this.#active.add(name);
    onChanged();
    const tools = toolsOf(name);
    const isFetched = await audience.announceAndSettle(call.cancellation);
    // Who fails while the host takes the list in has been switched off again.
    const failure = this.#active.has(name) ? undefined : this.#failureOf(name);
    if (failure) return failedResult(name, failure);
    const { neverRelists } = audience;
    const reach = { suite: suiteOf(config), neverRelists, isFetched };
    return textResult(activatedText(name, tools, reach));
  }

  /** An idle child with known tools counts: the first call starts it. */
  #isReady(name: string): boolean {
    const { pool } = this.#options.parts();
    const { state } = pool.report(name);
    return state !== 'warming' && state !== 'error' && pool.tools(name) !== undefined;
  }

  /** Starts a child or waits for its start, within the limit of a start. */
  async #becomesReady(
    config: ChildConfig,
    { cancellation, onProgress }: ToolCall,
  ): Promise<boolean> {
    const { name, timeouts } = config;
    const warmed = this.#options.parts().pool.warm(name);
    // The previous process may have to stop first.
    const limitMs = Math.min(timeouts.spawnMs + timeouts.stopMs, LONGEST_WAIT_MS);
    const ready = soon(
      warmed.then(() => true),
      limitMs,
    );
    const waited = tellOfStart(cancellation.orElse(ready), config, onProgress);
    return (await waited) ?? false;
  }

  #deactivate(name: string): Verbatim {
    const { audience, onChanged, toolsOf } = this.#options;
    if (!this.flips.some((child) => child.name === name)) return this.#refuse(name);
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
        return {
          name,
          state: isActive ? 'active' : state,
          ready: isActive || state === 'ready',
          active: isActive,
          tools: this.#subtoolsOf(config)?.length,
          error: state === 'error' ? pool.errorOf(name)?.message : undefined,
        };
      }),
    );
  }

  /** What a session needs that calls a child through its suite. */
  #introduce(name: string): string {
    const { suites } = this.#options.parts();
    const config = this.flips.find((child) => child.name === name);
    const subtools = config && this.#subtoolsOf(config);
    return staticText(name, subtools ?? [], suites.toolFor(name));
  }

  /** The names of the subtools that a child may show; undefined where they were never listed. */
  #subtoolsOf(config: ChildConfig): string[] | undefined {
    const tools = this.#options.parts().pool.tools(config.name);
    if (!tools) return undefined;
    const arranged = new OwnTools().arrange([{ config, tools }], () => false);
    return [...arranged.values()].map(({ subtool }) => subtool);
  }

  /** The answer for a name that cannot be switched. */
  #refuse(name: string): Verbatim {
    const { parts, suiteOf } = this.#options;
    const config = parts().children.find((child) => child.name === name);
    const names = this.flips.map((child) => child.name);
    const text = config ? notFlipText(config, suiteOf(config)) : unknownServerText(name, names);
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
