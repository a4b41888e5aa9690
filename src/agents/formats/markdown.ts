// Agents in Markdown: keys in the front matter, instructions below.
import { basename } from 'node:path';
import type { RunFields } from '../agent.ts';
import { type AgentFile, AgentFileError } from './draft.ts';
import { textOf } from './fields.ts';
import { type FrontMatter, splitFrontMatter } from './front-matter.ts';
import { type Head, parseHead } from './yaml.ts';

export interface Markdown extends Head {
  readonly body: string | undefined;
}

const WITHOUT_HEAD: Head = { values: {}, lineOf: () => 1, warnings: [] };

/** Throws an `AgentFileError` if the front matter is missing or can't be parsed. */
export async function parseMarkdown({ text }: AgentFile): Promise<Markdown> {
  const parts = splitFrontMatter(text);
  if (!parts) throw new AgentFileError(1, 'Missing front matter: keys between two --- lines.');
  return parseParts(parts);
}

/** For files whose front matter is optional. */
export async function parsePlainMarkdown(file: AgentFile): Promise<Markdown> {
  const parts = splitFrontMatter(file.text);
  return parts ? parseParts(parts) : { ...WITHOUT_HEAD, body: file.text.trim() || undefined };
}

async function parseParts(parts: FrontMatter): Promise<Markdown> {
  return { ...(await parseHead(parts)), body: parts.body || undefined };
}

/** The file's name without its extensions. */
export function nameFromFile(file: string): string {
  return basename(file).replace(/(?:\.(?:agent|chatmode))?\.md$/i, '');
}

/** Model and provider. In a list, the first model counts. Copilot may append its own name. */
export function modelOf(values: Head['values']): RunFields {
  const wanted = values['model'];
  const first: unknown = Array.isArray(wanted) ? wanted[0] : wanted;
  const model = textOf(first)?.replace(/ \(copilot\)$/i, '');
  const provider = textOf(values['provider']) ?? textOf(values['modelProvider']);
  return {
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
  };
}
