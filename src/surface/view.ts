// What one session is shown: the tools of the gateway, where there are children to switch; the
// suites; and the tools of those children that are shown directly or that this session has switched
// on. Every child can be called through its suite, listed or not.
import { SwitchboardError } from '../base/errors.ts';
import type { ListKind } from '../child/child.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import { unwrapTaskId, wrapTasksIn } from '../mcp/tasks.ts';
import { type Tool, textResult } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import { INVALID_PARAMS, isObject, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { isExposed } from './expose.ts';
import { createGatewayTools, gatewayAction, parseServerName } from './gateway.ts';
import { instructionsFor } from './instructions.ts';
import { Library } from './library.ts';
import { type OwnTool, OwnTools, prefixedName } from './own-tools.ts';
import { callSubtool } from './subtool.ts';
import type { Suites } from './suites.ts';
import type { Audience, Surface, SurfaceOptions, ToolCall } from './surface.ts';
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
import { unknownTool } from './unknown-tool.ts';

export interface ViewParts {
  /** All children that are not off, in the order they are shown. */
  readonly children: readonly ChildConfig[];
  readonly suites: Suites;
  readonly pool: Pool;
  readonly flipSuites: Config['flipSuites'];
}

/** Lists as texts. */
export type Shown = Readonly<Record<'tools' | 'prompts' | 'resources', string>>;

export interface ViewEvents {
  readonly onClose: () => void;
  /** The session watches other resources than before. */
  readonly onWatch: () => Promise<void>;
}

export class View implements Surface {
  readonly #audience: Audience;
  readonly #events: ViewEvents;
  readonly #ownTools = new OwnTools();
  readonly #active = new Set<string>();
  #parts: ViewParts;
  /** Arranged when it is needed, and anew after each change. */
  #listed: Map<string, OwnTool> | undefined;
  #library: Library;
  #uris: ReadonlySet<string> = new Set();

  constructor(parts: ViewParts, audience: Audience, events: ViewEvents) {
    this.#parts = parts;
    this.#audience = audience;
    this.#events = events;
    this.#library = new Library(parts.children, parts.pool);
  }

  get askHost(): Audience['ask'] {
    return this.#audience.ask;
  }

  /** The resources that the session watches, by the child that has them. */
  get watched(): Map<string, string[]> {
    const watched = new Map<string, string[]>();
    for (const uri of this.#uris) {
      const name = this.#library.ownerOf(uri)?.name;
      if (name !== undefined) watched.set(name, [...(watched.get(name) ?? []), uri]);
    }
    return watched;
  }

  get instructions(): string {
    const { children, suites } = this.#parts;
    const { isStatic } = this.#audience;
    return instructionsFor({ children, isStatic, toolFor: (name) => suites.toolFor(name) });
  }

  get active(): readonly string[] {
    return [...this.#active];
  }

  listTools(): readonly Tool[] {
    const { suites } = this.#parts;
    const { isStatic } = this.#audience;
    const flips = isStatic ? [] : this.#flips();
    return [
      ...(flips.length > 0 ? createGatewayTools(flips.map(({ name }) => name)) : []),
      ...suites.listTools((config) => this.#isListedAsSuite(config)),
      ...[...this.#own().values()].map(({ tool }) => (isStatic ? withoutExecution(tool) : tool)),
    ];
  }

  listPrompts(): readonly unknown[] {
    return this.#library.listPrompts();
  }

  listResources(): readonly unknown[] {
    return this.#library.listResources();
  }

  listTemplates(): readonly unknown[] {
    return this.#library.listTemplates();
  }

  ask(method: string, params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    if (method.startsWith('tasks/')) return this.#askTask(method, params, options);
    return this.#library.ask(method, params, options);
  }

  callTool(call: ToolCall): Promise<Verbatim> {
    const answer = this.#callChild(call);
    if (!answer) return this.#callGateway(call);
    if (this.#active.size === 0) return answer;
    return answer.catch((error: unknown) => {
      this.dropFailed();
      throw error;
    });
  }

  close(): void {
    this.#events.onClose();
  }

  /** Takes over a new configuration. What is not flip any more is not switched on either. */
  update(parts: ViewParts, before: Shown): void {
    this.#parts = parts;
    this.#library = new Library(parts.children, parts.pool);
    const flips = new Set(this.#flips().map(({ name }) => name));
    for (const name of this.#active) if (!flips.has(name)) this.#active.delete(name);
    this.#changed();
    const after = this.shown();
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      if (after[kind] !== before[kind]) this.#audience.announceSoon(kind);
    }
  }

  /** All that is shown, as texts that can be compared. */
  shown(): Shown {
    return {
      tools: JSON.stringify(this.listTools()),
      prompts: JSON.stringify(this.listPrompts()),
      resources: JSON.stringify([this.listResources(), this.listTemplates()]),
    };
  }

  listChanged(childName: string, kind: ListKind): void {
    if (kind === 'prompts') return this.#audience.announceSoon('prompts');
    if (kind !== 'tools') return this.#audience.announceSoon('resources');
    const config = this.#parts.children.find(({ name }) => name === childName);
    this.#changed();
    if (config && this.#listsToolsOf(config)) this.#audience.announceSoon();
  }

  resourceUpdated(childName: string, params: Verbatim): void {
    const uri = isObject(params.value) ? params.value['uri'] : undefined;
    const isWatched = typeof uri === 'string' && this.#uris.has(uri);
    if (isWatched && this.#library.ownerOf(uri)?.name === childName) {
      this.#audience.resourceUpdated(params);
    }
  }

  async watch(uris: ReadonlySet<string>): Promise<void> {
    this.#uris = uris;
    await this.#events.onWatch();
  }

  /** Switches off what has failed without having run: it could not be started when it was needed. */
  dropFailed(): void {
    const { pool } = this.#parts;
    for (const name of this.#active) if (pool.report(name).state === 'error') this.lost(name);
  }

  /** A child has ended by itself: it is switched off, and the host is told. */
  lost(childName: string): void {
    if (!this.#active.delete(childName)) return;
    this.#changed();
    this.#audience.announce();
  }

  /** The answer of the child that the call is for; undefined if it is for none. */
  #callChild(call: ToolCall): Promise<Verbatim> | undefined {
    const { pool, suites } = this.#parts;
    if (suites.has(call.name)) return suites.callTool(call);
    const own = this.#own().get(call.name);
    return own && callSubtool(pool, own.config, call, own.subtool, call.args);
  }

  /** A task is known to the child that runs it, if that still does and speaks the host's era. */
  async #askTask(method: string, params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    const { children, pool } = this.#parts;
    const id = unwrapTaskId(isObject(params.value) ? params.value['taskId'] : undefined);
    const config = children.find(({ name }) => name === id?.childName);
    const isRunning = config && pool.report(config.name).state === 'ready';
    const child = isRunning && (await pool.use(config.name, options.cancellation));
    if (!id || !child || child.greeting.era !== options.caller?.era) {
      throw new RpcError(INVALID_PARAMS, 'There is no such task.');
    }
    const own = params.with('taskId', Verbatim.of(id.taskId));
    const result = await child.ask(method, own, options, `task "${id.taskId}"`);
    return wrapTasksIn(result, id.childName);
  }

  async #callGateway(call: ToolCall): Promise<Verbatim> {
    const action = this.#flips().length > 0 ? gatewayAction(call.name) : undefined;
    switch (action) {
      case 'activate':
        return this.#activate(parseServerName(call), call);
      case 'deactivate':
        return this.#deactivate(parseServerName(call));
      case 'status':
        return this.#status();
      case undefined:
        throw unknownTool(call.name, this.#knownNames(), this.#hintFor(call.name));
    }
  }

  async #activate(name: string, { cancellation }: ToolCall): Promise<Verbatim> {
    const { pool, suites } = this.#parts;
    const refusal = this.#refuse(name);
    if (refusal) return refusal;
    const suite = suites.toolFor(name);
    if (this.#audience.isStatic) return textResult(staticText(name, suite));
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
    this.#changed();
    const tools = this.#toolsOf(name);
    await this.#audience.announceAndSettle(cancellation);
    // Who fails while the host takes the list in has been switched off again.
    const failure = this.#active.has(name) ? undefined : this.#failureOf(name);
    return failure ? failedResult(name, failure) : textResult(activatedText(name, tools, suite));
  }

  #deactivate(name: string): Verbatim {
    const refusal = this.#refuse(name);
    if (refusal) return refusal;
    const tools = this.#toolsOf(name);
    if (!this.#active.delete(name)) return textResult(notActiveText(name));
    this.#changed();
    this.#audience.announce();
    return textResult(deactivatedText(name, tools.length));
  }

  #status(): Verbatim {
    const { pool } = this.#parts;
    return statusResult(
      this.#flips().map(({ name }) => {
        const { state } = pool.report(name);
        const isActive = this.#active.has(name);
        return {
          name,
          state: isActive ? 'active' : state,
          ready: isActive || state === 'ready',
          active: isActive,
          tools: this.#countTools(name),
          error: state === 'error' ? pool.errorOf(name)?.message : undefined,
        };
      }),
    );
  }

  /** The answer for a name that cannot be switched. */
  #refuse(name: string): Verbatim | undefined {
    const { children, suites } = this.#parts;
    const config = children.find((child) => child.name === name);
    if (config?.show === 'flip') return undefined;
    const text = config
      ? notFlipText(config, suites.toolFor(name))
      : unknownServerText(
          name,
          this.#flips().map((child) => child.name),
        );
    return textResult(text, { isError: true });
  }

  /** Why a child cannot be used, where it is still there. */
  #failureOf(name: string): Error | undefined {
    const { children, pool } = this.#parts;
    return children.some((child) => child.name === name) ? pool.errorOf(name) : undefined;
  }

  #changed(): void {
    this.#listed = undefined;
  }

  /** The tools that are listed as they are, by the names they are listed under. */
  #own(): Map<string, OwnTool> {
    const { children, pool, suites } = this.#parts;
    this.#listed ??= this.#ownTools.arrange(
      children
        .filter((config) => this.#listsToolsOf(config))
        .map((config) => ({ config, tools: pool.tools(config.name) ?? [] })),
      (name) => suites.has(name),
    );
    return this.#listed;
  }

  #listsToolsOf({ name, show }: ChildConfig): boolean {
    return show === 'direct' || (show === 'flip' && this.#active.has(name));
  }

  #toolsOf(childName: string): OwnTool[] {
    return [...this.#own().values()].filter(({ config }) => config.name === childName);
  }

  /** How many tools switching the child on lists; undefined where they are not known. */
  #countTools(childName: string): number | undefined {
    const { children, pool } = this.#parts;
    const config = children.find(({ name }) => name === childName);
    const tools = pool.tools(childName);
    if (!config || !tools) return undefined;
    return new OwnTools().arrange([{ config, tools }], () => false).size;
  }

  #flips(): ChildConfig[] {
    return this.#parts.children.filter(({ show }) => show === 'flip');
  }

  #isListedAsSuite({ show }: ChildConfig): boolean {
    if (show !== 'flip') return show === 'suite';
    if (this.#audience.isStatic) return true;
    const { flipSuites } = this.#parts;
    return flipSuites === 'always' || (flipSuites === 'auto' && this.#audience.neverRelists);
  }

  #knownNames(): string[] {
    return this.listTools().map(({ name }) => name);
  }

  /** What to do about a tool that is there, but is not listed now. */
  #hintFor(toolName: string): string | undefined {
    const { children, pool, suites } = this.#parts;
    const isMeant = (childName: string, subtool: string): boolean =>
      subtool === toolName || prefixedName(childName, subtool) === toolName;
    const owner = children.find(
      ({ name, show, expose }) =>
        show === 'flip' &&
        !this.#active.has(name) &&
        pool.tools(name)?.some((tool) => isMeant(name, tool.name) && isExposed(tool.name, expose)),
    );
    if (!owner) return undefined;
    const suite = suites.toolFor(owner.name);
    return `It belongs to server "${owner.name}", which is not switched on: call gateway_activate with {"name": ${JSON.stringify(owner.name)}}, or call it through ${suite}.`;
  }
}

/** The answer where a child was to be switched on and cannot be used. */
function failedResult(name: string, error: unknown): Verbatim {
  if (!(error instanceof Error)) throw error;
  const text = error instanceof SwitchboardError ? error.text : error.message;
  return textResult(notReadyText(name, text), { isError: true });
}

/** How a tool can be a task in the handshake era, of which the modern one knows nothing. */
function withoutExecution(tool: Tool): Tool {
  if (!Object.hasOwn(tool, 'execution')) return tool;
  const { execution: _handshakeOnly, ...rest } = tool;
  return rest;
}
