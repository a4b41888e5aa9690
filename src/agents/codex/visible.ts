// Makes a string safe to approve, such as a command: on one line, with everything visible and nothing
// silently dropped or changed.

/** Characters that are invisible or look like a space, and the sign we use for a line break. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u23ce]/gu;
/** Longer gaps would push the rest out of sight. */
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
