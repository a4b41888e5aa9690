// Telling a host that the list of tools has changed, and knowing whether it looks. A model is often
// asked again the moment a call is answered; a host that is still fetching the list then would show
// it the old one. So the answer to a call that changes the list is held until the host has fetched
// it, and a little longer for it to take in. Hosts that never fetch it again are not waited for.
import type { Cancellation } from '../base/cancellation.ts';
import { isObject } from '../base/object.ts';
import { sleep } from '../base/time.ts';
import type { Question } from '../mcp/caller.ts';
import { META } from '../mcp/eras.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Audience } from '../surface/surface.ts';

/** How long a host may take to fetch the list, from the notification on. */
const LONGEST_HOLD_MS = 1_000;
/** What hosts were seen to need between getting the list and showing it to the model. */
const SETTLE_MS = 100;
/** Changes that children report are passed on together. */
const COALESCE_MS = 50;

/** By the name they give themselves: hosts that fetch the list once and never again. */
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
  #neverRelists = false;
  /** It was waited for once in vain, or its kind is known. */
  #isDeaf = false;
  /** It was told of a change and has not fetched the list since. */
  #isBehind = false;
  #waiting: (() => void)[] = [];
  readonly #soon = new Map<Kind, NodeJS.Timeout>();

  constructor({ notify, ask }: ListChangesOptions) {
    this.#notify = notify;
    this.ask = ask;
  }

  get client(): string | undefined {
    return this.#client;
  }

  get neverRelists(): boolean {
    return this.#neverRelists;
  }

  /** The host has said what it is. */
  noteClient(name: unknown): void {
    this.#client = typeof name === 'string' ? name : undefined;
    this.#neverRelists = typeof name === 'string' && NEVER_RELIST.has(name);
    this.#isDeaf = this.#neverRelists;
  }

  /** The host has fetched the list. */
  noteListed(): void {
    if (this.#isBehind) this.#isDeaf = false;
    this.#isBehind = false;
    for (const goOn of this.#waiting.splice(0)) goOn();
  }

  announce(): void {
    this.#isBehind = true;
    this.#tell('tools');
  }

  announceSoon(kind: Kind = 'tools'): void {
    if (this.#soon.has(kind)) return;
    const tell = (): void => (kind === 'tools' ? this.announce() : this.#tell(kind));
    this.#soon.set(kind, setTimeout(tell, COALESCE_MS).unref());
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
    for (const timer of this.#soon.values()) clearTimeout(timer);
    this.noteListed(); // nobody is to wait for a host that has gone
  }

  #tell(kind: Kind): void {
    clearTimeout(this.#soon.get(kind));
    this.#soon.delete(kind);
    this.#notify(`notifications/${kind}/list_changed`);
  }

  /** Resolves when the host has fetched the list, at the latest when it has had time enough. */
  #nextList(cancellation: Cancellation): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(goOn, LONGEST_HOLD_MS);
      this.#waiting.push(goOn);
      cancellation.listen(goOn);
    });
  }
}

/** The name of a subscription of ours at a modern child means nothing to the host. */
function withoutSubscription(params: Verbatim): Verbatim {
  const meta = params.member('_meta');
  if (!isObject(meta?.value) || !Object.hasOwn(meta.value, META.subscription)) return params;
  const left = meta.without(META.subscription);
  return left.text === '{}' ? params.without('_meta') : params.with('_meta', left);
}
