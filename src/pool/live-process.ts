// One process of a server, or one connection to it, and the sessions that use it. It combines what they want: the most
// verbose log level, every watched resource, and a pause only if none of them takes the output.
import type { LinkEnd, StopReason } from '../child/link.ts';
import { LinkEnded } from '../child/link.ts';
import type { ServerEvents, StartedServer } from '../child/start.ts';
import { type LogLevel, mostVerbose } from '../mcp/logging.ts';
import { cannotAnswer } from '../mcp/questions.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { Lease, type Move, type Tenant } from './lease.ts';

export interface LiveProcessOptions {
  readonly name: string;
  /** Whether all its sessions are known to have the same roots. */
  readonly hasSameRoots: boolean;
  /** The sessions that wait for the start. They get its output until they have their leases. */
  readonly waiting: () => Iterable<Tenant>;
  /** Variables whose values keep other sessions from sharing it. */
  readonly apart: () => readonly string[];
  /** No session uses it any longer. Returns its end, if it is stopped now. */
  readonly onUnused: (why: StopReason | undefined, lingerMs: number) => Promise<void>;
  /** It has ended on its own. */
  readonly onEnded: () => void;
  /** Only this session may join it from now on. */
  readonly onClosed: (session: number) => void;
  readonly onBug: (error: unknown) => void;
  /** Logs a line of its stderr, whoever it works for. */
  readonly logLine?: ((line: string) => void) | undefined;
}

export class LiveProcess {
  readonly #options: LiveProcessOptions;
  readonly #leases = new Set<Lease>();
  #started: StartedServer | undefined;
  #hasAnswered = false;
  #ended: LinkEnd | undefined;
  #isHeld = false;
  #isPaused = false;
  #logLevel: LogLevel | undefined;
  #watched: ReadonlySet<string> | undefined;
  #hasAskedForRoots = false;
  #lingerMs = 0;
  #isLingering = false;
  #startedAt = 0;

  constructor(options: LiveProcessOptions) {
    this.#options = options;
  }

  /** Called before it starts: its start already reports to the sessions. */
  readonly events: ServerEvents = {
    onNotification: (method, params) => this.#tellAll((one) => one.onNotification(method, params)),
    onStderr: (line) => this.#print(line),
    onBug: (error) => this.#reportBug(error),
    inputSchemaOf: (tool) => {
      for (const { inputSchemaOf } of this.#tenants()) {
        const schema = inputSchemaOf?.(tool);
        if (schema !== undefined) return schema;
      }
      return undefined;
    },
    // Only roots are asked for outside a call, and all sessions here have the same ones.
    askOutside: async (question) => {
      const [first] = this.#tenants();
      if (!first) throw cannotAnswer(question.method);
      return first.askOutside(question);
    },
    onRootsAsked: () => this.#noteRootsAsked(),
    onAsked: () => this.#tellAll((one) => one.onAsked()),
  };

  async begin(start: (events: ServerEvents) => Promise<StartedServer>): Promise<this> {
    this.#started = await start(this.events);
    this.#startedAt = performance.now();
    this.#started.link.ended.then((end) => this.#noteEnded(end)).catch(this.#options.onBug);
    return this;
  }

  get started(): StartedServer {
    if (!this.#started) throw new Error('The process has not started.');
    return this.#started;
  }

  get greeting() {
    return this.started.greeting;
  }

  get pid(): number | undefined {
    return this.started.link.pid;
  }

  /** Whether it has answered anything to anyone. */
  get hasAnswered(): boolean {
    return this.#hasAnswered || [...this.#leases].some(({ user }) => user?.hasAnswered);
  }

  get sessions(): number {
    return this.#leases.size;
  }

  get uptimeMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** The numbers of the sessions that use it, and of those with calls in flight. */
  get users(): number[] {
    return [...this.#leases].map(({ tenant }) => tenant.session);
  }

  get busyUsers(): number[] {
    return [...this.#leases].filter(({ isBusy }) => isBusy).map(({ tenant }) => tenant.session);
  }

  /** Whether it waits for another session. */
  get isLingering(): boolean {
    return this.#isLingering;
  }

  get apart(): readonly string[] {
    return this.#options.apart();
  }

  /** Whether a session is behind, so that every session reports when its calls start and end. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether its output isn't read. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  get isBusy(): boolean {
    return [...this.#leases].some(({ isBusy }) => isBusy);
  }

  /** The strictest limit of its sessions. */
  get maxMemoryMb(): number | undefined {
    const limits = [...this.#leases].flatMap(({ tenant }) => tenant.maxMemoryMb ?? []);
    return limits.length === 0 ? undefined : Math.min(...limits);
  }

  stop(): Promise<void> {
    return this.started.link.stop();
  }

  join(tenant: Tenant): Lease {
    const lease = new Lease(this, tenant);
    if (this.#ended) lease.noteEnd(this.#ended);
    else this.#leases.add(lease);
    this.#isLingering = false;
    this.#lingerMs = Math.max(this.#lingerMs, tenant.lingerMs);
    if (this.#isPaused) this.balance();
    return lease;
  }

  /** Its other sessions don't notice. */
  async leave(lease: Lease, why: StopReason | undefined): Promise<void> {
    if (!this.#leases.delete(lease)) return this.stop(); // it has ended
    this.#hasAnswered ||= lease.user?.hasAnswered ?? false;
    if (this.#leases.size === 0 && this.#lingerMs === 0) {
      this.#leases.add(lease); // it gets to know how the process ends
      return this.#options.onUnused(why, 0);
    }
    const { peer } = this.started.link;
    const end: LinkEnd = { kind: 'released' };
    peer.requests.abandon(lease, new LinkEnded(end), 'The session has ended.');
    lease.noteEnd(end);
    this.balance();
    this.updateLogLevel();
    this.#watchAll().catch(() => {}); // it may no longer have the resource
    if (this.#leases.size > 0) return;
    this.#isLingering = true;
    return this.#options.onUnused(why, this.#lingerMs);
  }

  /** Makes all sessions use another process. */
  moveAll(move: Move): void {
    this.#lingerMs = 0;
    const leases = [...this.#leases]; // they leave meanwhile
    for (const lease of leases) lease.tell(({ onMoved }) => onMoved(move));
  }

  /** Reads its output, unless all sessions it works for are behind. Without calls, news go to every session. */
  balance(): void {
    if (this.#ended) return;
    const leases = [...this.#leases];
    const isHeld = leases.some(({ isPaused }) => isPaused);
    if (isHeld !== this.#isHeld) {
      this.#isHeld = isHeld;
      // Each of them balances itself, and so calls this again.
      for (const lease of leases) lease.tell(({ onHeld }) => onHeld());
    }
    const busy = leases.filter(({ isBusy }) => isBusy);
    const takers = busy.length > 0 ? busy : leases;
    const isPaused = isHeld && takers.every((lease) => lease.isPaused);
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.started.link.pause();
    else this.started.link.resume();
  }

  updateLogLevel(): void {
    const level = mostVerbose([...this.#leases].map(({ logLevel }) => logLevel));
    // The protocol can't turn logging off.
    if (level === undefined || level === this.#logLevel) return;
    this.#logLevel = level;
    this.started.conversation.setLogLevel(level);
  }

  async watch(lease: Lease, uris: ReadonlySet<string>): Promise<void> {
    const before = lease.watched;
    lease.watched = uris;
    try {
      await this.#watchAll();
    } catch (error) {
      // Another session's subscriptions must not fail because of these.
      if (lease.watched === uris) {
        lease.watched = new Set([...uris].filter((uri) => before.has(uri)));
      }
      throw error;
    }
  }

  /** The roots of one session have changed. Others that share the server have different ones from now on. */
  changeRoots(lease: Lease): void {
    if (this.#leases.size === 1) {
      this.#options.onClosed(lease.tenant.session);
      this.started.conversation.notify('notifications/roots/list_changed');
    } else if (this.#hasAskedForRoots) {
      this.#moveForRoots(lease);
    }
  }

  async #watchAll(): Promise<void> {
    const all = new Set<string>();
    for (const { watched } of this.#leases) for (const uri of watched) all.add(uri);
    const before = this.#watched;
    if (before && all.size === before.size && [...all].every((uri) => before.has(uri))) return;
    this.#watched = all;
    try {
      await this.started.conversation.watch(all);
    } catch (error) {
      this.#watched = undefined; // some of them are missing
      throw error;
    }
  }

  /** The server keeps the roots of the session it asks, so only that session, and others with the same, may use it. */
  #noteRootsAsked(): Verbatim | undefined {
    this.#tellAll((tenant) => tenant.onRootsAsked());
    const leases = [...this.#leases];
    // The question goes to the session with a call in flight.
    const asked = leases.find(({ isBusy }) => isBusy) ?? leases[0];
    const [first] = this.#tenants();
    const owner = asked?.tenant ?? first;
    if (!this.#hasAskedForRoots && !this.#options.hasSameRoots) {
      if (owner) this.#options.onClosed(owner.session);
      for (const lease of leases) if (lease !== asked) this.#moveForRoots(lease);
    }
    this.#hasAskedForRoots = true;
    return owner?.roots;
  }

  #moveForRoots(lease: Lease): void {
    const message = `Server "${this.#options.name}" asked for roots, so sessions with other roots use another process.`;
    lease.tell(({ onMoved }) => onMoved({ why: 'roots', message }));
  }

  #noteEnded(end: LinkEnd): void {
    this.#ended = end;
    const leases = [...this.#leases];
    this.#hasAnswered = this.hasAnswered;
    this.#leases.clear();
    this.#options.onEnded();
    for (const lease of leases) lease.noteEnd(end);
  }

  /** To the sessions it works for, and to all of them if it works for none. */
  #print(line: string): void {
    this.#options.logLine?.(line);
    const busy = [...this.#leases].filter(({ isBusy }) => isBusy);
    const readers = busy.length > 0 ? busy.map(({ tenant }) => tenant) : [...this.#tenants()];
    const files = new Set<string>();
    for (const { stderr, onBug } of readers) {
      const { file, write } = stderr;
      if (file !== undefined && files.has(file)) continue;
      if (file !== undefined) files.add(file);
      try {
        write(line);
      } catch (error) {
        onBug(error);
      }
    }
  }

  #reportBug(error: unknown): void {
    const [first] = this.#tenants();
    (first?.onBug ?? this.#options.onBug)(error);
  }

  #tellAll(tell: (tenant: Tenant) => void): void {
    const tenants = [...this.#tenants()];
    for (const tenant of tenants) {
      try {
        tell(tenant);
      } catch (error) {
        tenant.onBug(error);
      }
    }
  }

  #tenants(): Iterable<Tenant> {
    if (this.#leases.size === 0) return this.#options.waiting();
    return [...this.#leases].map(({ tenant }) => tenant);
  }
}
