// The kind of network an IP address belongs to. A server on the internet must not be able to send us to the user's
// own network, no matter how it writes the address.
import { BlockList, isIP, isIPv4 } from 'node:net';

/** `special`: reserved addresses that no server has (unspecified, multicast, documentation, tunnels…). */
export type AddressKind = 'public' | 'loopback' | 'private' | 'link-local' | 'special';

/** IPv6 addresses that embed an IPv4 address count as that address. */
export function kindOfAddress(address: string): AddressKind {
  if (isIPv4(address)) return kindInRanges(address, 'ipv4') ?? 'public';
  const canonical = canonicalIPv6(address);
  const embedded = embeddedIPv4(canonical);
  if (embedded !== undefined) return kindOfAddress(embedded);
  const fallback = GLOBAL_UNICAST.check(canonical, 'ipv6') ? 'public' : 'special';
  return kindInRanges(canonical, 'ipv6') ?? fallback;
}

/** Whether a URL's host is this machine, without a DNS lookup. */
export function isLoopbackHost(hostname: string): boolean {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0) return kindOfAddress(literal) === 'loopback';
  return literal === 'localhost' || literal.endsWith('.localhost');
}

const RANGES: readonly (readonly [AddressKind, BlockList])[] = [
  ['loopback', blockList('127.0.0.0/8', '::1/128')],
  [
    'private',
    blockList(
      '10.0.0.0/8',
      '100.64.0.0/10', // carrier-grade NAT, also used by overlay networks
      '172.16.0.0/12',
      '192.168.0.0/16',
      '198.18.0.0/15', // benchmarking, also used by local proxies that fake DNS answers
      'fc00::/7', // unique local
      'fec0::/10', // site-local, deprecated
    ),
  ],
  ['link-local', blockList('169.254.0.0/16', 'fe80::/10')],
  [
    'special',
    blockList(
      '0.0.0.0/8',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/3', // multicast and reserved
      '2001::/23', // Teredo and other protocol assignments
      '2001:db8::/32', // documentation
      '2002::/16', // 6to4
      '3fff::/20', // documentation
    ),
  ],
];

const GLOBAL_UNICAST = blockList('2000::/3');

function blockList(...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', bits] = subnet.split('/');
    list.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return list;
}

function kindInRanges(address: string, family: 'ipv4' | 'ipv6'): AddressKind | undefined {
  return RANGES.find(([, list]) => list.check(address, family))?.[0];
}

/** The one spelling that URLs use, without a zone. */
function canonicalIPv6(address: string): string {
  const [plain = ''] = address.split('%');
  return new URL(`http://[${plain}]/`).hostname.slice(1, -1);
}

/** The IPv4 address in an IPv4-mapped or NAT64 address. */
function embeddedIPv4(canonical: string): string | undefined {
  const groups = /^(?:::ffff|64:ff9b:):([0-9a-f]+):([0-9a-f]+)$/.exec(canonical)?.slice(1);
  return groups
    ?.map((group) => Number.parseInt(group, 16))
    .flatMap((number) => [number >> 8, number & 255])
    .join('.');
}
