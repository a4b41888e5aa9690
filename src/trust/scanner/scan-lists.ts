// Scans a server's whole lists, for `switchboard scan`.
import { parseTools } from '../../mcp/tools.ts';
import { wordsOf, wordsOfText } from '../changes/words.ts';
import { CloneFinder, type OtherServer } from './clones.ts';
import type { Finding } from './finding.ts';
import { scanWords } from './scan.ts';

/** As the server sent them. */
export interface RawLists {
  readonly tools: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly instructions: string | undefined;
}

export interface FoundInItem extends Finding {
  readonly kind: 'tool' | 'prompt' | 'instructions';
  /** Empty for instructions. */
  readonly name: string;
}

export function scanLists(lists: RawLists, others: readonly OtherServer[]): FoundInItem[] {
  const tools = parseTools(lists.tools);
  const clones = new CloneFinder(tools, others);
  const { instructions } = lists;
  return [
    ...tools.flatMap((tool) => {
      const findings = [...scanWords(wordsOf(tool)), ...clones.find(tool)];
      return findings.map((finding) => inItem('tool', tool.name, finding));
    }),
    ...parseTools(lists.prompts).flatMap((prompt) =>
      scanWords(wordsOf(prompt)).map((finding) => inItem('prompt', prompt.name, finding)),
    ),
    ...(instructions === undefined
      ? []
      : scanWords(wordsOfText(instructions)).map((one) => inItem('instructions', '', one))),
  ];
}

function inItem(kind: FoundInItem['kind'], name: string, finding: Finding): FoundInItem {
  return { kind, name, ...finding };
}
