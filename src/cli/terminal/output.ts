// Command output: text, with some color on a terminal, or one JSON document.
import { styleText } from 'node:util';
import type { Mask } from '../../base/secrets.ts';
import { cleanText, escapeHidden } from '../../base/text.ts';
import { maskTokens } from '../../base/tokens.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export interface Output {
  readonly isJson: boolean;
  /** Columns of the terminal. Infinity without one: then nothing is cut or wrapped. */
  readonly width: number;
  /** Prints a line of text; nothing when the output is JSON. */
  line(text?: string): void;
  /** Prints the document; nothing when the output is text. */
  json(document: unknown): void;
  readonly style: (style: Style, text: string) => string;
}

/** For terminals that don't report their width. */
const USUAL_WIDTH = 80;

interface OutputOptions {
  readonly json?: boolean | undefined;
  /** For results, which are printed as they are. Anything else is printed without well-known credentials. */
  readonly isExact?: boolean | undefined;
}

export function createOutput(options: OutputOptions): Output {
  const isJson = options.json === true;
  const mask = options.isExact === true ? (text: string) => text : maskTokens;
  const { stdout, env } = process;
  const isColoured = stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return {
    isJson,
    width: stdout.isTTY ? stdout.columns || USUAL_WIDTH : Infinity,
    line: (text = '') => void (isJson || stdout.write(`${withOwnStyles(mask(text))}\n`)),
    json: (document) => void (isJson && stdout.write(`${formatJson(document, mask)}\n`)),
    style: (style, text) => (isColoured ? styleText(style, cleanText(text)) : cleanText(text)),
  };
}

/** Keeps the sequences added by `style` and removes all others. */
function withOwnStyles(text: string): string {
  // oxlint-disable-next-line no-control-regex -- terminals' own sequences start with one
  const parts = text.split(/(\u001b\[(?:1|2|22|31|32|33|39)m)/);
  return parts.map((part, index) => (index % 2 === 1 ? part : cleanText(part))).join('');
}

/** A document that is safe to print on a terminal. */
function formatJson(document: unknown, mask: Mask): string {
  const hide = (_key: string, value: unknown) => (typeof value === 'string' ? mask(value) : value);
  return escapeHidden(JSON.stringify(document, hide, 2));
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
