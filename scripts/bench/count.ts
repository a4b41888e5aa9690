// Tokens as a model counts them (o200k_base), of a list of tools as a model is shown it: name,
// description and input schema of each.
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
  // Words such as <|endoftext|> in a description are text like any other.
  return countTokens(text, { disallowedSpecial: new Set() });
}
