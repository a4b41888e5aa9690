// A text that somebody must be able to judge, such as a command before he allows it: everything in it is seen, on one
// line, and nothing of it is left out or changed in silence.

/** What is not seen, or is taken for a space: all but the space itself; and the sign that stands for a line's end. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u23ce]/gu;
/** Longer gaps would push what is behind them out of sight. */
const LONG_GAP = / {20,}/g;

export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSEEN, (character) => {
      if (character === ' ') return character;
      if (character === '\n') return ' ⏎ ';
      const code = character.codePointAt(0) ?? 0;
      return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
    })
    .replace(LONG_GAP, ({ length }) => ` <${length} spaces> `);
}
