// Where we listen, and under which names a client may say that it has reached us. A web page can make
// a browser send requests to any address of this machine, under a name of its own (DNS rebinding); it
// cannot choose what stands in Host and Origin.
import { isIP } from 'node:net';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Further names, such as that of a proxy in front of us; for them any port will do. */
  readonly names: readonly string[];
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether only programs of this machine can reach an address. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** A host as it stands in an address and in Host. */
export function formatHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host.toLowerCase();
}

/** Whether a value of Host names us. */
export function isOurs(value: string, { host, port, names }: ListenAddress): boolean {
  const parts = /^(\[[0-9a-f:.]+\]|[^:[\]@/?#\\\s]+)(?::(\d{1,5}))?$/i.exec(value);
  if (!parts) return false;
  const name = (parts[1] ?? '').toLowerCase();
  if (names.some((other) => formatHost(other) === name)) return true;
  // All addresses of the machine, perhaps behind another port: only a number cannot be another's name.
  if (isWildcard(host)) return LOOPBACK.has(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  const isOurPort = Number(parts[2] ?? 80) === port;
  return isOurPort && (name === formatHost(host) || (isLoopback(host) && LOOPBACK.has(name)));
}

/** Whether a value of Origin is a page of our own, in a request that says it is for `ours`. */
export function isOurOrigin(value: string, ours: string, address: ListenAddress): boolean {
  const origin = /^https?:\/\/([^/]+)$/i.exec(value)?.[1]?.toLowerCase();
  if (origin === undefined) return false;
  // Where every number is taken for ours, a page of a neighbour would be, too.
  return origin === ours.toLowerCase() || (!isWildcard(address.host) && isOurs(origin, address));
}

/** Where a program of this machine finds us; or others, where we were told a name for it. */
export function urlOf({ host, port, names: [name] }: ListenAddress, path: string): string {
  const reachable = isWildcard(host) ? (name ?? LOCAL_FOR[host] ?? host) : host;
  return `http://${formatHost(reachable)}:${port}${path}`;
}

const LOCAL_FOR: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function isWildcard(host: string): boolean {
  return Object.hasOwn(LOCAL_FOR, host);
}
