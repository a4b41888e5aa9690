// Parts a Markdown file into its front matter and its body. Done by hand: a well-known library for it runs
// code that a file brings along behind `---js`.
import { withoutByteOrderMark } from '../../config/files/files.ts';
import { AgentFileError } from './draft.ts';

export interface FrontMatter {
  /** The YAML between the lines of dashes. */
  readonly head: string;
  /** The line of the file on which it begins. */
  readonly headLine: number;
  /** What follows, without blank lines around it. */
  readonly body: string;
}

/** In characters. What people write there has a few hundred; beyond this, reading it takes too long. */
const LONGEST_HEAD = 1 << 16;

/** Undefined for a text without front matter. Throws an `AgentFileError` where it is not to be used. */
export function splitFrontMatter(text: string): FrontMatter | undefined {
  const lines = withoutByteOrderMark(text).split(/\r\n|\n|\r/);
  const opening = lines.findIndex((line) => line.trim() !== '');
  const opened = /^---[ \t]*([\w-]*)$/.exec(lines[opening]?.trimEnd() ?? '');
  // A line of more dashes is a rule across the page.
  if (!opened || opened[1]?.startsWith('-')) return undefined;
  const language = opened[1] ?? '';
  if (!['', 'yaml', 'yml'].includes(language.toLowerCase())) {
    const says = `Front matter in "${language}" is not read: write YAML between lines of ---.`;
    throw new AgentFileError(opening + 1, says);
  }
  const length = lines.slice(opening + 1).findIndex((line) => line.trimEnd() === '---');
  if (length === -1) {
    throw new AgentFileError(opening + 1, 'The front matter does not end: a line --- is missing.');
  }
  const closing = opening + 1 + length;
  const head = lines.slice(opening + 1, closing).join('\n');
  if (head.length > LONGEST_HEAD) {
    throw new AgentFileError(
      opening + 1,
      'The front matter is too long. Instructions belong below it.',
    );
  }
  return {
    head,
    headLine: opening + 2,
    body: lines
      .slice(closing + 1)
      .join('\n')
      .trim(),
  };
}
