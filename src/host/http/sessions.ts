// All handshake sessions. Most hosts leave without ending theirs, so idle sessions expire.
import { guard } from '../../base/guard.ts';
import type { Log } from '../../base/log.ts';
import { SESSION_NOT_FOUND } from '../../mcp/eras.ts';
import type { OpenSession } from './exchange.ts';
import { HandshakeSession } from './handshake-session.ts';
import { type HttpRefusal, refusal } from './refusal.ts';
import type { ReplyTimes } from './reply.ts';
import { reportBug } from './report-bug.ts';

export interface SessionsOptions extends ReplyTimes {
  readonly openSession: OpenSession;
  /** Milliseconds without a request or an open stream after which a session ends. */
  readonly idleMs: number;
  readonly log: Log;
}

/** Beyond this, the longest idle session makes room. */
const MOST_SESSIONS = 1_000;
const LOOK_EVERY_MS = 60_000;

const EXPIRED: HttpRefusal = refusal(404, 'The session has ended.', { code: SESSION_NOT_FOUND });

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #onBug: (error: unknown) => void;
  readonly #byId = new Map<string, HandshakeSession>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#onBug = reportBug(options.log);
    const everyMs = Math.min(LOOK_EVERY_MS, Math.max(1, options.idleMs / 2));
    const endIdle = guard(this.#onBug, () => this.#endIdle());
    this.#timer = setInterval(endIdle, everyMs).unref();
  }

  get(id: string): HandshakeSession | undefined {
    const session = this.#byId.get(id);
    if (!session || session.idleMs <= this.#options.idleMs) return session;
    this.end(session);
    return undefined;
  }

  /** A new session; undefined if there are too many and all are in use. */
  open(): HandshakeSession | undefined {
    if (this.#byId.size >= MOST_SESSIONS && !this.#makeRoom()) return undefined;
    const end = guard(this.#onBug, () => this.end(session));
    const session = new HandshakeSession({
      ...this.#options,
      onFailed: () => setImmediate(end), // after its answer is sent
    });
    this.#byId.set(session.id, session);
    return session;
  }

  end(session: HandshakeSession, reason = EXPIRED): void {
    this.#byId.delete(session.id);
    session.close(reason);
  }

  close(reason: HttpRefusal): void {
    clearInterval(this.#timer);
    for (const session of this.#byId.values()) this.end(session, reason);
  }

  #endIdle(): void {
    for (const session of this.#byId.values()) {
      if (session.idleMs > this.#options.idleMs) this.end(session);
      else session.prune();
    }
  }

  #makeRoom(): boolean {
    const [first, ...others] = this.#byId.values();
    const idle = others.reduce((a, b) => (b.idleMs > (a?.idleMs ?? 0) ? b : a), first);
    if (!idle || idle.idleMs === 0) return false;
    this.#options.log.warn(
      `more than ${MOST_SESSIONS} HTTP sessions: the longest idle one was closed.`,
    );
    this.end(idle);
    return true;
  }
}
