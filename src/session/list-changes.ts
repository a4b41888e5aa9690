// Tells a host that the tool list has changed, and tracks whether it fetches the new one. Many hosts prompt the model
// again as soon as a call is answered; one that is still fetching the list would show the old one. So the answer to a call
// that changes the list waits until the host has fetched it, plus a moment to process it. Hosts that don't refresh their
// tool list aren't waited for.
import type { Cancellation } from '../base/cancellation.ts';
import { isObject } from '../base/object.ts';
import { sleep } from '../base/time.ts';
import type { Question } from '../mcp/caller.ts';
import { META } from '../mcp/eras.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Audience } from '../surface/surface.ts';

/** How long a host may take to fetch the list after the notification. */
const LONGEST_HOLD_MS = 1_000;
/** The measured time hosts need between getting the list and showing it to the model. */
const SETTLE_MS = 100;
/** Changes that servers report within this time become one notification. */
const COALESCE_MS = 50;

/** Names of hosts that don't refresh their tool list. */
const NEVER_RELIST = new Set(['codex-mcp-client']);

export interface ListChangesOptions {
  readonly notify: (method: string, params?: Verbatim) => void;
  readonly ask: (question: Question) => Promise<Verbatim>;
}

type Kind = 'tools' | 'prompts' | 'resources';

export class ListChanges implements Audience {
  readonly isStatic = false;
  readonly ask: (question: Question) => Promise<Verbatim>;
  readonly #notify: ListChangesOptions['notify'];
  #client: string | undefined;
  /** It didn't react to a notification, or it's a kind of host that never does. */
  #isDeaf = false;
  /** It hasn't fetched the list since the last notification. */
  #isBehind = false;
  #waiting: (() => void)[] = [];
  /** Notifications that will be sent soon. */
  readonly #timers = new Map<Kind, NodeJS.Timeout>();

  constructor({ notify, ask }: ListChangesOptions) {
    this.#notify = notify;
    this.ask = ask;
  }

  get client(): string | undefined {
    return this.#client;
  }

  /** Set when the host has introduced itself. */
  set client(name: string | undefined) {
    this.#client = name;
    this.#isDeaf = this.neverRelists;
  }

  get neverRelists(): boolean {
    return this.#client !== undefined && NEVER_RELIST.has(this.#client);
  }

  /** The host has fetched the list. */
  noteListed(): void {
    if (this.#isBehind) this.#isDeaf = false;
    this.#isBehind = false;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  announce(): void {
    this.#isBehind = true;
    this.#tell('tools');
  }

  announceSoon(kind: Kind = 'tools'): void {
    if (this.#timers.has(kind)) return;
    const tell = (): void => (kind === 'tools' ? this.announce() : this.#tell(kind));
    this.#timers.set(kind, setTimeout(tell, COALESCE_MS).unref());
  }

  resourceUpdated(params: Verbatim): void {
    this.#notify('notifications/resources/updated', withoutSubscription(params));
  }

  async announceAndSettle(cancellation: Cancellation): Promise<boolean> {
    this.announce();
    if (this.#isDeaf) return false;
    const end = performance.now() + LONGEST_HOLD_MS;
    await this.#nextList(cancellation);
    if (this.#isBehind) this.#isDeaf = !cancellation.reason;
    else await sleep(Math.min(SETTLE_MS, end - performance.now()));
    return !this.#isBehind;
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.noteListed(); // don't wait for a host that is gone
  }

  #tell(kind: Kind): void {
    clearTimeout(this.#timers.get(kind));
    this.#timers.delete(kind);
    this.#notify(`notifications/${kind}/list_changed`);
  }

  /** Resolves when the host has fetched the list, or has taken too long. */
  #nextList(cancellation: Cancellation): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(wake, LONGEST_HOLD_MS);
      this.#waiting.push(wake);
      cancellation.listen(wake);
    });
  }
}

/** Removes the id of our own subscription at a modern server, which means nothing to the host. */
function withoutSubscription(params: Verbatim): Verbatim {
  const meta = params.member('_meta');
  if (!isObject(meta?.value) || !Object.hasOwn(meta.value, META.subscription)) return params;
  const left = meta.without(META.subscription);
  return left.text === '{}' ? params.without('_meta') : params.with('_meta', left);
}
