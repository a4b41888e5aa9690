// Splits a command line into words, without a shell: quotes group words, and nothing is expanded.

/** Part of a word, or the gap between two. */
const PIECE =
  /(?<gap>\s+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|\\(?<escaped>.)|(?<plain>[^\s'"\\]+)/sy;

/** Undefined if a quote isn't closed. */
export function splitCommand(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  const pattern = new RegExp(PIECE);
  while (pattern.lastIndex < text.length) {
    const { gap, single, double, escaped, plain } = pattern.exec(text)?.groups ?? {};
    if (gap !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    const piece = single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? plain;
    if (piece === undefined) return undefined;
    word = (word ?? '') + piece;
  }
  return word === undefined ? words : [...words, word];
}
