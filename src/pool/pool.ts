// The set of servers: found by name, warmed up and stopped together, and replaced when the configuration changes.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { startedGroups } from '../base/process.ts';
import { WorkWatch } from '../base/process-table.ts';
import { nearest } from '../base/text.ts';
import { settleWithin } from '../base/time.ts';
import type { Child } from '../child/child.ts';
import { type ChildConfig, isOff } from '../config/config.ts';
import { type Hints, hintsOf, weakestHints } from '../mcp/annotations.ts';
import type { RefusedTool } from '../mcp/clean-lists.ts';
import type { Era } from '../mcp/eras.ts';
import type { LogLevel } from '../mcp/logging.ts';
import { parseTools, type Tool } from '../mcp/tools.ts';
import type { CatalogEntry, Lists } from './catalog.ts';
import { Flow } from './flow.ts';
import { type ChildReport, Slot, type SlotParts } from './slot.ts';
import { type WarmUpOptions, warmUp } from './warm-up.ts';

export interface PoolParts extends Omit<SlotParts, 'flow' | 'after'> {
  /** Replaces the measurement of how many processes are busy; see WarmUpOptions. */
  readonly countWorking?: WarmUpOptions['countWorking'];
}

export class Pool implements AsyncDisposable {
  #children: ReadonlyMap<string, ChildConfig>;
  /** Created on first use: a host usually uses a few of hundreds of servers. */
  readonly #slots = new Map<string, Slot>();
  /** Slots no longer in the configuration that are still shutting down. */
  readonly #retired = new Map<Slot, Promise<void>>();
  readonly #parts: PoolParts;
  /** Tracks which hosts keep up with their messages. */
  readonly flow = new Flow(() => {
    for (const slot of this.#allSlots()) slot.balance();
  });
  #logLevel: LogLevel | undefined;
  #isClosed = false;

  constructor(children: ReadonlyMap<string, ChildConfig>, parts: PoolParts) {
    this.#children = children;
    this.#parts = parts;
  }

  /** The running child, or its start. Cancelling the use doesn't cancel the start. */
  use(name: string, cancellation: Cancellation, era?: Era): Child | Promise<Child> {
    if (this.#isClosed) throw shuttingDown();
    return this.#slot(name).use(cancellation, era);
  }

  /** A server's tools as last listed; undefined if it never listed them. */
  tools(name: string): readonly Tool[] | undefined {
    const { tools } = this.#slot(name).lists;
    return tools && parseTools(tools);
  }

  /** A cheap check whether a server's tools may be known. */
  mayKnow(name: string): boolean {
    const config = this.#children.get(name);
    return config !== undefined && this.#parts.catalog.mayKnow(config);
  }

  /**
   * The hints of a server's tools by name; undefined if it never listed them. Claims that grant more than the user has
   * accepted don't count.
   */
  hints(name: string): ReadonlyMap<string, Hints> | undefined {
    const tools = this.tools(name);
    return tools && new Map(tools.map((tool) => [tool.name, this.hintsInForce(name, tool)]));
  }

  /** The hints of one tool; undefined if it isn't listed. If a server lists a name twice, the weaker ones count. */
  toolHints(name: string, tool: string): Hints | undefined {
    const same = this.tools(name)?.filter((one) => one.name === tool) ?? [];
    return same.length === 0
      ? undefined
      : weakestHints(same.map((one) => this.hintsInForce(name, one)));
  }

  /** Claims that grant more than the user has accepted don't count. */
  hintsInForce(name: string, tool: Tool): Hints {
    return this.heldRights(name, tool.name) ?? hintsOf(tool);
  }

  /** The hints in force of a tool that now claims more than the user has accepted; undefined for other tools. */
  heldRights(name: string, tool: string): Hints | undefined {
    const { heldRights } = this.#slot(name);
    return Object.hasOwn(heldRights, tool) ? heldRights[tool] : undefined;
  }

  /** Changes to a server's tools that the user hasn't accepted yet. */
  changes(name: string): CatalogEntry['changes'] {
    return this.#slot(name).changes;
  }

  /** Makes sure that a running server's lists are known, and as it last announced them. */
  async verify(name: string): Promise<void> {
    await this.#slot(name).verify();
  }

  /** The user has accepted changes. */
  recheck(): void {
    for (const slot of this.#slots.values()) slot.recheck();
  }

  /** Whether a server's tool list contains a secret and stays in memory. */
  areToolsSecret(name: string): boolean {
    return this.#parts.catalog.areToolsSecret(this.#slot(name).config);
  }

  /** Tools that must not be listed or called: they have hidden characters, or are held. */
  refusedTools(name: string): readonly RefusedTool[] {
    return this.#slot(name).refused;
  }

  /** The values that are masked in a server's text; empty if it never ran. */
  secrets(name: string): readonly string[] {
    return this.#slot(name).secrets;
  }

  /** Everything a server has listed. */
  lists(name: string): Lists {
    return this.#slot(name).lists;
  }

  /** Resolves when lists that are being fetched have arrived. */
  async learned(): Promise<void> {
    await Promise.all([...this.#slots.values()].map((slot) => slot.learned()));
  }

  /** Keeps the tools a server has just listed, if its configuration is still current. */
  remember(config: ChildConfig, tools: readonly Tool[]): void {
    if (this.#children.get(config.name) !== config) return;
    this.#slot(config.name).remember('tools', tools);
  }

  /** Replaces the set of a server's watched resources. */
  watch(name: string, uris: ReadonlySet<string>): Promise<void> {
    return this.#slot(name).watch(uris);
  }

  /** Makes all children send log messages from this level on. */
  setLogLevel(level: LogLevel | undefined): void {
    this.#logLevel = level;
    for (const slot of this.#slots.values()) slot.setLogLevel(level);
  }

  /** Notifies all running children. */
  notifyAll(method: string): void {
    for (const slot of this.#slots.values()) slot.notify(method);
  }

  report(name: string): ChildReport {
    return this.#slot(name).report;
  }

  /** Why a child is in the state `error`. */
  errorOf(name: string): Error | undefined {
    return this.#slot(name).error;
  }

  /** Starts a child and lists its tools. */
  async warm(name: string): Promise<void> {
    if (this.#isClosed) throw shuttingDown();
    return this.#slot(name).warm();
  }

  /** Warms up many, a few at a time. A failure only shows in that child's state. */
  async warmAll(names: Iterable<string>): Promise<void> {
    const watch = new WorkWatch();
    const { countWorking = () => watch.countWorking(startedGroups()) } = this.#parts;
    const start = async (name: string): Promise<void> => {
      if (this.#isClosed || !this.#children.has(name)) return;
      await this.#slot(name)
        .warm()
        .catch(() => {}); // the slot keeps the error
    };
    await warmUp(names, { start, countWorking });
  }

  /** Applies a new configuration. Stops children that were changed, turned off or removed. */
  update(children: ReadonlyMap<string, ChildConfig>): void {
    this.#children = children;
    for (const [name, slot] of new Map(this.#slots)) {
      const config = children.get(name);
      if (config && !isOff(config) && isSameProcess(slot.config, config)) {
        slot.config = config;
        continue;
      }
      const retired = this.#retire(slot);
      this.#slots.delete(name);
      if (!config) continue;
      // Two of the same server would get in each other's way. A process that won't exit isn't waited for.
      const after = settleWithin(retired, 3 * config.timeouts.stopMs);
      this.#slots.set(name, this.#createSlot(config, after));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#allSlots().map((slot) => slot.close(shuttingDown())));
    await this.#parts.catalog.written();
  }

  #slot(name: string): Slot {
    const present = this.#slots.get(name);
    if (present) return present;
    const config = this.#children.get(name);
    if (!config) throw unknownChild(name, [...this.#children.keys()]);
    const slot = this.#createSlot(config);
    this.#slots.set(name, slot);
    return slot;
  }

  /** Including retired ones, which may still have answers to deliver. */
  #allSlots(): Slot[] {
    return [...this.#slots.values(), ...this.#retired.keys()];
  }

  #retire(slot: Slot): Promise<void> {
    const retired = slot.retire(reconfigured(slot.config));
    this.#retired.set(slot, retired);
    retired.finally(() => this.#retired.delete(slot)).catch(this.#parts.onBug);
    return retired;
  }

  #createSlot(config: ChildConfig, after?: Promise<void>): Slot {
    const slot = new Slot(config, { ...this.#parts, flow: this.flow, after });
    slot.setLogLevel(this.#logLevel);
    return slot;
  }
}

/** Whether a running child can stay when its configuration changes. */
function isSameProcess(one: ChildConfig, other: ChildConfig): boolean {
  return JSON.stringify(processPartOf(one)) === JSON.stringify(processPartOf(other));
}

/** Everything that affects the process, and nothing about how it is shown. */
function processPartOf(config: ChildConfig): unknown {
  const { command, remote, cwd, timeouts, messageBytes, messageShape } = config;
  const { environment, stderr, framing, protocolVersion, problem, behind, sandbox } = config;
  const { passEnv, share, lingerMs, maxMemoryMb } = config;
  return [
    [command, remote, cwd, timeouts, messageBytes, messageShape],
    [environment, stderr, framing, protocolVersion, problem?.text, sandbox],
    [passEnv, share, lingerMs, maxMemoryMb],
    // An assistant reads its configuration, including its server's rules, when it starts.
    behind && [processPartOf(behind), behind.assistant, behind.role, behind.expose, behind.rules],
    behind && [behind.description, behind.keywords, behind.idleMs],
  ];
}

export function unknownChild(name: string, names: readonly string[]): SwitchboardError {
  const near = nearest(name, names);
  const known = names.slice(0, 20).join(', ');
  const none = 'No servers are configured. Add one under "mcpServers" in switchboard.config.json.';
  return new SwitchboardError('CHILD_UNKNOWN', `No server is named "${name}".`, {
    hint:
      near.length > 0
        ? `Did you mean ${near.join(' or ')}?`
        : known
          ? `Known servers: ${known}.`
          : none,
  });
}

function reconfigured({ name }: ChildConfig): SwitchboardError {
  return new SwitchboardError('CANCELLED', `The configuration of server "${name}" has changed.`, {
    hint: 'Call it again.',
  });
}

function shuttingDown(): SwitchboardError {
  return new SwitchboardError('CANCELLED', 'Switchboard is shutting down.');
}
