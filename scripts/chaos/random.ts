// Random numbers that are the same in every run with the same seed.

export interface Random {
  /** From 0 to 1. */
  next(): number;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = Math.imul(seed, 0x9e37_79b1) >>> 0;
  // The multiplier and increment of Numerical Recipes. Only the upper bits are used: the lower ones repeat soon.
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  next();
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
  };
}
