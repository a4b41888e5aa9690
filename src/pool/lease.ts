// One session's share of a server's process: the link and the conversation as this session sees them. Requests go
// straight through; everything that affects the other sessions goes through the process, which combines what all of
// them want.
import { guard } from '../base/guard.ts';
import type { Mask } from '../base/secrets.ts';
import type { ChildRequest, Conversation } from '../child/conversation/conversation.ts';
import type { Greeting } from '../child/handshake.ts';
import type { Link, LinkEnd, StopReason } from '../child/link.ts';
import type { ServerEvents } from '../child/start.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Peer } from '../rpc/peer.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { LiveProcess } from './live-process.ts';

/**
 * Why a session has to use another process: this one needs too much memory, works for other roots, or the user has
 * stopped or restarted it.
 */
export interface Move {
  readonly why: 'memory' | 'roots' | 'stopped' | 'restarted';
  /** A sentence for the log. */
  readonly message: string;
}

/** A session, from the process's point of view. */
export interface Tenant
  extends Pick<ServerEvents, 'onNotification' | 'onBug' | 'inputSchemaOf' | 'askOutside'> {
  /** Tells sessions apart. */
  readonly session: number;
  readonly stderr: StderrSink;
  /** Keep the process for this many milliseconds after its last session. */
  readonly lingerMs: number;
  readonly maxMemoryMb: number | undefined;
  /** Another session holds up the server's output, or no longer does. */
  readonly onHeld: () => void;
  /** From now on, the session has to use another process. */
  readonly onMoved: (move: Move) => void;
  /** The roots of a session with several hosts, which aren't asked. */
  readonly roots?: Verbatim | undefined;
  /** The server asks for its host's roots. */
  readonly onRootsAsked: () => void;
  /** The server asks a question during a call. */
  readonly onAsked: () => void;
}

/** Where a server's stderr goes for one session. */
export interface StderrSink {
  readonly write: (line: string) => void;
  /** Several sessions can have the same file, which gets each line once. */
  readonly file?: string | undefined;
}

/** The part of a session that uses the lease. */
export interface LeaseUser {
  readonly hasAnswered: boolean;
  readonly parties: readonly object[];
}

export class Lease
  implements Link, Pick<Conversation, 'request' | 'watch' | 'setLogLevel' | 'notify'>
{
  readonly greeting: Greeting;
  readonly peer: Peer;
  readonly mask: Mask;
  readonly ended: Promise<LinkEnd>;
  readonly tenant: Tenant;
  readonly #process: LiveProcess;
  readonly #conversation: Conversation;
  readonly #link: Link;
  #end: (end: LinkEnd) => void = () => {};
  #stopping: Promise<void> | undefined;
  /** Set by the session once it can use the server. */
  user: LeaseUser | undefined;
  /** All hosts of the session are behind. */
  isPaused = false;
  logLevel: LogLevel | undefined;
  watched: ReadonlySet<string> = new Set();

  constructor(process: LiveProcess, tenant: Tenant) {
    const { link, greeting, conversation } = process.started;
    this.#process = process;
    this.#link = link;
    this.#conversation = conversation;
    this.tenant = tenant;
    this.greeting = greeting;
    this.peer = link.peer;
    this.mask = link.mask;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get pid(): number | undefined {
    return this.#link.pid;
  }

  get hasSpoken(): boolean {
    return this.#link.hasSpoken;
  }

  get lastOutput(): string {
    return this.#link.lastOutput;
  }

  get secrets(): readonly string[] {
    return this.#link.secrets;
  }

  /** Whether the session has calls in flight. */
  get isBusy(): boolean {
    return this.user !== undefined && this.user.parties.length > 0;
  }

  get isHeld(): boolean {
    return this.#process.isHeld;
  }

  get sessions(): number {
    return this.#process.sessions;
  }

  get apart(): readonly string[] {
    return this.#process.apart;
  }

  request(request: ChildRequest): Promise<Verbatim> {
    const { roots } = this.tenant;
    return this.#conversation.request(roots ? { ...request, roots } : request);
  }

  /** Roots are the session's own, so only it may have to use another process. */
  notify(method: string, params?: Verbatim): void {
    if (method === 'notifications/roots/list_changed') this.#process.changeRoots(this);
    else this.#conversation.notify(method, params);
  }

  watch(uris: ReadonlySet<string>): Promise<void> {
    return this.#process.watch(this, uris);
  }

  setLogLevel(level: LogLevel | undefined): void {
    this.logLevel = level;
    this.#process.updateLogLevel();
  }

  hide(values: readonly string[]): void {
    this.#link.hide(values);
  }

  endOutput(): void {
    this.#link.endOutput();
  }

  pause(): void {
    this.isPaused = true;
    this.#process.balance();
  }

  resume(): void {
    this.isPaused = false;
    this.#process.balance();
  }

  /** Gives up this session's share. The process stops with the last one. */
  stop(why?: StopReason): Promise<void> {
    this.#stopping ??= this.#process.leave(this, why);
    return this.#stopping;
  }

  /** The process has ended, or this session's share of it. */
  noteEnd(end: LinkEnd): void {
    this.#end(end);
  }

  /** Tells the session something; a bug in handling it is the session's own. */
  tell(tell: (tenant: Tenant) => void): void {
    guard(this.tenant.onBug, tell)(this.tenant);
  }
}
