// Everything one session sees: the modes' own tools, suites, the tools of servers whose mode lists them, and
// agents. Every server can be called through its suite, listed or not.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import type { CallContext } from '../calls/call.ts';
import type { Calls } from '../calls/calls.ts';
import { isWatchable, requireWatchable } from '../calls/permissions.ts';
import { usableTools } from '../calls/usable.ts';
import type { ListKind } from '../child/list-pages.ts';
import type { ChildConfig, Config, Show } from '../config/config.ts';
import { hintsOf, isReadOnly } from '../mcp/annotations.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { AgentTools } from './agent-tools.ts';
import { listedNameFor } from './assistant-names.ts';
import { instructionsFor } from './instructions.ts';
import type { Library } from './library.ts';
import type { ModeSession, ShowMode } from './modes/mode.ts';
import { isReservedName, MODES, modeOf } from './modes/table.ts';
import { type OwnTool, OwnTools } from './own-tools.ts';
import { MOST_LOADED } from './suite-tool.ts';
import type { Suites } from './suites.ts';
import type { Audience, Surface } from './surface.ts';
import { askTask } from './tasks.ts';
import { unknownTool } from './unknown-tool.ts';

export interface ViewParts {
  readonly config: Config;
  /** All children that aren't off, in the order they are listed. */
  readonly children: readonly ChildConfig[];
  readonly suites: Suites;
  readonly agents: AgentTools;
  readonly library: Library;
  readonly pool: Pool;
  readonly calls: Calls;
  /** Asks the user about a pending server, and returns what is there afterwards. */
  readonly approve?: ((child: ChildConfig, context: CallContext) => Promise<ViewParts>) | undefined;
}

/** Lists as strings that can be compared. */
export type Shown = Readonly<Record<'tools' | 'prompts' | 'resources', string>>;

export interface ViewEvents {
  readonly onClose: () => void;
  /** The session watches a different set of resources. */
  readonly onWatch: () => Promise<void>;
  /** The session wants a different log level. */
  readonly onLogLevel: () => void;
}

export class View implements Surface {
  readonly #audience: Audience;
  readonly #events: ViewEvents;
  readonly #ownTools = new OwnTools();
  readonly #modes: Readonly<Record<Show, ModeSession>>;
  readonly #allModes: readonly ModeSession[];
  #parts: ViewParts;
  /** Arranged on first use and again after each change. */
  #listed: Map<string, OwnTool> | undefined;
  #uris: ReadonlySet<string> = new Set();
  /** The suites that were read-only in the last list this host fetched. */
  #readOnlySuites: ReadonlySet<string> = new Set();
  #logLevel: LogLevel | undefined;

  constructor(parts: ViewParts, audience: Audience, events: ViewEvents) {
    this.#parts = parts;
    this.#audience = audience;
    this.#events = events;
    const opened = Object.values(MODES).map((mode) => [mode.name, this.#open(mode)] as const);
    this.#modes = Object.fromEntries(opened) as Record<Show, ModeSession>;
    this.#allModes = opened.map(([, session]) => session);
  }

  /** The least important log messages the session wants. */
  get logLevel(): LogLevel | undefined {
    return this.#logLevel;
  }

  get askHost(): Audience['ask'] {
    return this.#audience.ask;
  }

  /** The resources the session watches, by the child that owns them. */
  get watched(): Map<string, string[]> {
    const watched = new Map<string, string[]>();
    for (const uri of this.#uris) {
      const owner = this.#parts.library.ownerOf(uri);
      const name = owner && isWatchable(uri, owner) ? owner.name : undefined;
      if (name !== undefined) watched.set(name, [...(watched.get(name) ?? []), uri]);
    }
    return watched;
  }

  get instructions(): string {
    const { children } = this.#parts;
    const suiteOf = (child: ChildConfig) => this.#listedSuiteOf(child);
    const modes = this.#allModes.map(({ instructions = '' }) => instructions);
    return instructionsFor({ children, agents: this.#agents, suiteOf, modes });
  }

  get active(): readonly string[] {
    return this.#allModes.flatMap(({ active = [] }) => active);
  }

  listTools(): readonly Tool[] {
    const tools = this.#listTools();
    const { suites } = this.#parts;
    const annotated = tools.filter(({ annotations }) => annotations !== undefined);
    const readOnly = annotated.filter((tool) => isReadOnly(hintsOf(tool)) && suites.has(tool.name));
    this.#readOnlySuites = new Set(readOnly.map(({ name }) => name));
    return tools;
  }

  #listTools(): readonly Tool[] {
    const { children, suites } = this.#parts;
    const { isStatic } = this.#audience;
    const isListed = (config: ChildConfig) => this.#isListedAsSuite(config);
    // Suites that only fill in don't count, so the others don't change with them.
    const counted = children.filter((config) => modeOf(config).usesSuite && isListed(config));
    return [
      ...this.#allModes.flatMap((mode) => mode.listTools?.() ?? []),
      ...suites.listTools(isListed, counted.length <= MOST_LOADED),
      ...[...this.#own().values()].map(({ config, tool }) => {
        const own = isStatic ? withoutExecution(tool) : tool;
        return modeOf(config).present?.(own) ?? own;
      }),
      ...this.#agents.listTools(),
    ];
  }

  listPrompts(): readonly unknown[] {
    return this.#parts.library.listPrompts();
  }

  listResources(): readonly unknown[] {
    return this.#parts.library.listResources();
  }

  listTemplates(): readonly unknown[] {
    return this.#parts.library.listTemplates();
  }

  ask(method: string, params: Verbatim, context: CallContext): Promise<Verbatim> {
    if (method.startsWith('tasks/')) return askTask(this.#parts, method, params, context);
    return this.#parts.library.ask(method, params, context);
  }

  callTool(name: string, args: Verbatim, context: CallContext): Promise<Verbatim> {
    const answer = this.#callServer(name, args, context) ?? this.#callMode(name, args, context);
    if (!answer) throw unknownTool(name, this.#knownNames(), this.#hintFor(name));
    return answer.catch((error: unknown) => {
      this.checkFailures();
      throw this.#explain(name, error);
    });
  }

  close(): void {
    this.#events.onClose();
  }

  /** Applies a new configuration. */
  update(parts: ViewParts, before: Shown): void {
    this.#parts = parts;
    for (const mode of this.#allModes) mode.reconfigured?.();
    this.#changed();
    const after = this.shown();
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      if (after[kind] !== before[kind]) this.#audience.announceSoon(kind);
    }
  }

  shown(): Shown {
    return {
      tools: JSON.stringify(this.#listTools()),
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

  /** A child's suite has new annotations. */
  suiteChanged(childName: string): void {
    const config = this.#parts.children.find(({ name }) => name === childName);
    if (config && this.#isListedAsSuite(config)) this.#audience.announceSoon();
  }

  resourceUpdated(childName: string, params: Verbatim): void {
    const uri = isObject(params.value) ? params.value['uri'] : undefined;
    const isWatched = typeof uri === 'string' && this.#uris.has(uri);
    if (isWatched && this.#parts.library.ownerOf(uri)?.name === childName) {
      this.#audience.resourceUpdated(params);
    }
  }

  async watch(uris: ReadonlySet<string>): Promise<void> {
    const { library, calls } = this.#parts;
    for (const uri of uris) requireWatchable(uri, library.ownerOf(uri), calls.audit);
    this.#uris = uris;
    await this.#events.onWatch();
  }

  setLogLevel(level: LogLevel): void {
    if (level === this.#logLevel) return; // a modern host sends it with every call
    this.#logLevel = level;
    this.#events.onLogLevel();
  }

  /** A start or a call has failed. */
  checkFailures(): void {
    for (const mode of this.#allModes) mode.checkFailures?.();
  }

  /** A running child has exited. */
  lost(childName: string): void {
    for (const mode of this.#allModes) mode.lost?.(childName);
  }

  #open(mode: ShowMode): ModeSession {
    return mode.open({
      servers: () => this.#parts.children.filter(({ show }) => show === mode.name),
      parts: () => this.#parts,
      audience: this.#audience,
      toolsOf: (name) => [...this.#own().values()].filter(({ config }) => config.name === name),
      suiteOf: (config) => this.#listedSuiteOf(config),
      onChanged: () => this.#changed(),
    });
  }

  /** Undefined if the name belongs to no suite, agent or server. */
  #callServer(name: string, args: Verbatim, context: CallContext): Promise<Verbatim> | undefined {
    const { calls, suites, agents } = this.#parts;
    if (suites.has(name)) {
      const waiting = this.#parts.approve && suites.waiting(name);
      if (waiting) return this.#callOnceApproved(waiting, name, args, context);
      return suites.callTool(name, args, context, this.#readOnlySuites.has(name));
    }
    if (agents.has(name)) {
      return (this.#agents.has(name) ? this.#agents : agents).callTool(name, args, context);
    }
    const own = this.#own().get(name) ?? this.#assistantToolOf(name);
    return (
      own &&
      calls.send({
        server: own.config,
        method: 'tools/call',
        target: own.subtool,
        params: args,
        context,
        through: 'tool',
        readOnly: undefined,
      })
    );
  }

  /** The server may have another suite afterwards, but it can still be called by this name. */
  async #callOnceApproved(
    waiting: ChildConfig,
    name: string,
    args: Verbatim,
    context: CallContext,
  ): Promise<Verbatim> {
    const { approve, ...parts } = this.#parts;
    // A modern host's request may outlive its session, which then gets no updates.
    this.#parts = (await approve?.(waiting, context)) ?? parts;
    this.#changed();
    const { suites } = this.#parts;
    if (!suites.has(name)) throw deniedServer();
    return suites.callTool(name, args, context, this.#readOnlySuites.has(name));
  }

  #callMode(name: string, args: Verbatim, context: CallContext): Promise<Verbatim> | undefined {
    for (const mode of this.#allModes) {
      const answer = mode.callTool?.(name, args, context);
      if (answer) return answer;
    }
    return undefined;
  }

  #explain(toolName: string, error: unknown): unknown {
    if (this.#parts.suites.has(toolName)) return error;
    return this.#allModes.reduce((known, mode) => mode.explain?.(known) ?? known, error);
  }

  #hintFor(toolName: string): string | undefined {
    for (const mode of this.#allModes) {
      const hint = mode.hintFor?.(toolName);
      if (hint !== undefined) return hint;
    }
    return undefined;
  }

  /** An assistant's tool, called by its former name. */
  #assistantToolOf(name: string): OwnTool | undefined {
    const listed = listedNameFor(name);
    const own = listed === undefined ? undefined : this.#own().get(listed);
    return own?.config.behind && own;
  }

  #changed(): void {
    this.#listed = undefined;
  }

  /** Servers' own tools by the names they are listed under. */
  #own(): Map<string, OwnTool> {
    const { children, pool, suites, agents } = this.#parts;
    this.#listed ??= this.#ownTools.arrange(
      children
        .filter((config) => this.#listsToolsOf(config))
        .map((config) => ({ config, tools: usableTools(config, pool) })),
      (name) => isReservedName(name) || suites.has(name) || agents.has(name),
    );
    return this.#listed;
  }

  /** The agents this host lists. It can also call the others. */
  get #agents(): AgentTools {
    return this.#parts.agents.shownTo(this.#audience.client);
  }

  #listsToolsOf(config: ChildConfig): boolean {
    return this.#modes[config.show].listsToolsOf(config);
  }

  #isListedAsSuite(config: ChildConfig): boolean {
    return this.#modes[config.show].listsSuiteOf(config);
  }

  /** The name of a child's suite, if this host lists it. */
  #listedSuiteOf(config: ChildConfig): string | undefined {
    return this.#isListedAsSuite(config) ? this.#parts.suites.toolFor(config.name) : undefined;
  }

  #knownNames(): string[] {
    return this.#listTools().map(({ name }) => name);
  }
}

/** It isn't listed any longer. */
function deniedServer(): SwitchboardError {
  return new SwitchboardError('TOOL_NOT_ALLOWED', 'The user did not approve this server.', {
    hint: 'Do not try again unless the user asks you to.',
  });
}

/** `execution` describes tasks of the handshake era, which the modern era doesn't have. */
function withoutExecution(tool: Tool): Tool {
  if (!Object.hasOwn(tool, 'execution')) return tool;
  const { execution: _handshakeOnly, ...rest } = tool;
  return rest;
}
