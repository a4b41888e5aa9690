// What a host sends to authenticate itself is for Switchboard only: no server behind it gets to see it.
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { begin, modern, rpc, send, TOKEN } from '../support/http-host.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { configWith, createProject } from '../support/project.ts';
import { startServing } from '../support/serve-http.ts';
import { testServer } from '../support/servers.ts';

const CREDENTIALS = {
  cookie: 'session=canary-cookie-4711',
  'proxy-authorization': 'Basic canary-proxy-4711',
  'x-api-key': 'canary-api-key-4711',
  'mcp-param-key': 'canary-parameter-4711',
};

test('a host’s token, cookies and other headers are not forwarded', async () => {
  const seen: string[] = [];
  const remote = createServer((request, response) => {
    seen.push(`${request.url} ${JSON.stringify(request.headers)}`);
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      seen.push(body);
      const { id, method } = JSON.parse(body || '{}') as { id?: unknown; method?: string };
      const result =
        method === 'initialize'
          ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'remote' } }
          : { tools: [], content: [] };
      response.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json' });
      response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  const { port } = await listenOnLoopback(remote);
  const headers = { 'X-Own': 'its-own-key' };
  const project = createProject(
    configWith({
      web: { url: `http://127.0.0.1:${port}/mcp`, headers },
      box: testServer('toolbox'),
    }),
  );
  const serving = await startServing(project, { env: { SWITCHBOARD_HTTP_TOKEN: TOKEN } });
  const at = { port: Number(new URL(serving.url).port) };
  const call = (name: string) => ({
    name: `${name}_suite`,
    arguments: { action: 'call', subtool: 'where_am_i', args: {} },
  });
  const session = await begin(at);
  for (const name of ['web', 'box']) {
    const asModern = modern('tools/call', call(name));
    for (const sent of [
      { headers: session, body: rpc('tools/call', call(name)) },
      { ...asModern, headers: asModern.headers },
    ]) {
      const { status, text } = await send(at, {
        ...sent,
        headers: { ...sent.headers, ...CREDENTIALS },
      });
      expect(status, text).toBe(200);
      seen.push(text);
    }
  }
  expect(seen.join('\n')).toContain('its-own-key');
  for (const secret of [TOKEN, ...Object.values(CREDENTIALS)]) {
    expect(seen.filter((text) => text.includes(secret))).toEqual([]);
  }
});
