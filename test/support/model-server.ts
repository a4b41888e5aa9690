// A model on loopback for the engine: the Responses API, streamed, with scripted answers. It records its
// requests, so that tests see the effect of an agent's settings.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request from the engine. */
interface ModelRequest {
  readonly authorization: string | undefined;
  /** When it arrived, by `performance.now()`. */
  readonly at: number;
  readonly body: ModelRequestBody;
}

export interface ModelRequestBody {
  readonly model: string;
  readonly input: readonly Record<string, unknown>[];
  readonly tools?: readonly { readonly type: string; readonly name?: string }[];
  readonly reasoning?: Record<string, unknown>;
  readonly text?: Record<string, unknown>;
  readonly store?: boolean;
}

/** What the model does next. */
export type ModelAnswer =
  | { readonly kind: 'says'; readonly text: string; readonly pieces?: number }
  | {
      readonly kind: 'calls';
      readonly tool: string;
      readonly args: object;
      readonly namespace?: string;
    }
  | { readonly kind: 'patches'; readonly patch: string }
  /** Searches for tools that the host hasn't shown yet. */
  | { readonly kind: 'searches'; readonly query: string }
  | { readonly kind: 'fails'; readonly status: number; readonly message: string }
  /** Never answers. */
  | { readonly kind: 'hangs' };

export interface ModelServer {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** The text of everything the engine has sent. */
  readonly sent: string;
  close(): Promise<void>;
}

/** Callers close it themselves, since it serves both tests and benchmarks. */
export async function startModelServer(script: readonly ModelAnswer[]): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  let next = 0;
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      if (request.method !== 'POST') {
        response.writeHead(404).end();
        return;
      }
      const { authorization } = request.headers;
      const body = JSON.parse(text) as ModelRequestBody;
      requests.push({ authorization, at: performance.now(), body });
      // A finished script repeats its last answer: the engine may retry.
      const answer = script[Math.min(next++, script.length - 1)];
      if (answer) writeAnswer(response, answer, next);
    });
  });
  // The engine tries WebSockets first; this makes it fall back at once.
  server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    get sent() {
      return JSON.stringify(requests.map(({ body }) => body));
    },
    close,
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export function writeAnswer(response: ServerResponse, answer: ModelAnswer, number: number): void {
  if (answer.kind === 'hangs') return;
  if (answer.kind === 'fails') {
    const { status, message } = answer;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message, type: 'some_error', code: null } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, more: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  };
  const id = `resp_${number}`;
  send('response.created', { response: { id } });
  if (answer.kind === 'says') sayText(send, answer, number);
  else send('response.output_item.done', { output_index: 0, item: callItem(answer, number) });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  send('response.completed', { response: { id, output: [], usage } });
  response.end();
}

function sayText(
  send: (type: string, more: object) => void,
  { text, pieces = 1 }: { readonly text: string; readonly pieces?: number },
  number: number,
): void {
  const message = { type: 'message', role: 'assistant', id: `msg_${number}` };
  send('response.output_item.added', { output_index: 0, item: { ...message, content: [] } });
  const size = Math.max(1, Math.ceil(text.length / pieces));
  for (let at = 0; at < text.length; at += size) {
    const delta = text.slice(at, at + size);
    send('response.output_text.delta', { item_id: message.id, output_index: 0, delta });
  }
  const content = [{ type: 'output_text', text, annotations: [] }];
  send('response.output_item.done', { output_index: 0, item: { ...message, content } });
}

function callItem(
  answer: Extract<ModelAnswer, { kind: 'calls' | 'patches' | 'searches' }>,
  number: number,
): object {
  const ids = { id: `item_${number}`, call_id: `call_${number}` };
  if (answer.kind === 'patches') {
    return { type: 'custom_tool_call', ...ids, name: 'apply_patch', input: answer.patch };
  }
  if (answer.kind === 'searches') {
    const query = { query: answer.query };
    return { type: 'tool_search_call', ...ids, execution: 'client', arguments: query };
  }
  const { tool, args, namespace } = answer;
  const where = namespace === undefined ? {} : { namespace };
  return { type: 'function_call', ...ids, ...where, name: tool, arguments: JSON.stringify(args) };
}
