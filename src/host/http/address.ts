// Where we listen, and which names clients may use for it. A web page can make a browser send requests to any address
// of this machine under the page's own name (DNS rebinding), but it can't choose the Host and Origin headers.
import { isIP } from 'node:net';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** More names, such as a proxy's. They are valid with any port. */
  readonly names: readonly string[];
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether only programs on this machine can reach an address. */
export function isLocalAddress(host: string): boolean {
  const name = host.toLowerCase();
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** A host as written in URLs and the Host header. */
export function formatHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host.toLowerCase();
}

/** Whether a Host header names us. */
export function isOurs(value: string, { host, port, names }: ListenAddress): boolean {
  const parts = /^(\[[0-9a-f:.]+\]|[^:[\]@/?#\\\s]+)(?::(\d{1,5}))?$/i.exec(value);
  if (!parts) return false;
  const name = (parts[1] ?? '').toLowerCase();
  if (names.some((other) => formatHost(other) === name)) return true;
  // All addresses of the machine, perhaps behind another port. Only an IP address can't be someone else's name.
  if (isWildcard(host)) return LOOPBACK.has(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  const isOurPort = Number(parts[2] ?? 80) === port;
  return isOurPort && (name === formatHost(host) || (isLocalAddress(host) && LOOPBACK.has(name)));
}

/** Whether an Origin header is our own, in a request whose Host header is `ours`. */
export function isOurOrigin(value: string, ours: string, address: ListenAddress): boolean {
  const origin = /^https?:\/\/([^/]+)$/i.exec(value)?.[1]?.toLowerCase();
  if (origin === undefined) return false;
  // If any IP address counted, so would another machine's page.
  return origin === ours.toLowerCase() || (!isWildcard(address.host) && isOurs(origin, address));
}

/** The URL for programs on this machine, or for others if a name was given. */
export function urlOf({ host, port, names: [name] }: ListenAddress, path: string): string {
  const reachable = isWildcard(host) ? (name ?? LOCAL_FOR[host] ?? host) : host;
  return `http://${formatHost(reachable)}:${port}${path}`;
}

const LOCAL_FOR: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function isWildcard(host: string): boolean {
  return Object.hasOwn(LOCAL_FOR, host);
}
