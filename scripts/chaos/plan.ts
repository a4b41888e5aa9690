// What happens in a schedule, decided by its seed alone. When it happens depends on the machine: the steps follow each
// other by the number of responses that the hosts have received.
import { createRandom } from './random.ts';

/** The clients of the official SDKs: v1, and v2 in each era. */
const HOST_KINDS = ['v1', 'v2-handshake', 'v2-modern'] as const;
export type HostKind = (typeof HOST_KINDS)[number];

/** Published servers besides the one that counts. They start slowly, so not every schedule has them. */
const PUBLISHED = ['everything', 'filesystem', 'memory'] as const;
export type PublishedServer = (typeof PUBLISHED)[number];

type Deed =
  | 'kill-background'
  | 'kill-entry'
  | 'kill-server'
  /** Another host comes. */
  | 'connect'
  /** Another host comes, and its entry is killed while it joins. */
  | 'kill-joining'
  /** A host says goodbye. */
  | 'leave';

const DEEDS: readonly Deed[] = [
  'kill-background',
  'kill-background',
  'kill-background',
  'kill-entry',
  'kill-entry',
  'kill-server',
  'kill-server',
  'connect',
  'kill-joining',
  'leave',
];

export interface Step {
  /** How many more responses the hosts receive first. */
  readonly afterResponses: number;
  /** Then this many milliseconds, so that the deed falls between two calls now and then. */
  readonly afterMs: number;
  readonly deed: Deed;
  /** From 0 to 1: which of the candidates it concerns. */
  readonly which: number;
  readonly kind: HostKind;
}

export interface Plan {
  readonly seed: number;
  readonly hosts: readonly HostKind[];
  readonly published: readonly PublishedServer[];
  readonly steps: readonly Step[];
  /** How the background process ends: it is told to, or its home is removed. */
  readonly end: 'signal' | 'home';
}

/** One schedule in this many has published servers. */
const PUBLISHED_EVERY = 8;

export function planOf(seed: number): Plan {
  const random = createRandom(seed);
  const hosts = Array.from({ length: random.between(2, 3) }, () => random.pick(HOST_KINDS));
  const hasPublished = random.between(1, PUBLISHED_EVERY) === 1;
  const published = hasPublished ? [random.pick(PUBLISHED)] : [];
  const steps = Array.from({ length: random.between(3, 6) }, (): Step => {
    return {
      afterResponses: random.between(0, 25),
      afterMs: random.pick([0, 0, 0, 1, 5, 20]),
      deed: random.pick(DEEDS),
      which: random.next(),
      kind: random.pick(HOST_KINDS),
    };
  });
  return { seed, hosts, published, steps, end: random.pick(['signal', 'signal', 'home']) };
}
