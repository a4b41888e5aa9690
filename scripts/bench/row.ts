// What a measurement says: figures, the ratio that counts, and the budget it is held against.
import type { Ratio } from './measure.ts';
import type { Workspace } from './workspace.ts';

export type Unit = 'ms' | 'calls/s' | 'MB' | 'tokens' | 'tools' | 'hosts';

export interface Row {
  /** The number by which `--only` knows it. */
  readonly group: number;
  readonly what: string;
  readonly measured: number;
  readonly unit: Unit;
  /** What it is held against; absent where the figure itself is the result. */
  readonly against?: { readonly what: string; readonly value: number };
  readonly ratio?: Ratio;
  /** A limit of the ratio, or, without one, of the figure. */
  readonly budget?: { readonly most: number } | { readonly least: number };
  /** Figures that belong beside it. */
  readonly beside: readonly string[];
}

/** What a group of measurements is given. */
export interface Bench {
  readonly workspace: Workspace;
  /** So many rounds, or fewer in a short run. */
  readonly rounds: (full: number) => number;
  readonly progress: (text: string) => void;
}

export type Group = (bench: Bench) => Promise<Row[]>;

/** How much of the budget is used: 1 is all of it, more is missed. */
export function shareOfBudget({ budget, measured, ratio }: Row): number | undefined {
  if (!budget) return undefined;
  const value = ratio?.value ?? measured;
  return 'most' in budget ? value / budget.most : budget.least / value;
}
