// Derives a one-line description from a server's title and tool names, for servers the user hasn't described:
// `Filesystem: read text file, create directory, search files`. Both are untrusted, so only their letters and
// digits are used.
import { hasHiddenCharacters } from '../base/text.ts';

export interface ServerFacts {
  /** `title` and `name` of its `serverInfo`. */
  readonly title: string | undefined;
  readonly name: string | undefined;
  /** The names of the tools that hosts may use. */
  readonly tools: readonly string[];
}

const LONGEST_DESCRIPTION = 100;
const LONGEST_TITLE = 40;
const MOST_WORDS = 4;
const SEPARATOR = ', ';

/** Words that say nothing about a server. */
const EMPTY = new Set(['mcp', 'server', 'servers', 'the', 'official', 'api', 'secure']);
/** Common verbs: nouns tell servers apart. */
const VERBS = new Set(
  'add append apply build call cancel check clear close convert copy count create delete describe disable do edit enable execute export fetch find generate get import insert list load make move open patch post put query read remove rename replace reset restart retrieve run save search select send set show start stop test toggle update upload upsert use validate view wait write'.split(
    ' ',
  ),
);
const SMALL = new Set([
  'a',
  'an',
  'all',
  'and',
  'by',
  'for',
  'from',
  'in',
  'of',
  'on',
  'or',
  'to',
  'with',
]);

/** Undefined if there is nothing to derive it from. */
export function describeServer({ title, name, tools }: ServerFacts): string | undefined {
  const phrases = tools.filter((tool) => !hasHiddenCharacters(tool)).map(wordsOf);
  const shared = sharedFirstWord(phrases);
  const subject = withWord(titleFrom(title) || titleFrom(name), shared);
  const names = phrases.map((words) => (shared === undefined ? words : words.slice(1)));
  const kept = fitting(byNews(names), LONGEST_DESCRIPTION - subject.length - ': '.length);
  const line = [subject, kept.join(SEPARATOR)].filter(Boolean).join(': ');
  return line === '' ? undefined : line;
}

/** The words that tell servers apart, in their original case. */
function titleFrom(text = ''): string {
  const words = (text.split('/').at(-1) ?? '').match(/[\p{L}\p{N}]+/gu) ?? [];
  const telling = words.filter((word) => !EMPTY.has(word.toLowerCase()));
  let title = '';
  for (const word of telling) {
    const longer = title === '' ? word : `${title} ${word}`;
    if (longer.length > LONGEST_TITLE) break;
    title = longer;
  }
  return title;
}

function wordsOf(tool: string): string[] {
  const spaced = tool.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ');
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The first word, if all names share it: `browser` in `browser_click`. */
function sharedFirstWord(phrases: readonly (readonly string[])[]): string | undefined {
  const [first] = phrases;
  if (!first || phrases.length < 3) return undefined;
  return phrases.every((words) => words.length > 1 && words[0] === first[0]) ? first[0] : undefined;
}

/** Appends the word unless the title already contains it. */
function withWord(title: string, word: string | undefined): string {
  if (word === undefined || title.toLowerCase().includes(word)) return title;
  return [title, word].filter(Boolean).join(' ');
}

/** Tools that introduce a new noun first: "list issues" adds little to "create issue". */
function byNews(phrases: readonly (readonly string[])[]): string[] {
  const seen = new Set<string>();
  const news: string[] = [];
  const rest: string[] = [];
  for (const words of phrases) {
    const things = words.filter((word) => !VERBS.has(word) && !SMALL.has(word)).map(singular);
    const isNews = things.some((thing) => !seen.has(thing));
    for (const thing of things) seen.add(thing);
    (isNews ? news : rest).push(words.slice(0, MOST_WORDS).join(' '));
  }
  return [...new Set([...news, ...rest])].filter(Boolean);
}

function singular(word: string): string {
  return word.replace(/(?<=\p{L}{3})s$/u, '');
}

function fitting(phrases: readonly string[], room: number): string[] {
  let left = room + SEPARATOR.length;
  return phrases.filter((phrase) => {
    const size = phrase.length + SEPARATOR.length;
    if (size > left) return false;
    left -= size;
    return true;
  });
}
