// All children as hosts are shown them, and the views that sessions have of them. What the views
// share is here: the suites, and the news from the pool, which each view turns into what it means
// for its session.
import type { Log } from '../base/log.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import type { Pool } from '../pool/pool.ts';
import { Suites } from './suites.ts';
import type { Audience, Surface } from './surface.ts';
import { View } from './view.ts';

export class Board {
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #views = new Set<View>();
  #config: Config;
  #suites: Suites;
  #hasBegun = false;

  constructor(config: Config, pool: Pool, log: Log) {
    this.#pool = pool;
    this.#log = log;
    this.#config = config;
    this.#suites = this.#createSuites();
  }

  get suites(): Suites {
    return this.#suites;
  }

  /** Opens the view of one session. */
  open(audience: Audience): Surface {
    const view = new View(this.#parts(), audience, () => this.#views.delete(view));
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
    void this.#warmDue();
  }

  /** Takes over a new configuration, after the pool has. */
  update(config: Config): void {
    this.#config = config;
    this.#suites = this.#createSuites();
    for (const view of this.#views) view.update(this.#parts());
    if (this.#hasBegun) void this.#warmDue();
  }

  toolsChanged(childName: string): void {
    for (const view of this.#views) view.toolsChanged(childName);
  }

  lost(childName: string): void {
    for (const view of this.#views) view.lost(childName);
  }

  /** Whether any session has switched a child on. */
  isActive(childName: string): boolean {
    return [...this.#views].some((view) => view.active.includes(childName));
  }

  #parts() {
    const children = shownChildren(this.#config);
    const { flipSuites } = this.#config;
    return { children, suites: this.#suites, pool: this.#pool, flipSuites };
  }

  #createSuites(): Suites {
    return new Suites(shownChildren(this.#config), this.#pool, this.#log);
  }

  async #warmDue(): Promise<void> {
    await this.#pool.warmAll(this.#dueChildren());
    for (const view of this.#views) view.dropFailed();
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
