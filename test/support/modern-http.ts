// A modern server on SDK v2 over HTTP. It records everything it receives.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

export interface ModernHttp {
  readonly url: string;
  readonly requests: {
    readonly httpMethod: string;
    readonly headers: IncomingHttpHeaders;
    readonly message: { readonly method?: string };
  }[];
  /** Calls that were abandoned. */
  readonly left: string[];
  /** Announces a changed tool list. */
  changeTools(): void;
}

/** `legacy` is how it treats clients that start with a handshake. */
export async function startModern(legacy: 'stateless' | 'reject'): Promise<ModernHttp> {
  const requests: ModernHttp['requests'] = [];
  const left: string[] = [];
  const create = (): McpServer => {
    const server = new McpServer(
      { name: 'modern', version: '1' },
      { capabilities: { tools: { listChanged: true } } },
    );
    const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
    server.registerTool('greet', { inputSchema: z.object({}) }, () => text('Hello'));
    server.registerPrompt('grüße', {}, () => ({
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Guten Tag' } }],
    }));
    server.registerTool(
      'sorted',
      { inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }) },
      ({ region }) => text(region),
    );
    server.registerTool('slow', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
      mcpReq.signal.addEventListener('abort', () => left.push('slow'));
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1 },
      });
      await once(mcpReq.signal, 'abort');
      return text('too late');
    });
    server.registerResource('page', 'test://page', {}, (uri) => ({
      contents: [{ uri: uri.href, text: 'read' }],
    }));
    return server;
  };
  const handler = createMcpHandler(create, { legacy });
  const http = createServer((incoming, reply) => {
    void (async () => {
      const body = await textOf(incoming);
      const { method = '', headers } = incoming;
      requests.push({ httpMethod: method, headers, message: body === '' ? {} : JSON.parse(body) });
      const gone = new AbortController();
      reply.once('close', () => gone.abort());
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1${incoming.url}`, {
          method,
          headers: headers as Record<string, string>,
          signal: gone.signal,
          ...(body !== '' && { body }),
        }),
      );
      reply.writeHead(answer.status, Object.fromEntries(answer.headers));
      reply.flushHeaders();
      if (!answer.body) return reply.end();
      return Readable.fromWeb(answer.body)
        .on('error', () => {})
        .pipe(reply);
    })();
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(async () => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    left,
    changeTools: () => handler.notify.toolsChanged(),
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
