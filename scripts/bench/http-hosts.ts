// Hosts over HTTP: the official SDK's client, which most hosts use, and a minimal one on Node's `http`, over one
// connection that stays open.
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type HostEra, MODERN_REVISION, paramsOf } from './host.ts';

export interface HttpHost extends AsyncDisposable {
  listTools(): Promise<unknown>;
  /** Calls a tool; returns the result as JSON text, which for the minimal host is the whole response. */
  callTool(name: string, args: object): Promise<string>;
}

export type Connect = (url: string, era: HostEra) => Promise<HttpHost>;

export const connectSdk: Connect = async (url, era) => {
  const mode = era === 'modern' ? { pin: MODERN_REVISION } : 'legacy';
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    listTools: () => client.listTools(),
    callTool: async (name, args) =>
      JSON.stringify(await client.callTool({ name, arguments: { ...args } })),
    [Symbol.asyncDispose]: () => client.close(),
  };
};

const HANDSHAKE_REVISION = '2025-06-18';

export const connectBare: Connect = async (url, era) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  let lastId = 0;
  const ask = (method: string, params: object, named: object = {}): Promise<Response> => {
    const body = { jsonrpc: '2.0', id: ++lastId, method, params: paramsOf(era, params) };
    const mirrored = era === 'modern' ? { 'mcp-method': method, ...named } : {};
    return post(url, agent, { ...headers, ...mirrored }, JSON.stringify(body));
  };
  if (era === 'modern') {
    headers['mcp-protocol-version'] = MODERN_REVISION;
  } else {
    const hello = await ask('initialize', {
      protocolVersion: HANDSHAKE_REVISION,
      capabilities: {},
      clientInfo: { name: 'bench', version: '1.0.0' },
    });
    const session = hello.headers['mcp-session-id'];
    if (typeof session === 'string') headers['mcp-session-id'] = session;
    headers['mcp-protocol-version'] = HANDSHAKE_REVISION;
    await post(url, agent, headers, '{"jsonrpc":"2.0","method":"notifications/initialized"}');
  }
  return {
    listTools: () => ask('tools/list', {}),
    callTool: async (name, args) => {
      const { text } = await ask('tools/call', { name, arguments: args }, { 'mcp-name': name });
      return text;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      agent.destroy();
    },
  };
};

interface Response {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function post(
  url: string,
  agent: Agent,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(pieces).toString();
        if ((response.statusCode ?? 0) < 300) resolve({ headers: response.headers, text });
        else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
