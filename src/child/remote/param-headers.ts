// Repeats arguments in headers if the tool's schema asks for it (`x-mcp-header`), so that proxies can
// route calls without reading bodies.
import { encodeHeaderValue, findRepeatedArguments } from '../../mcp/repeated.ts';

/** The input schema of a tool, if known. */
export type InputSchemaOf = (tool: string) => unknown;

export function paramHeaders(schema: unknown, args: unknown): Record<string, string> {
  return Object.fromEntries(
    findRepeatedArguments(schema, args).map(({ header, text }) => [
      header.toLowerCase(),
      encodeHeaderValue(text),
    ]),
  );
}
