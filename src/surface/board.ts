// Everything hosts can see, and one view per session. All views share the suites, the agents and the path to
// servers. The pool's events go to each view, which decides what they mean for its session.
import type { ListedAgent } from '../agents/agent.ts';
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { Log } from '../base/log.ts';
import type { CallContext } from '../calls/call.ts';
import { Calls, type CallsParts } from '../calls/calls.ts';
import { usableTools } from '../calls/usable.ts';
import type { ListKind } from '../child/list-pages.ts';
import { type ChildConfig, type Config, isOff } from '../config/config.ts';
import type { Question } from '../mcp/caller.ts';
import { mostVerbose } from '../mcp/logging.ts';
import { cannotAnswer } from '../mcp/questions.ts';
import type { Pool } from '../pool/pool.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { type Agents, AgentTools, nameAgents } from './agent-tools.ts';
import { Claims } from './claims.ts';
import { Library } from './library.ts';
import { isReservedName, modeOf } from './modes/table.ts';
import { type OwnTool, OwnTools } from './own-tools.ts';
import { Suites } from './suites.ts';
import type { Audience, Surface } from './surface.ts';
import { View, type ViewParts } from './view.ts';

/** What a board gets from the program around it. */
export interface BoardParts extends Pick<CallsParts, 'programs'> {
  /** Asks the user about a pending server. The board is updated before it resolves. */
  readonly approve?: ((child: ChildConfig, context: CallContext) => Promise<void>) | undefined;
}

export class Board {
  /** How every request reaches a server. */
  readonly calls: Calls;
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #claims: Claims;
  readonly #approve: ViewParts['approve'];
  readonly #views = new Set<View>();
  #config: Config;
  #suites: Suites;
  #agents: AgentTools;
  readonly #library: Library;
  /** Names that agents can't have. */
  readonly #taken = { has: (name: string) => this.isTaken(name) };
  #hasBegun = false;
  #watchedNames: ReadonlySet<string> = new Set();

  constructor(
    config: Config,
    pool: Pool,
    log: Log,
    agents: Agents,
    claims = new Claims(),
    { programs, approve }: BoardParts = {},
  ) {
    this.#approve =
      approve &&
      (async (child, context) => {
        await approve(child, context);
        return this.#parts();
      });
    this.#pool = pool;
    this.#claims = claims;
    this.#log = log;
    this.#config = config;
    this.calls = new Calls(config, { pool, log, programs });
    this.#suites = this.#createSuites();
    this.#agents = this.#createAgentTools(agents);
    this.#library = new Library(shownChildren(config), {
      pool,
      calls: this.calls,
      onConflict: (conflict) => log.warn(conflict),
    });
  }

  get suites(): Suites {
    return this.#suites;
  }

  /** Opens the view of one session. */
  open(audience: Audience): Surface {
    const view = new View(this.#parts(), audience, {
      onClose: () => {
        this.#views.delete(view);
        this.#watchOn();
        this.#listenForAll();
      },
      onWatch: () => this.#watchAll(),
      onLogLevel: () => this.#listenForAll(),
    });
    this.#views.add(view);
    return view;
  }

  /** Starts eager servers, and those whose tools must be known first. The second call does nothing. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#checkClaims();
    this.#warm();
  }

  /** Applies a new configuration, here and in the pool. */
  update(config: Config, agents: Agents): void {
    const before = [...this.#views].map((view) => [view, view.shown()] as const);
    this.#pool.update(config.children);
    this.calls.update(config);
    this.#config = config;
    this.#suites = this.#createSuites();
    this.#agents = this.#createAgentTools(agents);
    this.#library.update(shownChildren(config));
    for (const [view, shown] of before) view.update(this.#parts(), shown);
    this.#watchOn();
    if (this.#hasBegun) this.#warm();
  }

  /** Whether a tool name is taken by a mode or a suite. */
  isTaken(toolName: string): boolean {
    return isReservedName(toolName) || this.#suites.has(toolName);
  }

  /** Agents by the names hosts know them by. */
  nameAgents(listed: readonly ListedAgent[]): ReadonlyMap<string, ListedAgent> {
    return nameAgents(listed, this.#taken);
  }

  /** The user has accepted changes: lists servers again, now or when they are used. */
  recheck(): void {
    this.#pool.recheck();
    if (this.#hasBegun) this.#warm();
  }

  listChanged(childName: string, kind: ListKind): void {
    if (kind === 'tools') this.#learnClaims(childName);
    else this.#library.learn(childName);
    this.#tell((view) => view.listChanged(childName, kind));
    // Only now may it be known who owns a watched resource.
    if (kind === 'resources' || kind === 'templates') this.#watchOn();
  }

  resourceUpdated(childName: string, params: Verbatim): void {
    this.#tell((view) => view.resourceUpdated(childName, params));
  }

  /** Asks the only host. With several, it's unclear which one is meant. */
  async askOutside(question: Question): Promise<Verbatim> {
    const [ask, ...others] = [...this.#views].flatMap((view) => view.askHost ?? []);
    if (!ask || others.length > 0) throw cannotAnswer(question.method);
    return ask(question);
  }

  lost(childName: string): void {
    this.#tell((view) => view.lost(childName));
  }

  /** The input schema of a server's own tool that every session lists. */
  schemaOf(toolName: string): unknown {
    return this.alwaysListed().get(toolName)?.tool['inputSchema'];
  }

  /** Servers' own tools that every session lists, by their names there, and optionally those of another server. */
  alwaysListed(another?: ChildConfig): ReadonlyMap<string, OwnTool> {
    const own = new OwnTools();
    const arrange = (isListed: (config: ChildConfig) => boolean) =>
      own.arrange(
        [...this.#config.children.values()]
          .filter(isListed)
          .map((config) => ({ config, tools: usableTools(config, this.#pool) })),
        (name) => this.isTaken(name),
      );
    const always = arrange((config) => modeOf(config).ownTools === 'always');
    // Tools that are listed keep their names when others join them.
    return another
      ? arrange((config) => modeOf(config).ownTools === 'always' || config === another)
      : always;
  }

  /** Whether any session has switched a server on. */
  isActive(childName: string): boolean {
    return [...this.#views].some((view) => view.active.includes(childName));
  }

  /** Servers send everything that any session wants; each session filters for itself. */
  #listenForAll(): void {
    this.#pool.setLogLevel(mostVerbose([...this.#views].map(({ logLevel }) => logLevel)));
  }

  /** Subscribes to every resource that any session watches. */
  async #watchAll(): Promise<void> {
    const wanted = new Map<string, Set<string>>();
    for (const view of this.#views) {
      for (const [childName, uris] of view.watched) {
        const all = wanted.get(childName) ?? new Set();
        for (const uri of uris) all.add(uri);
        wanted.set(childName, all);
      }
    }
    const names = new Set([...this.#watchedNames, ...wanted.keys()]);
    this.#watchedNames = new Set(wanted.keys());
    const known = [...names].filter((name) => this.#config.children.has(name));
    await Promise.all(known.map((name) => this.#pool.watch(name, wanted.get(name) ?? new Set())));
  }

  /** In the background: a server that refuses isn't asked again. */
  #watchOn(): void {
    this.#watchAll().catch(() => {});
  }

  #parts(): ViewParts {
    const children = shownChildren(this.#config);
    const isAnyWaiting = children.some(({ problem }) => problem?.code === 'APPROVAL_NEEDED');
    return {
      config: this.#config,
      children,
      suites: this.#suites,
      agents: this.#agents,
      library: this.#library,
      pool: this.#pool,
      calls: this.calls,
      ...(isAnyWaiting && { approve: this.#approve }),
    };
  }

  #createSuites(): Suites {
    return new Suites(shownChildren(this.#config), {
      pool: this.#pool,
      calls: this.calls,
      log: this.#log,
      claims: this.#claims,
    });
  }

  #createAgentTools(agents: Agents): AgentTools {
    return new AgentTools(this.#config, agents, this.#taken);
  }

  /** One at a time: if one session fails, the others still get the news. */
  #tell(tell: (view: View) => void): void {
    const guarded = guard(this.#reportBug, tell);
    for (const view of this.#views) guarded(view);
  }

  readonly #reportBug = (error: unknown): void => this.#log.error(describeBug(error));

  /** Another program may have updated the catalog since the claims were stored. */
  #checkClaims(): void {
    if (!this.#claims.becomeCurrent()) return;
    for (const { name } of shownChildren(this.#config)) this.#learnClaims(name);
  }

  #learnClaims(childName: string): void {
    if (!this.#suites.learn(childName)) return;
    this.#tell((view) => view.suiteChanged(childName));
  }

  #warm(): void {
    this.#warmDue().catch(this.#reportBug);
  }

  async #warmDue(): Promise<void> {
    await this.#pool.warmAll(this.#dueChildren());
    this.#tell((view) => view.checkFailures());
  }

  #dueChildren(): string[] {
    return shownChildren(this.#config)
      .filter((config) => {
        const { name, start, problem, rules } = config;
        if (rules?.refusal) return false;
        const isEager = start === 'eager';
        if (isEager && this.#pool.report(name).state !== 'ready') return true;
        const needsTools = modeOf(config).needsTools || this.isActive(name);
        if (problem || (!isEager && !needsTools)) return false;
        return this.#pool.tools(name) === undefined;
      })
      .map(({ name }) => name);
  }
}

function shownChildren({ children }: Config): ChildConfig[] {
  return [...children.values()].filter((child) => !isOff(child));
}
