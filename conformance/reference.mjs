// The fixture over HTTP without Switchboard in between, served by the SDK. Its conformance results are the best
// Switchboard can reach in front of it. Prints its URL.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isInitializeRequest,
  isLegacyRequest,
  localhostAllowedHostnames,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createFixture } from './fixture/server.mjs';

/** Connections of the older revisions, by session id. */
const sessions = new Map();
const newest = createMcpHandler(() => createFixture({ announce }), { legacy: 'reject' });

function announce(list) {
  if (list === 'tools') newest.notify.toolsChanged();
  else newest.notify.promptsChanged();
}

async function answer(request) {
  const refusal = hostHeaderValidationResponse(request, localhostAllowedHostnames());
  if (refusal) return refusal;
  if (!(await isLegacyRequest(request.clone()))) return newest.fetch(request);
  const id = request.headers.get('mcp-session-id');
  if (id !== null) {
    return sessions.get(id)?.handleRequest(request) ?? new Response(null, { status: 404 });
  }
  const body = await request.clone().json();
  if (!isInitializeRequest(body)) return new Response(null, { status: 400 });
  return (await openSession()).handleRequest(request);
}

async function openSession() {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await createFixture().connect(transport);
  return transport;
}

async function serve(incoming, outgoing) {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const hasBody = incoming.method === 'POST';
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method,
    headers: incoming.headers,
    signal: gone.signal,
    ...(hasBody && { body: Readable.toWeb(incoming), duplex: 'half' }),
  });
  const { status, headers, body } = await answer(request);
  outgoing.writeHead(status, Object.fromEntries(headers));
  if (!body) outgoing.end();
  else
    Readable.fromWeb(body)
      .on('error', () => {})
      .pipe(outgoing);
}

const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`);
});
