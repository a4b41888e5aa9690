// The command that an agent wrote, from what the engine says it runs: a shell, told to run it. The shell is left
// out only where it is surely one of the system's own and has been told nothing else; what is not understood to
// the last character is shown as it is.

/** An agent may name any program as its shell: one that is merely called bash is none of these. */
const SHELLS = new Set(
  ['bash', 'sh', 'zsh'].flatMap((name) => [`/bin/${name}`, `/usr/bin/${name}`]),
);
const RUN_THIS = new Set(['-c', '-lc']);

/** As one text, in which words are quoted, or as a list of words. Empty for what is no command. */
export function commandOf(command: unknown): string {
  if (typeof command === 'string') return scriptIn(splitWords(command)) ?? command;
  if (!Array.isArray(command)) return '';
  const words = command.map(String);
  return scriptIn(words) ?? words.map(quoted).join(' ');
}

function scriptIn(words: readonly string[] | undefined): string | undefined {
  const [shell, option, script] = words ?? [];
  if (words?.length !== 3 || shell === undefined || option === undefined) return undefined;
  return SHELLS.has(shell) && RUN_THIS.has(option) ? script : undefined;
}

/** A piece of a word: plain, in single quotes, in double quotes; or what is between two words. */
const PIECE =
  /(?<plain>[\w%+,./:=@\]-]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\$`]|\\["\\$`])*)"|(?<gap> )/y;

/** Undefined where anything in it means more than itself. */
function splitWords(text: string): string[] | undefined {
  const words = [''];
  let at = 0;
  while (at < text.length) {
    PIECE.lastIndex = at;
    const found = PIECE.exec(text);
    if (!found) return undefined;
    const { plain, single, double, gap } = found.groups ?? {};
    if (gap === undefined) {
      const piece = plain ?? single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? '';
      words.push(`${words.pop() ?? ''}${piece}`);
    } else words.push('');
    at = PIECE.lastIndex;
  }
  return words;
}

function quoted(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
