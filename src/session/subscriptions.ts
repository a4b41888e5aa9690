// A modern host's subscriptions: requests that stay open and deliver exactly the notifications the host asked for.
import { isObject } from '../base/object.ts';
import { META } from '../mcp/eras.ts';
import { type Id, INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import type { IncomingRequest, Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Audience } from '../surface/surface.ts';
import { paramsOf } from './desk.ts';

interface Wanted {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
}

interface Subscription {
  readonly id: Id;
  readonly wanted: Wanted;
  readonly end: () => void;
}

type Kind = 'tools' | 'prompts' | 'resources';

const COALESCE_MS = 50;
const MOST_SUBSCRIPTIONS = 100;

export class Subscriptions implements Audience {
  readonly neverRelists = true;
  readonly isStatic = true;
  readonly ask = undefined;
  /** The client name in the current request. */
  client: string | undefined;
  readonly #peer: Peer;
  readonly #open = new Set<Subscription>();
  /** Notifications that will be sent soon. */
  readonly #timers = new Map<Kind, NodeJS.Timeout>();

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  /** Stays open until the host cancels it or we close. */
  async listen(
    request: IncomingRequest,
    watch: (uris: ReadonlySet<string>) => Promise<void>,
  ): Promise<Verbatim> {
    const wanted = parseWanted(paramsOf(request).member('notifications')?.value);
    if (this.#open.size >= MOST_SUBSCRIPTIONS) {
      throw new RpcError(INVALID_PARAMS, `${MOST_SUBSCRIPTIONS} subscriptions are already open.`);
    }
    const { id, cancellation } = request;
    const ended = new Promise<void>((resolve) => {
      const subscription = { id, wanted, end: resolve };
      this.#open.add(subscription);
      cancellation.listen(() => {
        this.#open.delete(subscription);
        resolve();
      });
    });
    const tell = () => watch(this.#watched()).catch(() => {}); // not every resource can be watched
    await tell();
    this.#send('notifications/subscriptions/acknowledged', { notifications: wanted }, id);
    await ended;
    await tell();
    return Verbatim.of({ _meta: { [META.subscription]: id }, resultType: 'complete' });
  }

  announce(): void {
    this.announceSoon('tools');
  }

  announceSoon(kind: Kind = 'tools'): void {
    if (this.#timers.has(kind)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(kind);
      for (const { id, wanted } of this.#open) {
        if (wanted[`${kind}ListChanged`]) this.#send(`notifications/${kind}/list_changed`, {}, id);
      }
    }, COALESCE_MS).unref();
    this.#timers.set(kind, timer);
  }

  async announceAndSettle(): Promise<boolean> {
    this.announce();
    return false;
  }

  resourceUpdated(params: Verbatim): void {
    const uri = isObject(params.value) ? params.value['uri'] : undefined;
    for (const { id, wanted } of this.#open) {
      if (typeof uri !== 'string' || !wanted.resourceSubscriptions?.includes(uri)) continue;
      const meta = params.member('_meta');
      const own = isObject(meta?.value) ? meta : Verbatim.of({});
      const marked = params.set('_meta', own.set(META.subscription, Verbatim.of(id)));
      this.#peer.notify('notifications/resources/updated', marked, id);
    }
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const { end } of this.#open) end();
    this.#open.clear();
  }

  #watched(): Set<string> {
    return new Set([...this.#open].flatMap(({ wanted }) => wanted.resourceSubscriptions ?? []));
  }

  #send(method: string, params: object, id: Id): void {
    this.#peer.notify(method, Verbatim.of({ ...params, _meta: { [META.subscription]: id } }), id);
  }
}

function parseWanted(value: unknown): Wanted {
  if (!isObject(value)) throw new RpcError(INVALID_PARAMS, '"notifications" must be an object.');
  const uris = value['resourceSubscriptions'];
  return {
    ...(value['toolsListChanged'] === true && { toolsListChanged: true }),
    ...(value['promptsListChanged'] === true && { promptsListChanged: true }),
    ...(value['resourcesListChanged'] === true && { resourcesListChanged: true }),
    ...(Array.isArray(uris) && {
      resourceSubscriptions: uris.filter((uri) => typeof uri === 'string'),
    }),
  };
}
