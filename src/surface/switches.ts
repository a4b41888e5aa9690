// The servers one session has switched on, and what the gateway's tools do in it.
import { SwitchboardError } from '../base/errors.ts';
import { settleWithin } from '../base/time.ts';
import type { CallContext } from '../calls/call.ts';
import { serverDenied } from '../calls/permissions.ts';
import { reportStart } from '../calls/starting.ts';
import { isUsable, usableTools } from '../calls/usable.ts';
import type { ChildConfig } from '../config/config.ts';
import { type Tool, textResult } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { createGatewayTools, gatewayAction, parseServerName } from './gateway.ts';
import type { ModeSession, ModeSessionParts } from './modes/mode.ts';
import { OwnTools, prefixedName } from './own-tools.ts';
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

/** Many hosts give up on a call after a minute. */
const LONGEST_WAIT_MS = 45_000;

const SWITCHING =
  'More servers can be activated: gateway_status lists them, gateway_activate adds the tools of one ' +
  'to your list, gateway_deactivate removes them.';

const SWITCHED_OFF =
  'It has been deactivated: call gateway_activate to use its tools again, or call it through its suite.';

export class Switches implements ModeSession {
  readonly #options: ModeSessionParts;
  readonly #active = new Set<string>();

  constructor(options: ModeSessionParts) {
    this.#options = options;
  }

  get active(): readonly string[] {
    return [...this.#active];
  }

  get instructions(): string {
    return this.#servers.some((server) => this.#isSwitchable(server)) ? SWITCHING : '';
  }

  listTools(): readonly Tool[] {
    const names = this.#servers.map(({ name }) => name);
    return names.length > 0 ? createGatewayTools(names, this.#options.audience.isStatic) : [];
  }

  listsToolsOf({ name }: ChildConfig): boolean {
    return this.#active.has(name);
  }

  listsSuiteOf(): boolean {
    const { audience, parts } = this.#options;
    const { flipSuites } = parts().config;
    if (audience.isStatic || flipSuites === 'always') return true;
    return flipSuites === 'auto' && audience.neverRelists;
  }

  /** Answered even without any servers, when the gateway's tools aren't listed. */
  callTool(name: string, args: Verbatim, context: CallContext): Promise<Verbatim> | undefined {
    const isAnswered = this.#servers.length > 0 || this.#options.parts().children.length === 0;
    const action = isAnswered ? gatewayAction(name) : undefined;
    return action && this.#carryOut(action, name, args, context);
  }

  /** Switches off servers that are gone or shown in another mode. */
  reconfigured(): void {
    const names = new Set(this.#servers.map(({ name }) => name));
    for (const name of this.#active) if (!names.has(name)) this.#active.delete(name);
  }

  /** Switches off servers that failed to start when they were needed. */
  checkFailures(): void {
    const { pool } = this.#options.parts();
    for (const name of this.#active) if (pool.report(name).state === 'error') this.lost(name);
  }

  /** Switches the server off and tells the host. */
  lost(childName: string): void {
    if (!this.#active.delete(childName)) return;
    this.#options.onChanged();
    this.#options.audience.announce();
  }

  hintFor(toolName: string): string | undefined {
    const { parts, suiteOf } = this.#options;
    const { pool } = parts();
    const isMeant = (childName: string, subtool: string): boolean =>
      subtool === toolName || prefixedName(childName, subtool) === toolName;
    const findSubtool = (config: ChildConfig) =>
      pool
        .tools(config.name)
        ?.find((tool) => isMeant(config.name, tool.name) && isUsable(tool, config, pool));
    for (const config of this.#servers) {
      const subtool = this.#active.has(config.name) ? undefined : findSubtool(config)?.name;
      if (subtool === undefined) continue;
      return notOnText(config.name, {
        subtool,
        suite: suiteOf(config),
        isSwitchable: this.#isSwitchable(config),
      });
    }
    return undefined;
  }

  /** A server that crashes is switched off, so its tools are gone until it's switched on again. */
  explain(error: unknown): unknown {
    if (!(error instanceof SwitchboardError) || error.code !== 'CHILD_EXITED') return error;
    const { code, message, hint = '', cause, data } = error;
    if (!this.#servers.some(({ name }) => name === data['child'])) return error;
    return new SwitchboardError(code, message, { hint: `${SWITCHED_OFF} ${hint}`, cause, data });
  }

  get #servers(): ChildConfig[] {
    return this.#options.servers();
  }

  /**
   * Whether switching a server on has an effect in this host. Hosts that never refresh their list use
   * suites instead, if those are listed.
   */
  #isSwitchable(server: ChildConfig): boolean {
    const { audience, suiteOf } = this.#options;
    if (audience.isStatic) return false;
    return !audience.neverRelists || suiteOf(server) === undefined;
  }

  async #carryOut(
    action: 'activate' | 'deactivate' | 'status',
    toolName: string,
    args: Verbatim,
    context: CallContext,
  ): Promise<Verbatim> {
    switch (action) {
      case 'activate':
        return this.#activate(parseServerName(toolName, args), context);
      case 'deactivate':
        return this.#deactivate(parseServerName(toolName, args));
      case 'status':
        return this.#status();
    }
  }

  async #activate(name: string, context: CallContext): Promise<Verbatim> {
    const { audience, onChanged, toolsOf, suiteOf } = this.#options;
    const config = this.#servers.find((child) => child.name === name);
    if (!config) return this.#refuse(name);
    if (this.#active.has(name)) return textResult(alreadyActiveText(name));
    // It must not be started.
    if (config.rules?.refusal) return failedResult(name, serverDenied(name, config.rules.refusal));
    try {
      // No await if it is ready: the next request must find it active.
      if (!this.#isReady(name) && !(await this.#becomesReady(config, context))) {
        return textResult(notReadyText(name), { isError: true });
      }
    } catch (error) {
      return failedResult(name, error);
    }
    // The configuration or the switches may have changed meanwhile, and the server may have ended again.
    if (!this.#servers.some((child) => child.name === name)) return this.#refuse(name);
    const ended = this.#failureOf(name);
    if (ended) return failedResult(name, ended);
    if (audience.isStatic) return textResult(this.#introduce(name));
    if (this.#active.has(name)) return textResult(alreadyActiveText(name));
    this.#active.add(name);
    onChanged();
    const tools = toolsOf(name);
    const isFetched = await audience.announceAndSettle(context.cancellation);
    // A server that fails while the host fetches the list has been switched off again.
    const failure = this.#active.has(name) ? undefined : this.#failureOf(name);
    if (failure) return failedResult(name, failure);
    const { neverRelists } = audience;
    const reach = { suite: suiteOf(config), neverRelists, isFetched };
    return textResult(activatedText(name, tools, reach));
  }

  /** An idle server with known tools counts: the first call starts it. */
  #isReady(name: string): boolean {
    const { pool } = this.#options.parts();
    const { state } = pool.report(name);
    return state !== 'warming' && state !== 'error' && pool.tools(name) !== undefined;
  }

  /** Starts the server or waits for its start, within the time a start may take. */
  async #becomesReady(
    config: ChildConfig,
    { cancellation, onProgress }: CallContext,
  ): Promise<boolean> {
    const { name, timeouts } = config;
    const warmed = this.#options.parts().pool.warm(name);
    // The previous process may have to stop first.
    const limitMs = Math.min(timeouts.spawnMs + timeouts.stopMs, LONGEST_WAIT_MS);
    const ready = settleWithin(
      warmed.then(() => true),
      limitMs,
    );
    const waited = reportStart(cancellation.race(ready), config, onProgress);
    return (await waited) ?? false;
  }

  #deactivate(name: string): Verbatim {
    const { audience, onChanged, toolsOf } = this.#options;
    if (!this.#servers.some((child) => child.name === name)) return this.#refuse(name);
    const tools = toolsOf(name);
    if (!this.#active.delete(name)) return textResult(notActiveText(name));
    onChanged();
    audience.announce();
    return textResult(deactivatedText(name, tools.length));
  }

  #status(): Verbatim {
    const { pool } = this.#options.parts();
    return statusResult(
      this.#servers.map((config) => {
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

  /** For a session that calls the server through its suite. */
  #introduce(name: string): string {
    const { suites } = this.#options.parts();
    const config = this.#servers.find((child) => child.name === name);
    const subtools = config && this.#subtoolsOf(config);
    return staticText(name, subtools ?? [], suites.toolFor(name));
  }

  /** The names of the server's exposed tools; undefined if it never listed them. */
  #subtoolsOf(config: ChildConfig): string[] | undefined {
    const { pool } = this.#options.parts();
    if (!pool.tools(config.name)) return undefined;
    const tools = usableTools(config, pool);
    const arranged = new OwnTools().arrange([{ config, tools }], () => false);
    return [...arranged.values()].map(({ subtool }) => subtool);
  }

  /** The answer for a server that can't be switched. */
  #refuse(name: string): Verbatim {
    const { parts, suiteOf } = this.#options;
    const config = parts().children.find((child) => child.name === name);
    const names = this.#servers.map((child) => child.name);
    const text = config ? notFlipText(config, suiteOf(config)) : unknownServerText(name, names);
    return textResult(text, { isError: true });
  }

  /** Why a server that is still configured can't be used. */
  #failureOf(name: string): Error | undefined {
    const { children, pool } = this.#options.parts();
    return children.some((child) => child.name === name) ? pool.errorOf(name) : undefined;
  }
}

/** The answer if a server can't be switched on. */
function failedResult(name: string, error: unknown): Verbatim {
  if (!(error instanceof Error)) throw error;
  const text = error instanceof SwitchboardError ? error.text : error.message;
  return textResult(notReadyText(name, text), { isError: true });
}
