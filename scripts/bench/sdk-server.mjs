// A server on the official SDK with one tool that returns a string. It runs over stdin and stdout, or with `--http`
// at a URL, which it prints on stderr.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const inputSchema = z.object({ message: z.string() });

function create() {
  const server = new McpServer({ name: 'sdk-server', version: '1.0.0' });
  server.registerTool('echo', { description: 'Give back a text.', inputSchema }, ({ message }) => ({
    content: [{ type: 'text', text: message }],
  }));
  return server;
}

function serveHttp() {
  const handler = createMcpHandler(create);
  const serve = async (incoming, reply) => {
    const pieces = [];
    for await (const piece of incoming) pieces.push(piece);
    const { method, headers } = incoming;
    const body = pieces.length > 0 ? { body: Buffer.concat(pieces) } : {};
    const request = new Request(`http://127.0.0.1${incoming.url}`, { method, headers, ...body });
    const answer = await handler.fetch(request);
    reply.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body).pipe(reply);
    else reply.end();
  };
  const http = createServer((incoming, reply) => void serve(incoming, reply));
  http.listen(0, '127.0.0.1', () => {
    process.stderr.write(`http://127.0.0.1:${http.address().port}/mcp\n`);
  });
}

if (process.argv.includes('--http')) serveHttp();
else serveStdio(create);
