// Counts the tokens (o200k_base) of a tool list as a model sees it: the name, description and input schema of each
// tool.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
}

export function countToolTokens(tools: readonly Tool[]): number {
  const shown = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  return countTextTokens(JSON.stringify(shown));
}

export function countTextTokens(text: string): number {
  // Strings such as <|endoftext|> in a description are plain text.
  return countTokens(text, { disallowedSpecial: new Set() });
}
