// How figures are measured. The machine is never quiet, so everything that is compared takes turns (A, B, C, then
// B, C, A …): noise affects all of them equally, and the ratio between them stays the same. The result is the
// median.

export type Measure = () => Promise<number>;

export interface Turns {
  readonly rounds: number;
  /** Rounds that don't count, for caches and compilers to settle. */
  readonly warmUps?: number;
}

/** The results of each variant, by round. */
export async function takeTurns<Name extends string>(
  variants: Readonly<Record<Name, Measure>>,
  { rounds, warmUps = 1 }: Turns,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(variants) as Name[];
  const taken = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    number[]
  >;
  for (let round = -warmUps; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + warmUps + turn) % names.length] as Name;
      const value = await variants[name]();
      if (round >= 0) taken[name].push(value);
    }
  }
  return taken;
}

export interface Ratio {
  /** The ratio of the two medians. */
  readonly value: number;
  /** The middle half of the ratios of single rounds. */
  readonly spread: readonly [number, number];
}

export function compare(measured: readonly number[], reference: readonly number[]): Ratio {
  const single = measured.map((value, round) => value / (reference[round] ?? Number.NaN));
  return {
    value: median(measured) / median(reference),
    spread: [quantile(single, 0.25), quantile(single, 0.75)],
  };
}

export function formatTimes(measured: readonly number[], reference: readonly number[]): string {
  return `${compare(measured, reference).value.toFixed(2)} ×`;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The value below which this share of them is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
