// What agents in Markdown have in common: keys in front matter, and below it the instructions.
import { basename } from 'node:path';
import type { RunFields } from '../agent.ts';
import { type AgentFile, AgentFileError } from './draft.ts';
import { textOf } from './fields.ts';
import { splitFrontMatter } from './front-matter.ts';
import { type Head, parseHead } from './yaml.ts';

export interface Markdown extends Head {
  readonly body: string | undefined;
}

const WITHOUT_HEAD: Head = { values: {}, lineOf: () => 1, warnings: [] };

/** Throws an `AgentFileError` where the front matter is missing or cannot be read. */
export async function parseMarkdown({ text }: AgentFile): Promise<Markdown> {
  const parts = splitFrontMatter(text);
  if (!parts) throw new AgentFileError(1, 'It has no front matter: keys between two lines of ---.');
  return { ...(await parseHead(parts)), body: parts.body || undefined };
}

/** The same for files that may do without front matter. */
export async function parsePlainMarkdown(file: AgentFile): Promise<Markdown> {
  if (splitFrontMatter(file.text)) return parseMarkdown(file);
  return { ...WITHOUT_HEAD, body: file.text.trim() || undefined };
}

/** The name of the file without what says which format it has. */
export function nameFromFile(file: string): string {
  return basename(file).replace(/(?:\.(?:agent|chatmode))?\.md$/i, '');
}

/** Model and provider. A list of models is in the order of preference; a name may say whose list it is from. */
export function modelOf(values: Head['values']): RunFields {
  const wanted = values['model'];
  const first: unknown = Array.isArray(wanted) ? wanted[0] : wanted;
  const model = textOf(first)?.replace(/ \(copilot\)$/i, '');
  const modelProvider = textOf(values['provider']) ?? textOf(values['modelProvider']);
  return {
    ...(model !== undefined && { model }),
    ...(modelProvider !== undefined && { modelProvider }),
  };
}
