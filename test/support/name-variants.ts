// Spellings of a name that a server might accept for it, and names that only look like it.

const ZERO_WIDTH = [
  '\u200b',
  '\u200c',
  '\u200d',
  '\u2060',
  '\u00ad',
  '\ufeff',
  '\u034f',
  '\u{e0061}',
];
const SPACES = [' ', '\t', '\n', '\u00a0', '\u2003', '\u3000'];
const SEPARATORS = [
  '-',
  ' ',
  '.',
  '/',
  ':',
  '__',
  '',
  '\u2010',
  '\u2013',
  '\uff3f',
  '\u203f',
  '%5F',
];
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: '\u0430',
  c: '\u0441',
  d: '\u0501',
  e: '\u0435',
  i: '\u0456',
  l: '\u04cf',
  o: '\u043e',
  p: '\u0440',
  t: '\u0442',
};

/** At least 1,000 of them for a name of ten letters, without the name itself. */
export function variantsOf(name: string): string[] {
  const variants = new Set<string>();
  const letters = name.split('');
  const at = (index: number, change: (letter: string) => string): string =>
    letters.map((letter, place) => (place === index ? change(letter) : letter)).join('');
  for (let mask = 1; mask < 2_048; mask++) {
    const cased = letters.map((letter, place) =>
      (mask >> place) & 1 ? letter.toUpperCase() : letter,
    );
    variants.add(cased.join(''));
  }
  for (const [index, letter] of letters.entries()) {
    for (const mark of [...ZERO_WIDTH, ...SPACES]) variants.add(at(index, (each) => mark + each));
    for (const mark of ['\u0301', '\u0323', '\u20dd'])
      variants.add(at(index, (each) => each + mark));
    variants.add(at(index, (each) => String.fromCodePoint((each.codePointAt(0) ?? 0) + 0xfee0)));
    variants.add(at(index, (each) => encodeURIComponent(each) + '\u0000'));
    variants.add(at(index, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`));
    variants.add(at(index, (each) => `%${each.charCodeAt(0).toString(16)}`));
    variants.add(at(index, (each) => each + each));
    variants.add(at(index, () => ''));
    if (LOOKALIKES[letter]) variants.add(at(index, () => LOOKALIKES[letter] ?? ''));
  }
  for (const separator of SEPARATORS) {
    variants.add(name.replaceAll('_', separator));
    variants.add(name.toUpperCase().replaceAll('_', separator));
  }
  const camel = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  for (const word of [camel, camel.charAt(0).toUpperCase() + camel.slice(1)]) variants.add(word);
  for (const space of [...SPACES, ...ZERO_WIDTH, '\0', '\r\n', '\u001b[1m', '/', '.', '#', '?']) {
    for (const each of [`${space}${name}`, `${name}${space}`, `${space}${name}${space}`]) {
      variants.add(each);
    }
  }
  for (const prefix of ['mcp__', 'box__', 'mcp__box__', 'box_', 'box.', './', '../', 'tools/']) {
    variants.add(prefix + name);
  }
  variants.add(name.normalize('NFD'));
  variants.delete(name);
  return [...variants];
}
