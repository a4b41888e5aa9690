// All children and agents as hosts are shown them, and the views that sessions have of them. What the
// views share is here: the suites, the agents, and the news from the pool, which each view turns into
// what it means for its session.
import type { ListedAgent } from '../agents/agent.ts';
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { Log } from '../base/log.ts';
import type { ListKind } from '../child/child.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import type { Question } from '../mcp/caller.ts';
import { mostTalkative } from '../mcp/logging.ts';
import { cannotAnswer } from '../mcp/questions.ts';
import type { Pool } from '../pool/pool.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { type Agents, AgentTools, nameAgents } from './agent-tools.ts';
import { Claims } from './claims.ts';
import { isGatewayName } from './gateway.ts';
import { Library } from './library.ts';
import { Suites } from './suites.ts';
import type { Audience, Surface } from './surface.ts';
import { View } from './view.ts';

export class Board {
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #claims: Claims;
  readonly #views = new Set<View>();
  #config: Config;
  #suites: Suites;
  #agents: AgentTools;
  readonly #library: Library;
  #hasBegun = false;
  #watchedNames: ReadonlySet<string> = new Set();

  constructor(config: Config, pool: Pool, log: Log, agents: Agents, claims = new Claims()) {
    this.#pool = pool;
    this.#claims = claims;
    this.#log = log;
    this.#config = config;
    this.#suites = this.#createSuites();
    this.#agents = this.#createAgentTools(agents);
    this.#library = new Library(shownChildren(config), pool, (conflict) => log.warn(conflict));
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

  /**
   * Starts what is to run without being asked for, and what is to be listed by tools that are not
   * known yet. The second call does nothing.
   */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#checkClaims();
    this.#warm();
  }

  /** Takes over a new configuration, together with the pool. */
  update(config: Config, agents: Agents): void {
    const before = [...this.#views].map((view) => [view, view.shown()] as const);
    this.#pool.update(config.children);
    this.#config = config;
    this.#suites = this.#createSuites();
    this.#agents = this.#createAgentTools(agents);
    this.#library.update(shownChildren(config));
    for (const [view, shown] of before) view.update(this.#parts(), shown);
    this.#watchOn();
    if (this.#hasBegun) this.#warm();
  }

  /** Agents by the names that hosts know them by. */
  nameAgents(listed: readonly ListedAgent[]): ReadonlyMap<string, ListedAgent> {
    return nameAgents(listed, this.#takenNames());
  }

  listChanged(childName: string, kind: ListKind): void {
    if (kind === 'tools') this.#learnClaims(childName);
    else this.#library.learn(childName);
    this.#tell((view) => view.listChanged(childName, kind));
    // Whose a resource is that somebody watches may be known only now.
    if (kind === 'resources' || kind === 'templates') this.#watchOn();
  }

  resourceUpdated(childName: string, params: Verbatim): void {
    this.#tell((view) => view.resourceUpdated(childName, params));
  }

  /** Asks the one host there is; where there are several, nobody can say which is meant. */
  async askOutside(question: Question): Promise<Verbatim> {
    const [ask, ...others] = [...this.#views].flatMap((view) => view.askHost ?? []);
    if (!ask || others.length > 0) throw cannotAnswer(question.method);
    return ask(question);
  }

  lost(childName: string): void {
    this.#tell((view) => view.lost(childName));
  }

  /** What a tool takes that is listed as it is, for every session. */
  schemaOf(toolName: string): unknown {
    for (const { name, show } of this.#config.children.values()) {
      const tools = show === 'direct' ? this.#pool.tools(name) : undefined;
      const tool = tools?.find((candidate) => candidate.name === toolName);
      if (tool) return tool['inputSchema'];
    }
    return undefined;
  }

  /** Whether any session has switched a child on. */
  isActive(childName: string): boolean {
    return [...this.#views].some((view) => view.active.includes(childName));
  }

  /** Children send all that anybody wants to hear; each session hears what it wants. */
  #listenForAll(): void {
    this.#pool.setLogLevel(mostTalkative([...this.#views].map(({ logLevel }) => logLevel)));
  }

  /** Has each child tell of the resources that any session watches. */
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

  /** The same without anybody who waits for it: a child that refuses is not asked again. */
  #watchOn(): void {
    this.#watchAll().catch(() => {});
  }

  #parts() {
    const children = shownChildren(this.#config);
    const { flipSuites } = this.#config;
    return {
      children,
      suites: this.#suites,
      agents: this.#agents,
      library: this.#library,
      pool: this.#pool,
      flipSuites,
    };
  }

  #createSuites(): Suites {
    return new Suites(shownChildren(this.#config), this.#pool, this.#log, this.#claims);
  }

  #createAgentTools(agents: Agents): AgentTools {
    return new AgentTools(this.#config.agents, agents, this.#takenNames());
  }

  /** Names that agents cannot have. */
  #takenNames(): { has(name: string): boolean } {
    const suites = this.#suites;
    return { has: (name) => isGatewayName(name) || suites.has(name) };
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
    this.#tell((view) => view.dropFailed());
  }

  #dueChildren(): string[] {
    return shownChildren(this.#config)
      .filter(({ name, start, show, problem }) => {
        const isEager = start === 'eager';
        if (isEager && this.#pool.report(name).state !== 'ready') return true;
        const isListed = show === 'direct' || this.isActive(name);
        if (problem || (!isEager && !isListed)) return false;
        return this.#pool.tools(name) === undefined;
      })
      .map(({ name }) => name);
  }
}

function shownChildren({ children }: Config): ChildConfig[] {
  return [...children.values()].filter(({ show }) => show !== 'off');
}
