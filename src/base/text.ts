// Text for people and models: removing hidden characters, formatting, finding similar names.

/**
 * Invisible characters that change what a reader sees: control characters except tab and line feed, line
 * and paragraph separators, the blank Braille pattern, and everything Unicode calls ignorable: zero-width
 * and bidirectional marks, tags, fillers, variation selectors.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- finding them is the point
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu;

const TERMINAL_SEQUENCE =
  // oxlint-disable-next-line no-control-regex -- terminals' own sequences begin with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g;

/** Text without terminal sequences and hidden characters: safe for a terminal, a log and a model. */
export function cleanText(text: string): string {
  if (!hasHiddenCharacters(text)) return text;
  const plain = text.replace(TERMINAL_SEQUENCE, '');
  return plain.replace(HIDDEN, (hidden, at: number) => (isSeen(plain, at) ? hidden : ''));
}

/** A name in a list or a table: escapes hidden characters and line breaks, so that names can't be confused. */
export function printable(name: string): string {
  return escapeHidden(name).replaceAll('\n', String.raw`\n`).replaceAll('\t', String.raw`\t`);
}

/** Equivalent JSON that is safe to print, with hidden characters as \u escapes. */
export function escapeHidden(json: string): string {
  return json.replace(HIDDEN, escapeUnits);
}

export function hasHiddenCharacters(text: string): boolean {
  if (text.search(HIDDEN) === -1) return false;
  for (const { index } of text.matchAll(HIDDEN)) if (!isSeen(text, index)) return true;
  return false;
}

/** Each hidden character and its index, without those that are part of visible ones. */
export function hiddenIn(text: string): { readonly at: number; readonly character: string }[] {
  if (text.search(HIDDEN) === -1) return [];
  return [...text.matchAll(HIDDEN)]
    .filter(({ index }) => !isSeen(text, index))
    .map(({ index, 0: character }) => ({ at: index, character }));
}

/** Escapes hidden characters so that they can be seen: `\u200b`. */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN, (hidden, at: number) =>
    isSeen(text, at) ? hidden : escapeUnits(hidden),
  );
}

/** Names hidden characters, so that a person sees where they are: `<U+200B>`. */
export function nameHidden(text: string): string {
  return text.replace(HIDDEN, (hidden, at: number) => {
    if (isSeen(text, at)) return hidden;
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `<U+${code.padStart(4, '0')}>`;
  });
}

/** Escapes each UTF-16 unit, as JSON does. */
function escapeUnits(character: string): string {
  const codes = character.split('').map((unit) => unit.charCodeAt(0).toString(16));
  return codes.map((code) => String.raw`\u${code.padStart(4, '0')}`).join('');
}

/** Whether the usually hidden character at this index is part of a visible one. */
function isSeen(text: string, at: number): boolean {
  visibleUse ??= createVisibleUse();
  visibleUse.lastIndex = at;
  return visibleUse.test(text);
}

let visibleUse: RegExp | undefined; // lazy: hardly any text needs it

/** Matches hidden characters in their proper place: in emoji, and in scripts whose letters join. */
function createVisibleUse(): RegExp {
  const letter = `[${JOINING_SCRIPTS.map((script) => `\\p{Script=${script}}`).join('')}]`;
  const uses = [
    String.raw`(?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})`,
    String.raw`(?<=\p{Emoji})[\ufe0e\ufe0f]`,
    String.raw`(?<=${letter})[\u200c\u200d](?=${letter})`,
  ];
  return new RegExp(uses.join('|'), 'uy');
}

const JOINING_SCRIPTS = [
  ['Arabic', 'Syriac', 'Nko', 'Mandaic', 'Mongolian', 'Tibetan', 'Khmer', 'Myanmar'],
  ['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada'],
  ['Malayalam', 'Sinhala', 'Balinese', 'Javanese'],
].flat();

/** Without line breaks and hidden characters, such as for a name in a sentence. */
export function onOneLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/g, ' ');
}

/** Text from another party for quoting in a sentence: one line, cleaned, truncated and masked. */
export function excerpt(
  text: string,
  longest: number,
  mask: (text: string) => string = (same) => same,
): string {
  // Masked again after cleaning: a hidden character inside a secret would hide it from the mask.
  const words = mask(onOneLine(mask(text)).trim());
  return words.length > longest ? `${words.slice(0, longest)}…` : words;
}

/** Makes text from another party safe as part of a file name. */
export function toFileName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);
}

const UNITS = [
  { unit: 'd', ms: 86_400_000, from: 2 },
  { unit: 'h', ms: 3_600_000, from: 2 },
  { unit: 'min', ms: 60_000, from: 2 },
  { unit: 's', ms: 1_000, from: 1 },
];

/** Uses the largest unit that is precise enough: 300 ms, 1.5 s, 90 s, 5 min, 24 h, 3 d. */
export function formatDuration(ms: number): string {
  const fitting = UNITS.find((one) => ms >= one.from * one.ms);
  if (!fitting) return `${Math.round(ms)} ms`;
  const count = ms / fitting.ms;
  return `${count < 10 ? Number(count.toFixed(1)) : Math.round(count)} ${fitting.unit}`;
}

/** Up to `count` names that `word` was most likely meant to be, best first. */
export function nearest(word: string, names: Iterable<string>, count = 3): string[] {
  const wanted = word.toLowerCase();
  const scored: { name: string; score: number }[] = [];
  for (const name of names) {
    const candidate = name.toLowerCase();
    const length = Math.max(wanted.length, candidate.length);
    const contained =
      wanted.length > 2 && (candidate.includes(wanted) || wanted.includes(candidate));
    const score = contained ? 0.2 : editDistance(wanted, candidate) / Math.max(1, length);
    if (score <= 0.5) scored.push({ name, score });
  }
  scored.sort((a, b) => a.score - b.score);
  return scored.slice(0, count).map(({ name }) => name);
}

/** `Did you mean "x"?` for the name closest to an unknown word; empty if none is close. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const [meant] = nearest(word, names, 1);
  return meant === undefined ? '' : `Did you mean "${meant}"?`;
}

/** How many letters must be added, dropped or changed to turn one word into the other. */
function editDistance(a: string, b: string): number {
  // Nobody types names this long, and comparing them would be slow.
  if (a.length > 128 || b.length > 128) return a === b ? 0 : Math.max(a.length, b.length);
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(change, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
