// Text in columns of a terminal: how many it takes, and how it is cut to some.

const segmenter = new Intl.Segmenter();
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

export function columnsOf(text: string): number {
  return charactersOf(text).reduce((sum, { columns }) => sum + columns, 0);
}

/** The beginning of a text, with a sign where it was cut. */
export function cutEnd(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  return columns < 1 ? '' : `${takeColumns(charactersOf(text), columns - 1).join('')}…`;
}

/** The end of a text, with a sign where it was cut. */
export function cutStart(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const fromBehind = takeColumns(charactersOf(text).toReversed(), columns - 1);
  return columns < 1 ? '' : `…${fromBehind.toReversed().join('')}`;
}

interface Character {
  readonly text: string;
  readonly columns: number;
}

function charactersOf(text: string): Character[] {
  return Array.from(segmenter.segment(text), ({ segment }) => ({
    text: segment,
    columns: WIDE.test(segment) ? 2 : 1,
  }));
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
