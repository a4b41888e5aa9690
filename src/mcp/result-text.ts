// A tool's result as text: its text parts, and a placeholder for each other part.
import { isObject } from '../base/object.ts';

/** Without any parts, it is the structured content as JSON. */
export function textOfResult(result: unknown): string {
  if (!isObject(result)) return JSON.stringify(result) ?? '';
  const { content, structuredContent } = result;
  const parts = Array.isArray(content) ? content.map(describePart) : [];
  return parts.length === 0 && structuredContent !== undefined
    ? JSON.stringify(structuredContent)
    : parts.join('\n');
}

function describePart(part: unknown): string {
  if (!isObject(part)) return '';
  const { type, text, data, mimeType, uri, resource } = part;
  if (typeof text === 'string') return text;
  if (isObject(resource)) return describePart(resource);
  const size = typeof data === 'string' ? `${Math.ceil((data.length * 3) / 4)} bytes` : undefined;
  return `[${[type, mimeType, uri, size].filter((word) => typeof word === 'string').join(' ')}]`;
}
