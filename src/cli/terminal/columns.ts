// Measures, cuts and wraps text by the columns it takes on a terminal.

const segmenter = new Intl.Segmenter();

/** East Asian Wide and Fullwidth (UAX #11), and emoji, which terminals draw twice as wide as letters. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}\ufe0f]/u;
const ZERO_WIDTH = /^[\p{Mark}\p{Format}\p{Control}]+$/u;
const ASCII = /^[\x20-\x7e]*$/;

export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return charactersOf(text).reduce((sum, { columns }) => sum + columns, 0);
}

/** Cuts the end if the text is too wide, and marks the cut. */
export function cutEnd(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  return columns < 1 ? '' : `${takeColumns(charactersOf(text), columns - 1).join('')}…`;
}

/** Cuts the start if the text is too wide, and marks the cut. */
export function cutStart(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const fromEnd = takeColumns(charactersOf(text).toReversed(), columns - 1);
  return columns < 1 ? '' : `…${fromEnd.toReversed().join('')}`;
}

/** Wraps text to lines of at most `width` columns, between words if possible. */
export function wrapText(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(2, width)));
}

function wrapLine(line: string, width: number): string[] {
  if (columnsOf(line) <= width) return [line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(/\s+/u).filter(Boolean)) {
    const joined = current === '' ? word : `${current} ${word}`;
    if (columnsOf(joined) <= width) {
      current = joined;
      continue;
    }
    if (current !== '') lines.push(current);
    const pieces = breakWord(word, width);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? '';
  }
  return [...lines, current];
}

function breakWord(word: string, width: number): string[] {
  const pieces: string[] = [];
  let rest = charactersOf(word);
  while (rest.length > 0) {
    const taken = takeColumns(rest, width);
    pieces.push(taken.join(''));
    rest = rest.slice(taken.length);
  }
  return pieces;
}

interface Character {
  readonly text: string;
  readonly columns: number;
}

function charactersOf(text: string): Character[] {
  return Array.from(segmenter.segment(text), ({ segment }) => ({
    text: segment,
    columns: widthOf(segment),
  }));
}

function widthOf(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

function takeColumns(characters: readonly Character[], columns: number): string[] {
  const taken: string[] = [];
  let room = columns;
  for (const character of characters) {
    room -= character.columns;
    if (room < 0) break;
    taken.push(character.text);
  }
  return taken;
}
