// A tool's result as text for the model, up to a limit.
import { textOfResult } from '../mcp/result-text.ts';
import { isErrorResult } from '../mcp/tools.ts';
import { cut } from './cut.ts';

export interface ResultText {
  readonly text: string;
  readonly isError: boolean;
}

export function formatResult(result: unknown, maxChars: number): ResultText {
  const text = textOfResult(result) || '(no output)';
  return { text: cut(text, maxChars), isError: isErrorResult(result) };
}
