// The Messages API, as Claude Code uses it.
import { type Answer, type Json, type ModelApi, parts, sendEvents, textOf } from './api.ts';

export const messages: ModelApi = {
  read(body) {
    const tools = (body['tools'] ?? []) as Json[];
    if (tools.length === 0) return undefined;
    const said = body['messages'] as Json[];
    const last = said.findLast(({ role }) => role === 'user');
    const result = parts(last?.['content']).findLast(({ type }) => type === 'tool_result');
    const loaded = loadedSince(said);
    return {
      tools: tools.map(({ name, defer_loading: isDeferred }) => ({
        name: String(name),
        isDeferred: isDeferred === true && !loaded.has(String(name)),
      })),
      result: result && readResult(result),
    };
  },
  write(response, answer, number) {
    const block = blockOf(answer, number);
    const reason = answer.kind === 'says' ? 'end_turn' : 'tool_use';
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'loopback' };
    sendEvents(response, [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: block.start },
      { type: 'content_block_delta', index: 0, delta: block.delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]);
  },
};

/** Deferred tools that were announced to the model with their schemas, and not withdrawn since. */
function loadedSince(said: readonly Json[]): Set<string> {
  const loaded = new Set<string>();
  for (const { type, tool, text } of said.flatMap(({ content }) => parts(content))) {
    if (type === 'tool_addition') loaded.add(String((tool as Json)['name']));
    if (!String(text).includes('tools are no longer available')) continue;
    for (const line of String(text).split('\n')) loaded.delete(line);
  }
  return loaded;
}

function readResult({ content, is_error: isError }: Json) {
  const images = parts(content).filter(({ type }) => type === 'image');
  return {
    text: textOf(content),
    images: images.map(({ source }) => {
      const { media_type: mimeType, data } = source as Record<string, string>;
      return { mimeType: mimeType ?? '', data: data ?? '' };
    }),
    isError: isError === true,
  };
}

function blockOf(answer: Answer, number: number): { start: Json; delta: Json } {
  if (answer.kind === 'says') {
    return {
      start: { type: 'text', text: '' },
      delta: { type: 'text_delta', text: answer.text },
    };
  }
  const [name, input] =
    answer.kind === 'calls'
      ? [answer.tool, answer.args]
      : ['ToolSearch', { query: answer.query, max_results: 5 }];
  return {
    start: { type: 'tool_use', id: `use_${number}`, name, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  };
}
