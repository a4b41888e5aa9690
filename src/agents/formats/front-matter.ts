// Splits a Markdown file into front matter and body. Hand-written, because a well-known library for it
// executes code after `---js`.
import { withoutByteOrderMark } from '../../config/files/files.ts';
import { AgentFileError } from './draft.ts';

export interface FrontMatter {
  /** The YAML between the `---` lines. */
  readonly head: string;
  /** The line of the file it starts on. */
  readonly headLine: number;
  /** Trimmed. */
  readonly body: string;
}

/** In characters. Usual files have a few hundred; beyond this, parsing takes too long. */
const LONGEST_HEAD = 1 << 16;

/** Undefined for a file without front matter. Throws an `AgentFileError` if it's unusable. */
export function splitFrontMatter(text: string): FrontMatter | undefined {
  const lines = withoutByteOrderMark(text).split(/\r\n|\n|\r/);
  const opening = lines.findIndex((line) => line.trim() !== '');
  const opened = /^---[ \t]*([\w-]*)$/.exec(lines[opening]?.trimEnd() ?? '');
  // More dashes are a horizontal rule.
  if (!opened || opened[1]?.startsWith('-')) return undefined;
  const language = opened[1] ?? '';
  if (!['', 'yaml', 'yml'].includes(language.toLowerCase())) {
    const problem = `Front matter in "${language}" is not supported. Write YAML between two --- lines.`;
    throw new AgentFileError(opening + 1, problem);
  }
  const length = lines.slice(opening + 1).findIndex((line) => line.trimEnd() === '---');
  if (length === -1) {
    throw new AgentFileError(
      opening + 1,
      'The front matter is not closed. Add a closing --- line.',
    );
  }
  const closing = opening + 1 + length;
  const head = lines.slice(opening + 1, closing).join('\n');
  if (head.length > LONGEST_HEAD) {
    throw new AgentFileError(
      opening + 1,
      'The front matter is too long. Put instructions below it.',
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
