// Extracts the command an agent wrote from Codex's invocation of a shell. It drops the shell only if it's
// certainly the system's own and gets nothing else; anything not understood to the last character is shown
// as is.

/** Full paths: an agent may use any program as its shell, and call it bash. */
const SHELLS = new Set(
  ['bash', 'sh', 'zsh'].flatMap((name) => [`/bin/${name}`, `/usr/bin/${name}`]),
);
const RUN_THIS = new Set(['-c', '-lc']);

/** Accepts one string of quoted words, or a list of words. Empty for anything else. */
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

/** Part of a word: plain, single-quoted or double-quoted; or the gap between words. */
const PIECE =
  /(?<plain>[\w%+,./:=@\]-]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\$`]|\\["\\$`])*)"|(?<gap> )/y;

/** Undefined if any character has a special meaning. */
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
