// A model provider on loopback. It speaks the Messages API and chat completions, follows a script, and
// records its requests.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request in one form, from either API. */
interface ModelRequest {
  readonly api: 'messages' | 'chat';
  readonly authorization: string | undefined;
  /** The request headers. */
  readonly headers: IncomingHttpHeaders;
  readonly model: string;
  readonly system: string;
  /** The conversation so far: queries and answers as text, in order. */
  readonly said: readonly string[];
  readonly tools: readonly { name: string; description: string; schema: unknown }[];
  /** The results of the last tool calls. */
  readonly results: readonly { id: string; text: string; isError: boolean }[];
  /** The raw body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The connection closed before the answer. */
  isAborted: boolean;
}

export type Reply =
  | { readonly text: string; readonly stop?: 'limit' | 'refused' }
  /** Cuts the connection in the middle of an answer. */
  | 'broken'
  | {
      readonly calls: readonly { name: string; args: unknown }[];
      readonly text?: string;
      readonly stop?: 'limit' | 'refused';
    }
  | { readonly status: number; readonly message?: string; readonly headers?: object }
  /** The whole body. */
  | { readonly body: string; readonly headers?: object; readonly code?: number }
  /** No answer at all. */
  | 'never';

export type Script = (request: ModelRequest, index: number) => Reply | Promise<Reply>;

export interface ModelServer {
  readonly url: string;
  readonly requests: ModelRequest[];
  /** The environment variables that point an assistant to it. */
  env(api: ModelRequest['api']): Record<string, string>;
}

export const KEY = 'sk-test-0123456789abcdef';
/** The usage each answer reports. */
export const USAGE = { inputTokens: 100, outputTokens: 20 };

type Json = Record<string, unknown>;

export async function startModelServer(
  script: Script,
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const server = createServer((incoming, response) => void answer(incoming, response));
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Json;
    const { headers } = incoming;
    const request = incoming.url?.endsWith('/chat/completions')
      ? readChat(body, headers)
      : readMessages(body, headers);
    const index = requests.push(request) - 1;
    response.once('close', () => {
      request.isAborted = !response.writableEnded;
    });
    const reply = await script(request, index);
    if (reply === 'never') return;
    response.setHeader('content-type', 'application/json');
    if (reply === 'broken') {
      response.setHeader('content-length', '1000');
      return void response.write('{"type":', () => incoming.socket.resetAndDestroy());
    }
    for (const [name, value] of Object.entries('headers' in reply ? (reply.headers ?? {}) : {})) {
      response.setHeader(name, String(value));
    }
    if ('body' in reply) {
      response.statusCode = reply.code ?? 200;
      return void response.end(reply.body);
    }
    if ('status' in reply) {
      response.statusCode = reply.status;
      const error = { type: 'some_error', message: reply.message ?? 'No.' };
      return void response.end(JSON.stringify({ type: 'error', error }));
    }
    const written = request.api === 'chat' ? writeChat(reply, index) : writeMessages(reply, index);
    response.end(JSON.stringify(written));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url,
    requests,
    env: (api) =>
      api === 'messages'
        ? { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }
        : { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` },
  };
}

type Answer = Exclude<Reply, 'never' | 'broken' | { status: number } | { body: string }>;

function writeMessages(reply: Answer, index: number): Json {
  const uses = 'calls' in reply ? reply.calls : [];
  const text = reply.text === undefined ? [] : [{ type: 'text', text: reply.text }];
  const reasons = { limit: 'max_tokens', refused: 'refusal' };
  return {
    id: `msg_${index}`,
    type: 'message',
    role: 'assistant',
    model: 'some-model',
    content: [
      ...text,
      ...uses.map(({ name, args }, at) => ({
        type: 'tool_use',
        id: `use_${index}_${at}`,
        name,
        input: args,
      })),
    ],
    stop_reason: reply.stop ? reasons[reply.stop] : uses.length > 0 ? 'tool_use' : 'end_turn',
    usage: { input_tokens: USAGE.inputTokens, output_tokens: USAGE.outputTokens },
  };
}

function writeChat(reply: Answer, index: number): Json {
  const uses = 'calls' in reply ? reply.calls : [];
  const calls = uses.map(({ name, args }, at) => ({
    id: `use_${index}_${at}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const reasons = { limit: 'length', refused: 'content_filter' };
  return {
    choices: [
      {
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: reply.stop ? reasons[reply.stop] : calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: USAGE.inputTokens, completion_tokens: USAGE.outputTokens },
  };
}

function readMessages(body: Json, headers: IncomingHttpHeaders): ModelRequest {
  const messages = body['messages'] as { role: string; content: string | Json[] }[];
  const tools = (body['tools'] ?? []) as Json[];
  const last = messages.at(-1)?.content;
  const texts = (content: string | Json[]): string[] =>
    typeof content === 'string'
      ? [content]
      : content.filter(({ type }) => type === 'text').map(({ text }) => text as string);
  return {
    api: 'messages',
    authorization: headers.authorization,
    headers,
    model: body['model'] as string,
    system: (body['system'] as Json[]).map(({ text }) => text).join('\n'),
    said: messages.flatMap(({ content }) => texts(content)),
    tools: tools.map(({ name, description, input_schema: schema }) => ({
      name: name as string,
      description: description as string,
      schema,
    })),
    results: (Array.isArray(last) ? last : [])
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id: id, content, is_error: isError }) => ({
        id: id as string,
        text: content as string,
        isError: isError === true,
      })),
    body,
    isAborted: false,
  };
}

function readChat(body: Json, headers: IncomingHttpHeaders): ModelRequest {
  const messages = body['messages'] as Json[];
  const tools = (body['tools'] ?? []) as { function: Json }[];
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  return {
    api: 'chat',
    authorization: headers.authorization,
    headers,
    model: body['model'] as string,
    system: messages[0]?.['content'] as string,
    said: messages
      .slice(1)
      .filter(({ role, content }) => role !== 'tool' && typeof content === 'string')
      .map(({ content }) => content as string),
    tools: tools.map(({ function: { name, description, parameters } }) => ({
      name: name as string,
      description: description as string,
      schema: parameters,
    })),
    results: messages
      .slice(lastAnswer + 1)
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id: id, content }) => ({
        id: id as string,
        text: (content as string).replace(/^Error: /, ''),
        isError: (content as string).startsWith('Error: '),
      })),
    body,
    isAborted: false,
  };
}
