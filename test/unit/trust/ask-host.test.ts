// Hosts ask the user about what waits: those of the handshake era after their first list, modern ones at the first call.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isObject } from '../../../src/base/object.ts';
import { META, MODERN_REVISION } from '../../../src/mcp/eras.ts';
import { Project } from '../../../src/project.ts';
import { commitAll } from '../../support/git.ts';
import { configWith, createProject, type Project as Folder } from '../../support/project.ts';
import { MOCK_CHILD } from '../../support/servers.ts';

type Message = Record<string, unknown>;

const WAITING = 'Waiting for approval.';
const USER_FILE = 'home/.switchboard/switchboard.config.json';

/** A repository with these servers, whose home is the user's. */
function cloned(servers: object = { one: MOCK_CHILD }, more: object = {}): Folder {
  const folder = createProject({ ...configWith(servers, more), '.gitignore': 'home\n' });
  commitAll(folder.dir);
  return folder;
}

async function open({ dir, env }: Folder, asksHosts = true): Promise<Project> {
  const silent = () => {};
  const project = await Project.open({
    folder: dir,
    environment: env,
    hasAgents: true,
    asksHosts,
    log: { debug: silent, info: silent, warn: silent, error: silent, child: silent },
  });
  onTestFinished(() => project[Symbol.asyncDispose]());
  return project;
}

/** A host, with everything it received. */
class Host {
  readonly received: Message[] = [];
  readonly #receive: (text: string) => void;
  #lastId = 0;

  constructor({ switchboard }: Project) {
    const { session, close } = switchboard.openSession({
      send: (json) => void this.received.push(JSON.parse(json) as Message),
    });
    this.#receive = (text) =>
      session.receive({ text, value: JSON.parse(text), framing: 'newline' });
    onTestFinished(close);
  }

  static async connect(project: Project, capabilities: object): Promise<Host> {
    const host = new Host(project);
    const clientInfo = { name: 'test', version: '1' };
    await host.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    host.send({ method: 'notifications/initialized' });
    return host;
  }

  send(message: object): void {
    this.#receive(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  async request(method: string, params: object = {}): Promise<Message> {
    const id = ++this.#lastId;
    this.send({ id, method, params });
    const isAnswer = (message: Message) => message['id'] === id && message['method'] === undefined;
    await expect.poll(() => this.received.some(isAnswer)).toBe(true);
    return (this.received.find(isAnswer)?.['result'] ?? {}) as Message;
  }

  get questions(): Message[] {
    return this.received.filter(({ method }) => method === 'elicitation/create');
  }

  async question(): Promise<Message> {
    await expect.poll(() => this.questions.length).toBeGreaterThan(0);
    return this.questions[0] ?? {};
  }

  async answer(result: object): Promise<void> {
    const { id } = await this.question();
    this.send({ id, result });
  }

  get listChanges(): number {
    return this.received.filter(({ method }) => method === 'notifications/tools/list_changed')
      .length;
  }

  async tools(): Promise<unknown[]> {
    const { tools } = await this.request('tools/list');
    return (tools as Message[]).map(({ name, description }) => [name, description]);
  }

  call(more: object = {}): Promise<Message> {
    const args = { action: 'call', subtool: 'echo', args: { text: 'hello' } };
    return this.request('tools/call', { name: 'one_suite', arguments: args, ...more });
  }
}

function textIn({ content }: Message): string {
  return (content as { text: string }[]).map(({ text }) => text).join('');
}

/** The recorded decisions, by name. */
function decisions({ dir }: Folder): Record<string, string> {
  const text = readFileSync(join(dir, 'home/.switchboard/trust.json'), 'utf8');
  const { records } = JSON.parse(text) as { records: Record<string, Message> };
  const entries = Object.values(records).map(({ name, decision, by }) => [
    name,
    `${String(decision)} by ${String(by)}`,
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

const accept = (content: object) => ({ action: 'accept', content });

describe('a handshake host', () => {
  test('asks once after its first list, and a yes changes the list', async () => {
    const folder = cloned();
    const host = await Host.connect(await open(folder), { elicitation: {} });
    expect(host.questions).toEqual([]);
    expect(await host.tools()).toEqual([
      ['one_suite', 'Waiting for approval. Run: switchboard trust'],
    ]);
    const { params } = await host.question();
    const { message } = params as { message: string };
    expect(message).toContain(`runs: ${MOCK_CHILD.command} ${MOCK_CHILD.args[0]}`);
    await host.answer(accept({ part_1: 'approve' }));
    await expect.poll(() => host.listChanges).toBe(1);
    expect(await host.tools()).toEqual([
      ['one_suite', "Use this tool for one. Actions: 'introspect' | 'call'."],
    ]);
    expect(textIn(await host.call())).toContain('hello');
    expect(host.questions).toHaveLength(1);
    expect(decisions(folder)).toEqual({ one: 'approved by host' });
  });

  test('gets one form for everything, also for agents and their instructions', async () => {
    const folder = createProject({
      ...configWith({ one: MOCK_CHILD }, { environment: 'minimal' }),
      '.agents/review.toml':
        'name = "review"\ndescription = "Reviews"\ninstructions_file = "prompts/review.md"\n',
      'prompts/review.md': 'Review well.\n',
      '.gitignore': 'home\n',
    });
    commitAll(folder.dir);
    const host = await Host.connect(await open(folder), { elicitation: {} });
    await host.tools();
    const { params } = await host.question();
    const { message, requestedSchema } = params as {
      message: string;
      requestedSchema: { properties: Record<string, { title: string }> };
    };
    const titles = Object.values(requestedSchema.properties).map(({ title }) => title);
    expect(titles).toEqual([
      '1. Settings "switchboard.config.json"',
      '2. Server "one"',
      '3. Agent "review"',
      '4. Instructions for agent "review"',
    ]);
    expect(message).toContain('    Review well.');
    await host.answer(accept({ part_3: 'approve', part_4: 'approve', part_2: 'never' }));
    await expect.poll(() => host.listChanges).toBe(1);
    expect((await host.tools()).map((tool) => (tool as string[])[0])).toEqual(['agent_review']);
    expect(decisions(folder)).toEqual({ review: 'approved by host', one: 'denied by host' });
  });

  test('is not asked again after "never"', async () => {
    const folder = cloned();
    const host = await Host.connect(await open(folder), { elicitation: {} });
    await host.tools();
    await host.answer(accept({ part_1: 'never' }));
    await expect.poll(() => host.listChanges).toBe(1);
    expect(await host.tools()).toEqual([]);
    const later = await Host.connect(await open(folder), { elicitation: {} });
    expect(await later.tools()).toEqual([]);
    await later.request('ping');
    expect(later.questions).toEqual([]);
  });

  test.each(['decline', 'cancel'])('that answers %s decides nothing', async (action) => {
    const folder = cloned();
    const host = await Host.connect(await open(folder), { elicitation: {} });
    await host.tools();
    await host.answer({ action, content: { part_1: 'approve' } });
    expect(textIn(await host.call())).toContain(WAITING);
    expect(host.questions).toHaveLength(1);
    const later = await Host.connect(await open(folder), { elicitation: {} });
    await later.tools();
    await later.question();
  });

  test('approves exactly what it was shown', async () => {
    const folder = cloned();
    const project = await open(folder);
    const host = await Host.connect(project, { elicitation: {} });
    await host.tools();
    await host.question();
    const args = [...MOCK_CHILD.args, '--other'];
    folder.write('switchboard.config.json', { mcpServers: { one: { ...MOCK_CHILD, args } } });
    await host.answer(accept({ part_1: 'approve' }));
    await expect.poll(() => decisions(folder)).toEqual({ one: 'approved by host' });
    await project.reload();
    expect(textIn(await host.call())).toContain(WAITING);
  });

  test.each([
    ['cannot ask', {}, {}, true],
    ['may not ask', { elicitation: {} }, { trust: { elicitation: false } }, true],
    ['is not the only one', { elicitation: {} }, {}, false],
  ])('that %s gets the instruction', async (_what, capabilities, users, asksHosts) => {
    const folder = cloned();
    folder.write(USER_FILE, users);
    const host = await Host.connect(await open(folder, asksHosts), capabilities);
    await host.tools();
    expect(textIn(await host.call())).toContain(WAITING);
    expect(host.questions).toEqual([]);
  });

  test("cannot be kept from asking by a project's file", async () => {
    const folder = cloned({ one: MOCK_CHILD }, { trust: { elicitation: false } });
    const host = await Host.connect(await open(folder), { elicitation: {} });
    await host.tools();
    expect(await host.question()).toMatchObject({ method: 'elicitation/create' });
  });

  test('is not asked if nothing is pending', async () => {
    const folder = createProject(configWith({ one: MOCK_CHILD }));
    const host = await Host.connect(await open(folder), { elicitation: {} });
    await host.tools();
    expect(textIn(await host.call())).toContain('hello');
    expect(host.questions).toEqual([]);
  });
});

describe('a modern host', () => {
  const meta = (capabilities: object) => ({
    _meta: { [META.version]: MODERN_REVISION, [META.capabilities]: capabilities },
  });
  const ASKING = meta({ elicitation: {} });

  function answerTo(asked: Message, response: object): object {
    const { inputRequests, requestState } = asked;
    const [key = ''] = Object.keys(isObject(inputRequests) ? inputRequests : {});
    return { requestState, inputResponses: { [key]: response }, ...ASKING };
  }

  test('asks at the first call, which then reaches the approved server', async () => {
    const folder = cloned();
    const project = await open(folder);
    const host = new Host(project);
    await host.request('tools/list', ASKING);
    const asked = await host.call(ASKING);
    expect(asked['resultType']).toBe('input_required');
    expect(JSON.stringify(asked['inputRequests'])).toContain(MOCK_CHILD.args[0]);
    // Each request of an HTTP host has a session of its own.
    const other = new Host(project);
    const result = await other.call(answerTo(asked, accept({ part_1: 'approve' })));
    expect(textIn(result)).toContain('hello');
    expect(decisions(folder)).toEqual({ one: 'approved by host' });
    expect(textIn(await host.call(ASKING))).toContain('hello');
  });

  test('asks even if the server is listed under a safe name', async () => {
    const folder = cloned({ 'ö n e': { ...MOCK_CHILD, suiteName: 'renamed' } });
    const host = new Host(await open(folder));
    const { tools } = await host.request('tools/list', ASKING);
    const [{ name } = { name: '' }] = tools as { name: string }[];
    const asked = await host.call({ name, ...ASKING });
    const result = await host.call({ name, ...answerTo(asked, accept({ part_1: 'approve' })) });
    expect(textIn(result)).toContain('hello');
  });

  test.each(['decline', 'cancel'])('that answers %s is not asked again', async (action) => {
    const host = new Host(await open(cloned()));
    const asked = await host.call(ASKING);
    const result = await host.call(answerTo(asked, { action }));
    expect(textIn(result)).toContain(WAITING);
    expect(textIn(await host.call(ASKING))).toContain(WAITING);
  });

  test('that answers "never" no longer lists the server', async () => {
    const folder = cloned();
    const host = new Host(await open(folder));
    const asked = await host.call(ASKING);
    const result = await host.call(answerTo(asked, accept({ part_1: 'never' })));
    expect(textIn(result)).toContain('The user did not approve this server.');
    expect(await host.request('tools/list', ASKING)).toMatchObject({ tools: [] });
    expect(decisions(folder)).toEqual({ one: 'denied by host' });
  });

  test.each([
    ['cannot ask', meta({}), {}],
    ['may not ask', ASKING, { trust: { elicitation: false } }],
  ])('that %s gets the instruction', async (_what, envelope, users) => {
    const folder = cloned();
    folder.write(USER_FILE, users);
    const host = new Host(await open(folder));
    expect(textIn(await host.call(envelope))).toContain(WAITING);
  });

  test("gets the instruction if the command can't be shown completely", async () => {
    const folder = cloned({ one: { ...MOCK_CHILD, args: ['x'.repeat(5_000)] } });
    const host = new Host(await open(folder));
    expect(textIn(await host.call(ASKING))).toContain(WAITING);
  });
});
