// Prints the rows: one line each, with a bar that shows the used share of the budget, and additional figures below.
import { type Row, shareOfBudget, type Unit } from './row.ts';

const BAR_WIDTH = 14;
/** The bar's width for the whole budget; a miss extends beyond it. */
const BUDGET_AT = 10;

const HEAD = ['', 'what', 'measured', 'against', 'ratio', 'middle half', 'budget', '', 'used', ''];
const TO_THE_RIGHT = new Set([0, 2, 4, 8]);

export function formatTable(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) =>
    Math.max(...lines.map((cells) => lengthOf(cells[column]))),
  );
  return lines
    .map((cells) =>
      cells
        .map((cell, column) =>
          TO_THE_RIGHT.has(column)
            ? cell.padStart(widths[column] ?? 0)
            : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function formatBeside(rows: readonly Row[]): string {
  return rows
    .flatMap(({ group, what, beside }) => beside.map((text) => `${group}  ${what}: ${text}.`))
    .join('\n');
}

/** One sentence about the budgets as a whole. */
export function formatVerdict(rows: readonly Row[]): string {
  const held = rows.filter(({ budget }) => budget);
  const missed = held.filter((row) => isMissed(row));
  if (missed.length === 0) return `All ${held.length} budgets are met.`;
  const names = missed.map(({ group, what }) => `${group} (${what})`);
  return `MISSED: ${missed.length} of ${held.length} budgets: ${names.join('; ')}.`;
}

function cellsOf(row: Row): string[] {
  const { group, what, measured, unit, against, ratio, budget } = row;
  const share = shareOfBudget(row);
  const isSpread = ratio && ratio.spread[0] !== ratio.spread[1];
  return [
    String(group),
    what,
    formatFigure(measured, unit),
    against ? `${against.what} ${formatFigure(against.value, unit)}` : '',
    ratio ? `${ratio.value.toFixed(2)} ×` : '',
    isSpread ? ratio.spread.map((value) => value.toFixed(2)).join('–') : '',
    budget ? formatBudget(budget, ratio ? '×' : unit) : '',
    share === undefined ? '' : formatBar(share),
    share === undefined ? '' : `${Math.round(100 * share)} %`,
    share === undefined ? '' : isMissed(row) ? 'MISSED' : 'met',
  ];
}

function isMissed(row: Row): boolean {
  return (shareOfBudget(row) ?? 0) > 1;
}

function formatBudget(budget: NonNullable<Row['budget']>, unit: string): string {
  const [sign, limit] = 'most' in budget ? ['≤', budget.most] : ['≥', budget.least];
  return `${sign} ${limit.toLocaleString('en')} ${unit}`;
}

function formatBar(share: number): string {
  // A difference can be negative.
  const filled = Math.max(0, Math.min(BAR_WIDTH, Math.round(share * BUDGET_AT)));
  const bar = '█'.repeat(filled).padEnd(BAR_WIDTH, '·');
  return `${bar.slice(0, BUDGET_AT)}|${bar.slice(BUDGET_AT)}`;
}

function formatFigure(value: number, unit: Unit): string {
  const digits = unit === 'ms' ? (value < 1 ? 3 : 1) : unit === 'MB' ? 1 : 0;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${value.toLocaleString('en', options)} ${unit}`;
}

function lengthOf(cell: string | undefined): number {
  return cell?.length ?? 0;
}
