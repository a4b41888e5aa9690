// MCP tools and tool results, without I/O.
import { isObject } from '../base/object.ts';
import type { Framing } from '../rpc/framing.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** A tool as its server lists it, with at least a name. */
export interface Tool {
  readonly name: string;
  readonly [key: string]: unknown;
}

/** The items that have a name; anything else isn't a tool. */
export function parseTools(items: readonly unknown[]): Tool[] {
  return items.filter(
    (tool): tool is Tool =>
      isObject(tool) && typeof tool['name'] === 'string' && tool['name'] !== '',
  );
}

/** A result with one text block. */
export function textResult(text: string, options: { isError?: boolean } = {}): Verbatim {
  return Verbatim.of({ content: [{ type: 'text', text }], ...options });
}

/**
 * Our own data as a tool result: JSON text, and the same as structured content. Hosts that use
 * Content-Length headers also find its keys at the top level. No other host does: Codex takes a
 * result with `tools` at its top level for the answer to `tools/list`.
 */
export function dataResult(data: Record<string, unknown>, framing: Framing = 'newline'): Verbatim {
  const content = [{ type: 'text', text: JSON.stringify(data) }];
  const topLevel = framing === 'content-length' ? data : {};
  return Verbatim.of({ ...topLevel, content, structuredContent: data });
}

/** The answer unchanged if it is a tool result, otherwise with `content` added. Undefined if neither works. */
export function toToolResult(answer: Verbatim): Verbatim | undefined {
  const { value } = answer;
  if (value === null || value === undefined) return undefined;
  if (!isObject(value)) return textResult(answer.text);
  if (!Object.hasOwn(value, 'content')) return withContent(answer, value);
  return isToolResult(value) ? answer : undefined;
}

/** The whole answer as JSON in one text block, for clients that expect that. */
export function toJsonResult(answer: Verbatim): Verbatim {
  return textResult(answer.text, isErrorResult(answer.value) ? { isError: true } : {});
}

/** Whether a tool ran and reported a failure. */
export function isErrorResult(value: unknown): boolean {
  return isObject(value) && value['isError'] === true;
}

function isToolResult({ content, isError }: Record<string, unknown>): boolean {
  if (!Array.isArray(content)) return false;
  if (isError !== undefined && typeof isError !== 'boolean') return false;
  return content.every((item) => isObject(item) && typeof item['type'] === 'string');
}

function withContent(answer: Verbatim, value: Record<string, unknown>): Verbatim {
  const added = { content: [{ type: 'text', text: answer.text }] };
  const isStructured = Object.hasOwn(value, 'structuredContent');
  const structured = isStructured ? '' : `,"structuredContent":${answer.text}`;
  const own = answer.text.trim().slice(1, -1);
  const rest = own.trim() === '' ? '' : `,${own}`;
  const text = `{"content":${JSON.stringify(added.content)}${structured}${rest}}`;
  return new Verbatim(text, { structuredContent: value, ...value, ...added });
}
