// A tool's result as text for the model: text parts, a placeholder for other parts, up to a limit.
import { isObject } from '../base/object.ts';
import { cut } from './cut.ts';

export interface ResultText {
  readonly text: string;
  readonly isError: boolean;
}

export function formatResult(result: unknown, maxChars: number): ResultText {
  if (!isObject(result))
    return { text: cut(JSON.stringify(result) ?? '', maxChars), isError: false };
  const { content, structuredContent, isError } = result;
  const parts = Array.isArray(content) ? content.map(describePart) : [];
  const text =
    parts.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : parts.join('\n');
  return { text: cut(text === '' ? '(no output)' : text, maxChars), isError: isError === true };
}

function describePart(part: unknown): string {
  if (!isObject(part)) return '';
  const { type, text, data, mimeType, uri, resource } = part;
  if (typeof text === 'string') return text;
  if (isObject(resource)) return describePart(resource);
  const size = typeof data === 'string' ? `${Math.ceil((data.length * 3) / 4)} bytes` : undefined;
  return `[${[type, mimeType, uri, size].filter((word) => typeof word === 'string').join(' ')}]`;
}
