// A measurement's result: figures, the ratio that counts, and its budget.
import type { Ratio } from './measure.ts';
import type { Workspace } from './workspace.ts';

export type Unit = 'ms' | 'calls/s' | 'MB' | 'tokens' | 'tools' | 'hosts' | 'processes';

export interface Row {
  /** The number for `--only`. */
  readonly group: number;
  readonly what: string;
  readonly measured: number;
  readonly unit: Unit;
  /** What it is compared with; missing if the figure itself is the result. */
  readonly against?: { readonly what: string; readonly value: number };
  readonly ratio?: Ratio;
  /** A limit for the ratio or, without one, for the figure. */
  readonly budget?: { readonly most: number } | { readonly least: number };
  /** Additional figures. */
  readonly beside: readonly string[];
}

/** The input of a group of measurements. */
export interface Bench {
  readonly workspace: Workspace;
  /** This many rounds, or fewer in a quick run. */
  readonly rounds: (full: number) => number;
  readonly progress: (text: string) => void;
}

export type Group = (bench: Bench) => Promise<Row[]>;

/** The used share of the budget: 1 is all of it, more is a miss. */
export function shareOfBudget({ budget, measured, ratio }: Row): number | undefined {
  if (!budget) return undefined;
  const value = ratio?.value ?? measured;
  return 'most' in budget ? value / budget.most : budget.least / value;
}
