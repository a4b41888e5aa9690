// The Gemini API, as Gemini CLI uses it.
import { type Image, type Json, type ModelApi, sendEvents } from './api.ts';

export const generateContent: ModelApi = {
  read(body) {
    const tools = ((body['tools'] ?? []) as Json[]).flatMap(
      ({ functionDeclarations }) => (functionDeclarations ?? []) as Json[],
    );
    if (tools.length === 0) return undefined;
    const last = (body['contents'] as Json[]).at(-1);
    const parts = (last?.['parts'] ?? []) as Json[];
    const answered = parts.findLast(({ functionResponse }) => functionResponse !== undefined);
    return {
      tools: tools.map(({ name }) => ({ name: String(name), isDeferred: false })),
      result: answered && readResult(answered['functionResponse'] as Json, parts),
    };
  },
  write(response, answer) {
    if (answer.kind === 'searches') throw new Error('Every tool is listed here.');
    const part =
      answer.kind === 'says'
        ? { text: answer.text }
        : { functionCall: { name: answer.tool, args: answer.args } };
    const content = { role: 'model', parts: [part] };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    sendEvents(response, [
      { candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata },
    ]);
  },
};

function readResult(answered: Json, parts: readonly Json[]) {
  const { output, error } = (answered['response'] ?? {}) as Record<string, string>;
  return {
    text: output ?? error ?? '',
    images: [...parts, ...((answered['parts'] ?? []) as Json[])].flatMap(readImage),
    isError: error !== undefined,
  };
}

function readImage({ inlineData }: Json): Image[] {
  return inlineData ? [inlineData as Image] : [];
}
