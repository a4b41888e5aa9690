// A host on SDK v2, in one era or the other. In the newer one a question comes as the answer to a
// request; the client asks the same handlers and sends the request again, all by itself.
import {
  Client,
  LOG_LEVEL_META_KEY,
  SERVER_INFO_META_KEY,
  StreamableHTTPClientTransport,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Era } from './cells.ts';
import {
  ALL_CAPABILITIES,
  CLIENT_INFO,
  type ConnectOptions,
  createAnswers,
  type Host,
  type Launch,
  type LogLevel,
  noteAsked,
  REQUEST_MS,
} from './hosts.ts';
import { tap } from './tap.ts';

const LIMIT = { timeout: REQUEST_MS };
const FRESH = { ...LIMIT, cacheMode: 'refresh' as const };

export async function connectV2(
  era: Era,
  launch: Launch,
  { capabilities = ALL_CAPABILITIES, revision }: ConnectOptions = {},
): Promise<Host> {
  const client = new Client(CLIENT_INFO, {
    capabilities: { ...capabilities },
    versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    ...(revision && { supportedProtocolVersions: [revision] }),
  });
  const transport = open(launch);
  const messages = tap(transport);
  let logLevel: LogLevel | undefined;
  const withLevel = () => (logLevel ? { _meta: { [LOG_LEVEL_META_KEY]: logLevel } } : {});
  const listen = async (filter: SubscriptionFilter) => {
    const subscription = await client.listen(filter, LIMIT);
    return () => subscription.close();
  };
  const host: Host = {
    era,
    answers: createAnswers(),
    asked: [],
    ...messages,
    get instructions() {
      return client.getInstructions();
    },
    get serverCapabilities() {
      return client.getServerCapabilities();
    },
    listTools: async () => (await client.listTools({}, FRESH)).tools,
    callTool: async (name, args = {}, { onProgress, signal, timeoutMs = REQUEST_MS } = {}) =>
      withoutEnvelope(
        await client.callTool(
          { name, arguments: { ...args }, ...withLevel() },
          {
            timeout: timeoutMs,
            ...(onProgress && { onprogress: onProgress }),
            ...(signal && { signal }),
          },
        ),
      ),
    listPrompts: async () => (await client.listPrompts({}, FRESH)).prompts,
    getPrompt: async (name, args = {}) =>
      withoutEnvelope(await client.getPrompt({ name, arguments: args }, LIMIT)),
    listResources: async () => (await client.listResources({}, FRESH)).resources,
    listTemplates: async () => (await client.listResourceTemplates({}, FRESH)).resourceTemplates,
    readResource: async (uri) => withoutEnvelope(await client.readResource({ uri }, FRESH)),
    complete: async (params) => withoutEnvelope(await client.complete({ ...params }, LIMIT)),
    setLogLevel: async (level) => {
      if (era === 'modern') logLevel = level;
      else await client.setLoggingLevel(level, LIMIT);
    },
    subscribe: async (uri) => {
      if (era === 'modern') return listen({ resourceSubscriptions: [uri] });
      await client.subscribeResource({ uri }, LIMIT);
      return async () => {
        await client.unsubscribeResource({ uri }, LIMIT);
      };
    },
    watchLists: async () => {
      if (era === 'handshake') return;
      await listen({
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
      });
    },
    close: () => client.close(),
  };
  const note = ({ method, params }: { method: string; params?: object | undefined }) =>
    noteAsked(host.asked, method, params);
  if (capabilities.elicitation) {
    client.setRequestHandler('elicitation/create', async (request, { mcpReq }) => ({
      ...(await host.answers.elicit(note(request), mcpReq.signal)),
    }));
  }
  if (capabilities.sampling) {
    client.setRequestHandler('sampling/createMessage', async (request) => ({
      ...(await host.answers.sample(note(request))),
    }));
  }
  if (capabilities.roots) {
    client.setRequestHandler('roots/list', (request) => {
      note(request);
      return { roots: host.answers.roots() };
    });
  }
  await client.connect(transport, LIMIT);
  return host;
}

/** A class of its own, so that the client asks on this connection which eras there are: with the
 * SDK's own it would start the program once more for that. */
class Stdio extends StdioClientTransport {}

function open(launch: Launch): StdioClientTransport | StreamableHTTPClientTransport {
  if ('command' in launch) return new Stdio({ ...launch, stderr: 'ignore' });
  const { url, headers = {} } = launch;
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

/** A result without what only this era says around it, so that results can be compared. */
function withoutEnvelope(result: Record<string, unknown>): Record<string, unknown> {
  const { _meta, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  const { [SERVER_INFO_META_KEY]: _info, ...meta } = (_meta ?? {}) as Record<string, unknown>;
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
}
