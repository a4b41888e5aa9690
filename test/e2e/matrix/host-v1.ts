// A host on SDK v1: the handshake revisions, up to 2025-11-25.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  ALL_CAPABILITIES,
  CLIENT_INFO,
  type ConnectOptions,
  createAnswers,
  type Host,
  type Launch,
  noteAsked,
  REQUEST_MS,
} from './hosts.ts';
import { tap } from './tap.ts';

const LIMIT = { timeout: REQUEST_MS };

export async function connectV1(
  launch: Launch,
  { capabilities = ALL_CAPABILITIES, revision }: ConnectOptions = {},
): Promise<Host> {
  if (revision) throw new Error('SDK v1 offers its own revision; take SDK v2 for an older one.');
  const client = new Client(CLIENT_INFO, { capabilities: { ...capabilities } });
  const transport = open(launch);
  const messages = tap(transport);
  const host: Host = {
    era: 'handshake',
    answers: createAnswers(),
    asked: [],
    ...messages,
    get instructions() {
      return client.getInstructions();
    },
    get serverCapabilities() {
      return client.getServerCapabilities();
    },
    listTools: async () => (await client.listTools({}, LIMIT)).tools,
    callTool: (name, args = {}, { onProgress, signal, timeoutMs = REQUEST_MS } = {}) =>
      client.callTool({ name, arguments: { ...args } }, undefined, {
        timeout: timeoutMs,
        ...(onProgress && { onprogress: onProgress }),
        ...(signal && { signal }),
      }),
    listPrompts: async () => (await client.listPrompts({}, LIMIT)).prompts,
    getPrompt: (name, args = {}) => client.getPrompt({ name, arguments: args }, LIMIT),
    listResources: async () => (await client.listResources({}, LIMIT)).resources,
    listTemplates: async () => (await client.listResourceTemplates({}, LIMIT)).resourceTemplates,
    readResource: (uri) => client.readResource({ uri }, LIMIT),
    complete: (params) => client.complete({ ...params }, LIMIT),
    setLogLevel: async (level) => {
      await client.setLoggingLevel(level, LIMIT);
    },
    subscribe: async (uri) => {
      await client.subscribeResource({ uri }, LIMIT);
      return async () => {
        await client.unsubscribeResource({ uri }, LIMIT);
      };
    },
    watchLists: async () => {},
    close: () => client.close(),
  };
  const note = ({ method, params }: { method: string; params?: object | undefined }) =>
    noteAsked(host.asked, method, params);
  if (capabilities.elicitation) {
    client.setRequestHandler(ElicitRequestSchema, async (request, { signal }) => ({
      ...(await host.answers.elicit(note(request), signal)),
    }));
  }
  if (capabilities.sampling) {
    client.setRequestHandler(CreateMessageRequestSchema, async (request) => ({
      ...(await host.answers.sample(note(request))),
    }));
  }
  if (capabilities.roots) {
    client.setRequestHandler(ListRootsRequestSchema, (request) => {
      note(request);
      return { roots: host.answers.roots() };
    });
  }
  await client.connect(transport, LIMIT);
  return host;
}

function open(launch: Launch): StdioClientTransport | StreamableHTTPClientTransport {
  if ('command' in launch) return new StdioClientTransport({ ...launch, stderr: 'ignore' });
  const { url, headers = {} } = launch;
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}
