// The official SDK's clients as hosts, the published servers as children. Whatever a server answers
// to a client directly, it answers the same through Switchboard.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { wholeLines } from '../support/lines.ts';
import { eventually, serversWith } from '../support/processes.ts';
import { createProject, PATIENT, PROGRAM, type Project, ROOT } from '../support/project.ts';
import { CAPABILITIES } from '../support/relisting-host.ts';
import { publishedServer, type ServerEntry, testServer } from '../support/servers.ts';

interface Launch extends ServerEntry {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
}

interface CallOptions {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** What a host needs of a client, whichever SDK it comes from. */
interface Connection {
  readonly server: object | undefined;
  readonly instructions: string | undefined;
  listTools(): Promise<{ tools: { name: string; description?: string | undefined }[] }>;
  callTool(name: string, args: object, options?: CallOptions): Promise<Record<string, unknown>>;
  /** Everything that came from the server, as the transport got it. */
  readonly received: Message[];
  readonly sent: Message[];
  close(): Promise<void>;
}

interface Message {
  readonly method?: string;
  readonly params?: { readonly _meta?: Record<string, unknown>; readonly [key: string]: unknown };
}

type Connect = (launch: Launch) => Promise<Connection>;

const CLIENT = { name: 'test-host', version: '1.0.0' };

const connectV1: Connect = async (launch) => {
  const client = new ClientV1(CLIENT, { capabilities: CAPABILITIES });
  const transport = new StdioV1({ ...launch, stderr: 'ignore' });
  await client.connect(transport);
  return {
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    listTools: () => client.listTools(),
    callTool: (name, args, options) =>
      client.callTool({ name, arguments: { ...args } }, undefined, options),
    ...watch(transport),
    close: () => client.close(),
  };
};

const connectV2 =
  (mode: 'legacy' | 'auto'): Connect =>
  async (launch) => {
    const client = new ClientV2(CLIENT, {
      capabilities: CAPABILITIES,
      versionNegotiation: { mode },
    });
    const transport = new StdioV2({ ...launch, stderr: 'ignore' });
    await client.connect(transport);
    return {
      server: client.getServerVersion(),
      instructions: client.getInstructions(),
      listTools: () => client.listTools(),
      callTool: (name, args, options) => client.callTool({ name, arguments: { ...args } }, options),
      ...watch(transport),
      close: () => client.close(),
    };
  };

/** Writes down what passes a connected transport. */
function watch(transport: StdioV1 | StdioV2): Pick<Connection, 'received' | 'sent'> {
  const received: Message[] = [];
  const sent: Message[] = [];
  const spied = transport as unknown as {
    onmessage: (message: Message, extra: unknown) => void;
    send: (message: Message, options: unknown) => Promise<void>;
  };
  const { onmessage, send } = spied;
  Object.assign(spied, {
    onmessage: (message: Message, extra: unknown) => {
      received.push(message);
      onmessage(message, extra);
    },
    send: (message: Message, options: unknown) => {
      sent.push(message);
      return send.call(transport, message, options);
    },
  });
  return { received, sent };
}

/** A project with the three published servers; its folder stands on the command line of each. */
function createPublishedProject(atEnd?: (remove: () => void) => void) {
  const project = createProject({ 'files/tea.txt': 'Darjeeling\n' }, atEnd);
  const servers: Record<string, ServerEntry & { env?: Record<string, string> }> = {
    everything: publishedServer('everything', 'stdio', project.dir),
    filesystem: publishedServer('filesystem', join(project.dir, 'files')),
    memory: {
      ...publishedServer('memory', project.dir),
      env: { MEMORY_FILE_PATH: join(project.dir, 'memory.jsonl') },
    },
    recording: testServer('recording', join(project.dir, 'recording.txt')),
  };
  project.write('switchboard.config.json', { ...PATIENT, mcpServers: servers });
  return { project, servers };
}

function switchboardIn({ dir, env }: Project): Launch {
  return { command: process.execPath, args: [PROGRAM], cwd: dir, env };
}

describe.each([
  { client: 'the client of SDK v1', connect: connectV1 },
  { client: 'the client of SDK v2, legacy', connect: connectV2('legacy') },
  { client: 'the client of SDK v2, auto', connect: connectV2('auto') },
])('$client', ({ connect }) => {
  const atEnd: (() => void | Promise<void>)[] = [];
  let project: Project;
  let servers: ReturnType<typeof createPublishedProject>['servers'];
  let host: Connection;

  beforeAll(async () => {
    ({ project, servers } = createPublishedProject((remove) => atEnd.push(remove)));
    mkdirSync(join(project.dir, 'home'));
    host = await connect(switchboardIn(project));
    atEnd.push(() => host.close());
  });

  afterAll(async () => {
    for (const clean of atEnd.toReversed()) await clean();
    expect(await eventually(() => serversWith(project.dir).length === 0)).toBe(true);
  });

  const suite = (child: string, subtool: string, args: object = {}, options?: CallOptions) =>
    host.callTool(`${child}_suite`, { action: 'call', subtool, args }, options);

  /** The same client, connected with the server itself. */
  async function connectDirectly(child: string): Promise<Connection> {
    const { command = '', args = [], env = {} } = servers[child] ?? {};
    const launch = { command, args, cwd: project.dir, env: { ...project.env, ...env } };
    const direct = await connect(launch);
    onTestFinished(() => direct.close());
    return direct;
  }

  test('identifies Switchboard', () => {
    expect(host.server).toMatchObject({ name: 'switchboard' });
    expect(host.instructions).toContain('introspect');
  });

  test('sees exactly the suites, without starting a server', async () => {
    const { tools } = await host.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'everything_suite',
      'filesystem_suite',
      'memory_suite',
      'recording_suite',
    ]);
    expect(serversWith(project.dir)).toEqual([]);
    await host.callTool('everything_suite', { action: 'introspect' });
    expect(serversWith(project.dir)).toHaveLength(1);
  });

  test('introspects every subtool of a server', async () => {
    const direct = await connectDirectly('filesystem');
    const expected = (await direct.listTools()).tools as (object & { name: string })[];
    const result = await host.callTool('filesystem_suite', { action: 'introspect' });
    const { tools } = result['structuredContent'] as { tools: object[] };
    expect(tools).toEqual(
      expected.map((tool) => ({
        name: tool.name,
        summary: expect.stringMatching(/^.{10,160}$/s),
        inputSchema: (tool as { inputSchema?: object }).inputSchema,
      })),
    );
  });

  test('gets the same results from server-everything as directly', async () => {
    const direct = await connectDirectly('everything');
    const calls: [subtool: string, args: object, kind: object][] = [
      ['echo', { message: 'žluť 🦊' }, { content: [{ type: 'text' }] }],
      ['get-tiny-image', {}, { content: [{ type: 'text' }, { type: 'image' }, { type: 'text' }] }],
      [
        'get-structured-content',
        { location: 'Chicago' },
        { structuredContent: { temperature: expect.any(Number) } },
      ],
      [
        'get-annotated-message',
        { messageType: 'error', includeImage: true },
        { content: [{ annotations: { priority: 1 } }, { type: 'image' }] },
      ],
      ['get-resource-links', { count: 2 }, { content: [{}, { type: 'resource_link' }, {}] }],
      [
        'get-resource-reference',
        { resourceType: 'Blob', resourceId: 1 },
        { content: [{}, {}, {}] },
      ],
      ['echo', {}, { isError: true, content: [{ text: expect.stringContaining('-32602') }] }],
    ];
    for (const [subtool, args, kind] of calls) {
      const result = await suite('everything', subtool, args);
      expect(result).toMatchObject(kind);
      expect(withoutTimes(answerIn(result))).toEqual(
        withoutTimes(answerIn(await direct.callTool(subtool, args))),
      );
    }
  });

  test('gets the same results from server-filesystem as directly', async () => {
    const direct = await connectDirectly('filesystem');
    const path = join(project.dir, 'files', 'tea.txt');
    for (const [subtool, args] of [
      ['read_text_file', { path }],
      ['list_allowed_directories', {}],
      ['read_text_file', { path: '/etc/passwd' }],
    ] as const) {
      expect(answerIn(await suite('filesystem', subtool, args))).toEqual(
        answerIn(await direct.callTool(subtool, args)),
      );
    }
    await suite('filesystem', 'write_file', { path, content: 'Assam\n' });
    expect(readFileSync(path, 'utf8')).toBe('Assam\n');
  });

  test('gets the same results from server-memory as directly', async () => {
    const entities = [{ name: 'tea', entityType: 'drink', observations: ['is hot'] }];
    await suite('memory', 'create_entities', { entities });
    const direct = await connectDirectly('memory');
    const result = await suite('memory', 'read_graph');
    expect(result).toMatchObject({ structuredContent: { entities: [{ name: 'tea' }] } });
    expect(answerIn(result)).toEqual(answerIn(await direct.callTool('read_graph', {})));
  });

  test('gets every progress notification of a long operation, in order, with its own token', async () => {
    const seen: Progress[] = [];
    host.received.splice(0);
    host.sent.splice(0);
    const result = await suite(
      'everything',
      'trigger-long-running-operation',
      { duration: 0.5, steps: 5 },
      { onprogress: (progress) => seen.push(progress) },
    );
    expect(result).toMatchObject({ content: [{ text: expect.stringContaining('completed') }] });

    const token = host.sent.find(({ method }) => method === 'tools/call')?.params?._meta;
    expect(token?.['progressToken']).toBeDefined();
    const notices = host.received.filter(({ method }) => method === 'notifications/progress');
    expect(notices.map(({ params }) => params)).toEqual(
      [1, 2, 3, 4, 5].map((progress) => ({
        progress,
        total: 5,
        progressToken: token?.['progressToken'],
      })),
    );
    // The SDK drops those that come in one chunk with the result.
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2, 3, 4, 5].slice(0, seen.length));
  });

  test('can cancel a call: the server is notified, and its late answer is dropped', async () => {
    const file = join(project.dir, 'recording.txt');
    await suite('recording', 'other');
    const abort = new AbortController();
    const call = suite('recording', 'hold', {}, { signal: abort.signal });
    const outcome = call.then(
      () => 'answered',
      () => 'refused',
    );
    await eventually(() => readFileSync(file, 'utf8').includes('"hold"'));
    abort.abort();
    expect(await outcome).toBe('refused');
    const lineWith = (word: string) => wholeLines(file).find((line) => line.includes(word));
    expect(await eventually(() => lineWith('notifications/cancelled') !== undefined)).toBe(true);
    const { id } = JSON.parse(lineWith('"hold"') ?? '{}') as { id?: number };
    expect(JSON.parse(lineWith('notifications/cancelled') ?? '{}')).toMatchObject({
      params: { requestId: id },
    });
    expect(await suite('recording', 'other')).toMatchObject({ content: [{ text: 'recorded' }] });
  });

  test('uses other servers during a call', async () => {
    const abort = new AbortController();
    const held = suite('recording', 'hold', {}, { signal: abort.signal });
    const outcome = held.then(
      () => 'answered',
      () => 'refused',
    );
    const results = await Promise.all([
      suite('memory', 'read_graph'),
      suite('filesystem', 'list_allowed_directories'),
      suite('everything', 'echo', { message: 'me too' }),
      suite('recording', 'other'),
    ]);
    for (const result of results) expect(result).toMatchObject({ content: [{ type: 'text' }] });
    abort.abort();
    expect(await outcome).toBe('refused');
  });

  test('gets a readable error for an unknown suite, and continues', async () => {
    await expect(host.callTool('nope_suite', { action: 'introspect' })).rejects.toThrow(
      'Unknown tool: nope_suite',
    );
    expect((await host.listTools()).tools).toHaveLength(4);
  });
});

test('dist/switchboard is also the command', async () => {
  const { project } = createPublishedProject();
  const launch = { ...switchboardIn(project), command: join(ROOT, 'dist/switchboard'), args: [] };
  const host = await connectV1(launch);
  onTestFinished(() => host.close());
  expect((await host.listTools()).tools).toHaveLength(4);
  const result = await host.callTool('recording_suite', { action: 'call', subtool: 'other' });
  expect(result).toMatchObject({ content: [{ text: 'recorded' }] });
});

/** A result without what the modern era has every server add: that it is complete, and who gave it. */
function answerIn({ resultType, _meta, ...answer }: Record<string, unknown>): object {
  expect([undefined, 'complete']).toContain(resultType);
  const { 'io.modelcontextprotocol/serverInfo': _server, ...meta } = { ...(_meta as object) } as {
    'io.modelcontextprotocol/serverInfo'?: object;
  };
  return Object.keys(meta).length > 0 ? { ...answer, _meta: meta } : answer;
}

/** The everything server puts the time of the answer into some texts, and into a blob. */
function withoutTimes(result: unknown): unknown {
  const readable = JSON.stringify(result, (key, value: unknown) =>
    key === 'blob' ? Buffer.from(String(value), 'base64').toString() : value,
  );
  return JSON.parse(readable.replaceAll(/\d{1,2}:\d\d:\d\d/g, 'TIME')) as unknown;
}
