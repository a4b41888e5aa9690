// What one session is shown: the tools of the gateway, where there are children to switch; the
// suites; the tools of those children that are shown directly or that this session has switched on;
// and the agents. Every child can be called through its suite, listed or not.
import { isObject } from '../base/object.ts';
import type { ListKind } from '../child/child.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import { hintsOf, isReadOnly } from '../mcp/annotations.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { AgentTools } from './agent-tools.ts';
import { listedNameFor } from './assistant-names.ts';
import { createGatewayTools } from './gateway.ts';
import { instructionsFor } from './instructions.ts';
import type { Library } from './library.ts';
import { type OwnTool, OwnTools } from './own-tools.ts';
import { callSubtool } from './subtool.ts';
import { alwaysLoaded, MOST_LOADED } from './suite-tool.ts';
import type { Suites } from './suites.ts';
import type { Audience, Surface, SurfaceOptions, ToolCall } from './surface.ts';
import { Switches } from './switches.ts';
import { askTask } from './tasks.ts';
import { unknownTool } from './unknown-tool.ts';

export interface ViewParts {
  /** All children that are not off, in the order they are shown. */
  readonly children: readonly ChildConfig[];
  readonly suites: Suites;
  readonly agents: AgentTools;
  readonly library: Library;
  readonly pool: Pool;
  readonly flipSuites: Config['flipSuites'];
}

/** Lists as texts. */
export type Shown = Readonly<Record<'tools' | 'prompts' | 'resources', string>>;

export interface ViewEvents {
  readonly onClose: () => void;
  /** The session watches other resources than before. */
  readonly onWatch: () => Promise<void>;
  /** The session wants log messages from another level on. */
  readonly onLogLevel: () => void;
}

export class View implements Surface {
  readonly #audience: Audience;
  readonly #events: ViewEvents;
  readonly #ownTools = new OwnTools();
  readonly #switches: Switches;
  #parts: ViewParts;
  /** Arranged when it is needed, and anew after each change. */
  #listed: Map<string, OwnTool> | undefined;
  #uris: ReadonlySet<string> = new Set();
  /** The suites that were read-only in the last list this host fetched. */
  #readOnlySuites: ReadonlySet<string> = new Set();
  #logLevel: LogLevel | undefined;

  constructor(parts: ViewParts, audience: Audience, events: ViewEvents) {
    this.#parts = parts;
    this.#audience = audience;
    this.#events = events;
    this.#switches = new Switches({
      parts: () => this.#parts,
      audience,
      toolsOf: (name) => [...this.#own().values()].filter(({ config }) => config.name === name),
      suiteOf: (config) => this.#listedSuiteOf(config),
      onChanged: () => this.#changed(),
    });
  }

  /** The least important log messages that the session wants of children. */
  get logLevel(): LogLevel | undefined {
    return this.#logLevel;
  }

  get askHost(): Audience['ask'] {
    return this.#audience.ask;
  }

  /** The resources that the session watches, by the child that has them. */
  get watched(): Map<string, string[]> {
    const watched = new Map<string, string[]>();
    for (const uri of this.#uris) {
      const name = this.#parts.library.ownerOf(uri)?.name;
      if (name !== undefined) watched.set(name, [...(watched.get(name) ?? []), uri]);
    }
    return watched;
  }

  get instructions(): string {
    const { children } = this.#parts;
    const suiteOf = (child: ChildConfig) => this.#listedSuiteOf(child);
    const { flips } = this.#switches;
    const canSwitch = flips.some((child) => this.#switches.isSwitchable(child));
    return instructionsFor({ children, agents: this.#agents, suiteOf, canSwitch });
  }

  get active(): readonly string[] {
    return this.#switches.active;
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
    const flips = this.#switches.flips.map(({ name }) => name);
    const isListed = (config: ChildConfig) => this.#isListedAsSuite(config);
    // Stand-ins for direct servers don't count: the other suites must not change with them.
    const isLoaded =
      children.filter((config) => config.show !== 'direct' && isListed(config)).length <=
      MOST_LOADED;
    return [
      ...(flips.length > 0 ? createGatewayTools(flips, isStatic) : []),
      ...suites.listTools(isListed, isLoaded),
      ...[...this.#own().values()].map(({ config, tool }) => {
        const own = isStatic ? withoutExecution(tool) : tool;
        return config.show === 'flip' ? withAlwaysLoad(own) : own;
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

  ask(method: string, params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    const { children, pool } = this.#parts;
    if (method.startsWith('tasks/')) return askTask(children, pool, method, params, options);
    return this.#parts.library.ask(method, params, options);
  }

  callTool(call: ToolCall): Promise<Verbatim> {
    const answer = this.#callChild(call) ?? this.#switches.call(call);
    if (!answer)
      throw unknownTool(call.name, this.#knownNames(), this.#switches.hintFor(call.name));
    return answer.catch((error: unknown) => {
      this.#switches.dropFailed();
      throw error;
    });
  }

  close(): void {
    this.#events.onClose();
  }

  /** Takes over a new configuration. What is not flip any more is not switched on either. */
  update(parts: ViewParts, before: Shown): void {
    this.#parts = parts;
    this.#switches.dropOthers();
    this.#changed();
    const after = this.shown();
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      if (after[kind] !== before[kind]) this.#audience.announceSoon(kind);
    }
  }

  /** All that is shown, as texts that can be compared. */
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

  /** A child's suite has other annotations now. */
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
    this.#uris = uris;
    await this.#events.onWatch();
  }

  setLogLevel(level: LogLevel): void {
    if (level === this.#logLevel) return; // a modern host says it with every call
    this.#logLevel = level;
    this.#events.onLogLevel();
  }

  dropFailed(): void {
    this.#switches.dropFailed();
  }

  /** A child has ended by itself. */
  lost(childName: string): void {
    this.#switches.drop(childName);
  }

  /** The answer of the child or agent that the call is for; undefined if it is for none. */
  #callChild(call: ToolCall): Promise<Verbatim> | undefined {
    const { pool, suites, agents } = this.#parts;
    if (suites.has(call.name)) {
      return suites.callTool(call, this.#readOnlySuites.has(call.name));
    }
    if (agents.has(call.name)) {
      return (this.#agents.has(call.name) ? this.#agents : agents).callTool(call);
    }
    const own = this.#own().get(call.name) ?? this.#assistantToolOf(call.name);
    return own && callSubtool(pool, own.config, call, own.subtool, call.args, 'tool');
  }

  /** The tool of an assistant that is called by the name it had before. */
  #assistantToolOf(name: string): OwnTool | undefined {
    const listed = listedNameFor(name);
    const own = listed === undefined ? undefined : this.#own().get(listed);
    return own?.config.behind && own;
  }

  #changed(): void {
    this.#listed = undefined;
  }

  /** The tools that are listed as they are, by the names they are listed under. */
  #own(): Map<string, OwnTool> {
    const { children, pool, suites, agents } = this.#parts;
    this.#listed ??= this.#ownTools.arrange(
      children
        .filter((config) => this.#listsToolsOf(config))
        .map((config) => ({ config, tools: pool.tools(config.name) ?? [] })),
      (name) => suites.has(name) || agents.has(name),
    );
    return this.#listed;
  }

  /** Those that this host is shown. It may call the others as well. */
  get #agents(): AgentTools {
    return this.#parts.agents.shownTo(this.#audience.client);
  }

  #listsToolsOf({ name, show }: ChildConfig): boolean {
    return show === 'direct' || (show === 'flip' && this.#switches.isOn(name));
  }

  #isListedAsSuite({ name, show }: ChildConfig): boolean {
    // Some hosts fetch the list only once, so a server without known tools must be in it.
    if (show === 'direct') return this.#parts.pool.tools(name) === undefined;
    if (show === 'suite') return true;
    if (this.#audience.isStatic) return true;
    const { flipSuites } = this.#parts;
    return flipSuites === 'always' || (flipSuites === 'auto' && this.#audience.neverRelists);
  }

  /** The name of a child's suite, if this host lists it. */
  #listedSuiteOf(config: ChildConfig): string | undefined {
    return this.#isListedAsSuite(config) ? this.#parts.suites.toolFor(config.name) : undefined;
  }

  #knownNames(): string[] {
    return this.#listTools().map(({ name }) => name);
  }
}

/** Otherwise Claude Code would hide tools that appear later until the model searches for them. */
function withAlwaysLoad(tool: Tool): Tool {
  const { _meta: own } = tool;
  return { ...tool, _meta: { ...alwaysLoaded(), ...(isObject(own) && own) } };
}

/** How a tool can be a task in the handshake era, of which the modern one knows nothing. */
function withoutExecution(tool: Tool): Tool {
  if (!Object.hasOwn(tool, 'execution')) return tool;
  const { execution: _handshakeOnly, ...rest } = tool;
  return rest;
}
