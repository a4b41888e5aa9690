// Which kind of network an address belongs to. What a server on the internet says must not make us
// knock at doors inside the user's network, in whatever way such a door is written.
import { isIP, isIPv4 } from 'node:net';

/** `special`: nobody's server is there (unspecified, multicast, documentation, tunnels …). */
export type AddressKind = 'public' | 'loopback' | 'private' | 'link-local' | 'special';

/** The kind of an IPv4 or IPv6 address. One that holds an IPv4 address counts as that. */
export function kindOfAddress(address: string): AddressKind {
  return isIPv4(address) ? kindOfIPv4(numberOfIPv4(address)) : kindOfIPv6(groupsOf(address));
}

/** Whether the host of a URL means this machine, whoever resolves it. */
export function isLoopback(hostname: string): boolean {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0) return kindOfAddress(literal) === 'loopback';
  return literal === 'localhost' || literal.endsWith('.localhost');
}

/** First address, bits of the prefix, kind. What is in none of them is public. */
const IPV4_RANGES: readonly (readonly [string, number, AddressKind])[] = [
  ['0.0.0.0', 8, 'special'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'private'], // providers' own, also used by private overlay networks
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'special'],
  ['192.0.2.0', 24, 'special'],
  ['192.88.99.0', 24, 'special'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'private'], // for measurements; local proxies give such addresses to names
  ['198.51.100.0', 24, 'special'],
  ['203.0.113.0', 24, 'special'],
  ['224.0.0.0', 3, 'special'],
];

function kindOfIPv4(address: number): AddressKind {
  const range = IPV4_RANGES.find(([first, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) === Math.floor(numberOfIPv4(first) / size);
  });
  return range?.[2] ?? 'public';
}

function numberOfIPv4(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function kindOfIPv6(groups: readonly number[]): AddressKind {
  const [first = 0, second = 0] = groups;
  const beginsWith = (...prefix: number[]) => prefix.every((group, at) => groups[at] === group);
  const inner = (groups[6] ?? 0) * 65_536 + (groups[7] ?? 0);
  if (beginsWith(0, 0, 0, 0, 0, 0xffff)) return kindOfIPv4(inner); // IPv4-mapped
  if (beginsWith(0x64, 0xff9b, 0, 0, 0, 0)) return kindOfIPv4(inner); // by way of NAT64
  if (beginsWith(0, 0, 0, 0, 0, 0, 0, 1)) return 'loopback';
  if (first >= 0xfc00 && first <= 0xfdff) return 'private'; // unique local
  if (first >= 0xfec0 && first <= 0xfeff) return 'private'; // site local, of old
  if (first >= 0xfe80 && first <= 0xfebf) return 'link-local';
  if (first === 0x2002) return 'special'; // 6to4
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return 'special'; // Teredo and others
  if (first === 0x3fff && second < 0x1000) return 'special'; // documentation
  return first >= 0x2000 && first <= 0x3fff ? 'public' : 'special';
}

/** The eight groups of an IPv6 address, in whatever way it is written. */
function groupsOf(address: string): number[] {
  const [plain = ''] = address.split('%'); // without the network card
  const written = new URL(`http://[${plain}]/`).hostname.slice(1, -1);
  const [head = '', tail] = written.split('::');
  const parse = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const left = parse(head);
  if (tail === undefined) return left;
  const right = parse(tail);
  const between = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return [...left, ...between, ...right];
}
