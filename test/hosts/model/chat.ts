// Chat completions, as OpenCode uses them.
import { imageOf, type Json, type ModelApi, parts, sendEvents, textOf } from './api.ts';

export const chat: ModelApi = {
  read(body) {
    const tools = (body['tools'] ?? []) as { function: Json }[];
    if (tools.length === 0) return undefined;
    const messages = body['messages'] as Json[];
    const latest = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
    const result = latest.findLast(({ role }) => role === 'tool');
    const images = latest.flatMap(({ content }) => parts(content)).flatMap(readImage);
    return {
      tools: tools.map((tool) => ({ name: String(tool.function['name']), isDeferred: false })),
      result: result && { text: textOf(result['content']), images, isError: undefined },
    };
  },
  write(response, answer, number) {
    if (answer.kind === 'searches') throw new Error('Every tool is listed here.');
    const chunk = { id: `chat_${number}`, object: 'chat.completion.chunk', created: 0, model: 'm' };
    const delta =
      answer.kind === 'says'
        ? { role: 'assistant', content: answer.text }
        : { role: 'assistant', tool_calls: [callOf(answer, number)] };
    const reason = answer.kind === 'says' ? 'stop' : 'tool_calls';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    sendEvents(response, [
      { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }], usage },
    ]);
  },
};

function callOf({ tool, args }: { tool: string; args: object }, number: number): Json {
  const call = { name: tool, arguments: JSON.stringify(args) };
  return { index: 0, id: `call_${number}`, type: 'function', function: call };
}

function readImage({ image_url: image }: Json) {
  return imageOf((image as Json | undefined)?.['url']);
}
