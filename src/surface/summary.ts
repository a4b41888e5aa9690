// Shortens descriptions to one line.

/**
 * Collapses whitespace and cuts the text to `maxChars`: after a sentence if one ends in the second half,
 * otherwise after a word or character, with an ellipsis.
 */
export function summarise(text: string | undefined, maxChars: number, ellipsis = '…'): string {
  const tidy = (text ?? '').replaceAll(/\s+/g, ' ').trim();
  if (tidy.length <= maxChars) return tidy;
  const sentence = endOfLastSentence(tidy, maxChars);
  if (sentence > maxChars / 2) return tidy.slice(0, sentence);
  const room = maxChars - ellipsis.length;
  const space = tidy.lastIndexOf(' ', room);
  const cut = space > room * 0.8 ? tidy.slice(0, space) : wholeCharacters(tidy, room);
  return `${cut.trimEnd()}${ellipsis}`;
}

/** The index after the last sentence that ends within the limit. */
function endOfLastSentence(text: string, limit: number): number {
  for (let at = limit - 1; at > 0; at--) {
    if ('.!?'.includes(text.charAt(at)) && text.charAt(at + 1) === ' ') return at + 1;
  }
  return 0;
}

/** As many whole grapheme clusters as fit into `room` code units. */
function wholeCharacters(text: string, room: number): string {
  let end = 0;
  // Splits only as much as needed: a description can be megabytes long.
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, room + 64))) {
    if (end + segment.length > room) break;
    end += segment.length;
  }
  return text.slice(0, end);
}
