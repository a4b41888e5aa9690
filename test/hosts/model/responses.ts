// The Responses API, as Codex uses it.
import { writeAnswer } from '../../support/model-server.ts';
import { imageOf, type Json, type ModelApi, type OfferedTool, parts, textOf } from './api.ts';

export const responses: ModelApi = {
  read(body) {
    const input = body['input'] as Json[];
    const result = input.findLast(({ type }) => String(type).endsWith('_output'));
    return {
      tools: ((body['tools'] ?? []) as Json[]).flatMap(offered),
      result: result && readResult(result),
    };
  },
  write: writeAnswer,
};

/** The tools of an MCP server are grouped in a namespace. */
function offered({ type, name, tools }: Json): OfferedTool[] {
  if (!Array.isArray(tools)) return [{ name: String(name ?? type), isDeferred: false }];
  return (tools as Json[]).map((tool) => ({
    name: `${String(name)}.${String(tool['name'])}`,
    isDeferred: tool['defer_loading'] === true,
  }));
}

function readResult({ type, output, tools }: Json) {
  if (type === 'tool_search_output') {
    const names = ((tools ?? []) as Json[]).flatMap(offered).map(({ name }) => name);
    return { text: names.join('\n'), images: [], isError: undefined };
  }
  const images = parts(output).flatMap(({ image_url: url }) => imageOf(url));
  return { text: textOf(output), images, isError: undefined };
}
