// Lays out tables and indented text, wrapped to the width of the terminal.
import { columnsOf, wrapText } from './columns.ts';
import type { Output, Style } from './output.ts';

export interface Cell {
  readonly text: string;
  readonly style?: Style | undefined;
}

export interface Row {
  readonly cells: readonly Cell[];
  /** A note, on its own lines below the row. */
  readonly below?: Cell | undefined;
}

export interface RowOptions extends Pick<Output, 'width' | 'style'> {
  readonly indent?: string;
}

const GAP = '  ';

/** If the columns don't fit, the widest are narrowed first and their cells wrap. */
export function formatRows(
  rows: readonly Row[],
  { width, style, indent = '' }: RowOptions,
): string[] {
  const natural = naturalWidths(rows);
  const gaps = GAP.length * Math.max(0, natural.length - 1);
  const widths = narrowed(natural, width - indent.length - gaps);
  return rows.flatMap(({ cells, below }) => [
    ...formatCells(cells, widths, style).map((line) => indent + line),
    ...(below ? indentText(below, { width, style, indent: `${indent}  ` }) : []),
  ]);
}

function formatCells(
  cells: readonly Cell[],
  widths: readonly number[],
  style: Output['style'],
): string[] {
  const wrapped = cells.map(({ text }, column) => wrapText(text, widths[column] ?? 0));
  const height = Math.max(1, ...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, index) => {
    const parts = cells.map((cell, column) => {
      const text = wrapped[column]?.[index] ?? '';
      const blanks = ' '.repeat(Math.max(0, (widths[column] ?? 0) - columnsOf(text)));
      return { painted: paint({ ...cell, text }, style), blanks };
    });
    return joinParts(parts);
  });
}

function paint({ text, style: how }: Cell, style: Output['style']): string {
  return how === undefined || text === '' ? text : style(how, text);
}

/** Wraps text and indents every line. */
export function indentText(
  { text, style: how }: Cell,
  { width, style, indent = '' }: RowOptions,
): string[] {
  const lines = wrapText(text, width - indent.length);
  return lines.map((line) => indent + paint({ text: line, style: how }, style));
}

function naturalWidths(rows: readonly Row[]): number[] {
  const widths: number[] = [];
  for (const { cells } of rows) {
    for (const [column, { text }] of cells.entries()) {
      const widest = Math.max(0, ...text.split('\n').map(columnsOf));
      widths[column] = Math.max(widths[column] ?? 0, widest);
    }
  }
  return widths;
}

/** Wide enough for any character. */
const NARROWEST = 2;

function narrowed(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, one) => sum + one, 0) - room;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    const next = Math.max(NARROWEST, ...widths.filter((one) => one < widest));
    const atWidest = widths.filter((one) => one === widest).length;
    const step = Math.max(1, Math.min(widest - next, Math.floor(excess / atWidest)));
    for (const [column, one] of widths.entries()) {
      if (one !== widest || excess <= 0) continue;
      widths[column] = one - step;
      excess -= step;
    }
  }
  return widths;
}

function joinParts(parts: readonly { painted: string; blanks: string }[]): string {
  const last = parts.findLastIndex(({ painted }) => painted !== '');
  return parts
    .slice(0, last + 1)
    .map(({ painted, blanks }, index) => (index === last ? painted : painted + blanks))
    .join(GAP);
}
