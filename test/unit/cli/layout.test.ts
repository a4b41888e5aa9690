// Rows of cells in columns that fit a terminal.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnsOf } from '../../../src/cli/terminal/columns.ts';
import { formatRows, indentText } from '../../../src/cli/terminal/layout.ts';
import type { Style } from '../../../src/cli/terminal/output.ts';

const plain = (_style: Style, text: string) => text;
const marked = (style: Style, text: string) => `<${style}>${text}</${style}>`;

const ROWS = [
  ['files', 'suite', 'declared in /home/ada/shop/config.json'],
  ['天気予報', 'flip', 'declared in servers.json'],
].map((cells) => ({ cells: cells.map((text) => ({ text })) }));

test('columns are as wide as their widest cell', () => {
  expect(formatRows(ROWS, { width: 80, style: plain })).toEqual([
    'files     suite  declared in /home/ada/shop/config.json',
    '天気予報  flip   declared in servers.json',
  ]);
});

test('without a terminal every row is one line', () => {
  expect(formatRows(ROWS, { width: Infinity, style: plain, indent: '  ' })).toEqual([
    '  files     suite  declared in /home/ada/shop/config.json',
    '  天気予報  flip   declared in servers.json',
  ]);
});

test('the widest columns are narrowed and wrap', () => {
  expect(formatRows(ROWS, { width: 36, style: plain, indent: '  ' })).toEqual([
    '  files     suite  declared in',
    '                   /home/ada/shop/co',
    '                   nfig.json',
    '  天気予報  flip   declared in',
    '                   servers.json',
  ]);
});

test('styles cover the text but not the padding', () => {
  const cells = [{ text: 'a', style: 'bold' as const }, { text: 'b' }];
  const below = { text: 'c d', style: 'dim' as const };
  expect(formatRows([{ cells, below }], { width: 80, style: marked })).toEqual([
    '<bold>a</bold>  b',
    '  <dim>c d</dim>',
  ]);
});

test('text is indented on every line', () => {
  expect(indentText({ text: 'one two\nthree' }, { indent: '  ', width: 6, style: plain })).toEqual([
    '  one',
    '  two',
    '  thre',
    '  e',
  ]);
});

test('no line is wider than the terminal', () => {
  const cell = fc.record({ text: fc.string({ unit: 'grapheme', maxLength: 60 }) });
  const row = fc.record({ cells: fc.array(cell, { minLength: 3, maxLength: 3 }), below: cell });
  const rows = fc.array(row, { maxLength: 5 });
  fc.assert(
    fc.property(rows, fc.integer({ min: 12, max: 100 }), (table, width) => {
      for (const line of formatRows(table, { width, style: plain, indent: '  ' })) {
        expect(columnsOf(line)).toBeLessThanOrEqual(width);
      }
    }),
  );
});
