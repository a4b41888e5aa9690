// Part E of the faults: odd lists of tools.
import { expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { answerLine, type ChildOfTrial, type Trial, until, withFaults } from '../support/faults.ts';
import { configWith, createProject } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const OBJECT = { type: 'object' };
const ECHO = { name: 'echo', description: 'Says it again.', inputSchema: OBJECT };

const LISTED: ChildOfTrial = { faults: ['list=tools.json'] };

interface Introspection {
  readonly tools: readonly { name: string; summary: string; inputSchema?: unknown }[];
  readonly note?: string;
}

/** Runs a test with a server that lists these tools and `echo`, which must work at the end. */
function withList(
  tools: unknown[],
  run: (trial: Trial) => Promise<void>,
  more: Record<string, object> = {},
): Promise<void> {
  const files = { 'tools.json': [...tools, ECHO], ...more };
  return withFaults(
    { kid: LISTED },
    async (trial) => {
      await run(trial);
      expect(textOf(await trial.host.call('kid', 'echo', { text: 'sound' }))).toBe('sound');
    },
    { files },
  );
}

async function introspect({ host }: Trial, more: object = {}): Promise<Introspection> {
  const answer = await host.introspect('kid', more);
  const data = JSON.parse(textOf(answer)) as Introspection;
  // The same is there for hosts that read text and for those that read structured content.
  expect(answer.result?.['structuredContent']).toEqual(data);
  return data;
}

const namesOf = ({ tools }: Introspection) => tools.map(({ name }) => name);

test('the next introspection sees tools a server has added', () =>
  withList([], async (trial) => {
    const { host, project } = trial;
    expect(namesOf(await introspect(trial))).toEqual(['echo']);

    project.write('tools.json', [ECHO, { name: 'extra', inputSchema: OBJECT }]);
    const announcement = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n';
    await host.call('kid', 'print', { before: announcement + answerLine('announced') });

    expect(namesOf(await introspect(trial))).toEqual(['echo', 'extra']);
    expect(textOf(await host.call('kid', 'extra'))).toBe('called extra');
  }));

test('the first of two tools with the same name is shown, with a note', () =>
  withList(
    [
      { name: 'twin', description: 'The elder.', inputSchema: OBJECT },
      { name: 'twin', description: 'The younger.', inputSchema: OBJECT },
    ],
    async (trial) => {
      expect(await introspect(trial)).toEqual({
        tools: [
          { name: 'twin', summary: 'The elder.', inputSchema: OBJECT },
          { name: 'echo', summary: 'Says it again.', inputSchema: OBJECT },
        ],
        note: 'Subtools left out because of repeated or overlong names: 1.',
      });
      expect(textOf(await trial.host.call('kid', 'twin'))).toBe('called twin');
    },
  ));

test('odd names can be called, and invisible or unreadable names are left out', () => {
  const odd = ['🚀', 'שלום', '../../etc/passwd', 'with blank', '__proto__', 'constructor', 'a.b/c'];
  const unusable = ['x'.repeat(300), 'zero\u200bwidth', 'turned\u202earound', 'nul\u0000'];
  const nameless = [{ name: '' }, { name: 7 }, { title: 'no name' }];
  const tools = [...odd, ...unusable].map((name) => ({ name, inputSchema: OBJECT }));
  return withList([...tools, ...nameless], async (trial) => {
    const seen = await introspect(trial);

    expect(namesOf(seen)).toEqual([...odd, 'echo']);
    expect(seen.note).toBe(
      'Subtools left out because of hidden characters: 3. Subtools left out because of repeated or overlong names: 1.',
    );
    for (const name of odd) {
      expect(textOf(await trial.host.call('kid', name))).toBe(`called ${name}`);
    }
  });
});

test('bad schemas are harmless', () => {
  const schemas = {
    missing: undefined,
    null: null,
    array: [],
    text: 'object',
    number: 7,
    'refers to itself': { $ref: '#', properties: { me: { $ref: '#/properties/me' } } },
    'catastrophic pattern': { properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
    hostile: JSON.parse('{"__proto__": {"polluted": 1}, "properties": {"constructor": {}}}'),
  };
  const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }));
  return withList([null, 7, 'tool', [], ...tools], async (trial) => {
    for (const verbosity of ['summary', 'full', 'redacted']) {
      const seen = await introspect(trial, { verbosity });
      expect(namesOf(seen)).toEqual([...Object.keys(schemas), 'echo']);
    }
    const text = 'a'.repeat(50);
    const answer = await trial.host.call('kid', 'catastrophic pattern', { text: `${text}!` });
    expect(textOf(answer)).toBe('called catastrophic pattern');
  });
});

test('an invalid list counts as empty', () =>
  withFaults(
    { kid: LISTED },
    async (trial) => {
      for (const list of ['null', '{}', '"tools"', '[]']) {
        trial.project.write('tools.json', list);
        expect(namesOf(await introspect(trial))).toEqual([]);
      }
      expect(textOf(await trial.host.call('kid', 'echo', { text: 'sound' }))).toBe('sound');
    },
    { files: { 'tools.json': '[]' } },
  ));

test('two servers with the same tool names are kept apart, and each can be called', () =>
  withFaults({ 'kid.one': {}, kid_one: {}, 'kid one': {} }, async (trial) => {
    const { host } = trial;
    const list = await host.request('tools/list');
    const tools = list.result?.['tools'] as { name: string }[];
    const kids = ['kid_one_suite', 'kid_one_suite_2', 'kid_one_suite_3'];

    expect(tools.map(({ name }) => name)).toEqual(['calm_suite', ...kids]);
    await until(() => host.stderr.includes('kid_one_suite_3'), 'the user is told');
    expect(host.stderr).toContain('"kid_one" is shown as kid_one_suite_2');
    const call = { action: 'call', subtool: 'echo' };
    for (const name of kids) {
      await host.request('tools/call', { name, arguments: { ...call, args: { text: name } } });
    }
    const reached = ['kid.one', 'kid_one', 'kid one'].map((kid) => trial.journal(kid, 'call'));
    expect(reached).toMatchObject(kids.map((text) => [{ text }]));
  }));

test('invisible characters in a description do not reach the model', () => {
  const hidden =
    '\u001b[31m\u001b]0;title\u0007\u0008\u200b\u202e\u2066\u00ad\ufeff\u{e0041}\u{e007f}';
  const description = `Reads${hidden} files.`;
  const property = { type: 'string', description, title: hidden, $comment: hidden };
  const inputSchema = { type: 'object', properties: { path: property } };
  const tool = {
    name: 'poison',
    title: hidden,
    description,
    inputSchema,
    annotations: { title: hidden },
  };
  // The scanner would hold the tool.
  const unscanned = { 'home/.switchboard/switchboard.config.json': { toolChanges: 'off' } };
  const look = async (trial: Trial) => {
    const summary = await introspect(trial);
    expect(summary.tools[0]?.summary).toBe('Reads files.');
    for (const verbosity of ['summary', 'full', 'redacted']) {
      const seen = JSON.stringify(await introspect(trial, { verbosity }));
      for (const character of hidden.replace('[31m', '').replace(']0;title', '')) {
        expect(seen).not.toContain(JSON.stringify(character).slice(1, -1));
      }
    }
  };
  return withList([tool], look, unscanned);
});

test('a paged list is shown whole', () => {
  const names = ['one', 'two', 'three', 'four', 'five'];
  return withFaults(
    { kid: { faults: ['list=tools.json', 'page=2'] } },
    async (trial) => {
      expect(namesOf(await introspect(trial))).toEqual(names);
      expect(await introspect(trial, { subtool: 'five' })).toMatchObject({
        tools: [{ name: 'five' }],
      });
    },
    { files: { 'tools.json': names.map((name) => ({ name, inputSchema: OBJECT })) } },
  );
});

test('an endless list is cut off', () =>
  withFaults({ kid: { faults: ['endless-list'] } }, async (trial) => {
    const introspection = introspect(trial);
    await trial.askNeighbour();

    const seen = await introspection;

    expect(namesOf(seen).slice(0, 3)).toEqual(['echo', 'page-0', 'page-1']);
    expect(seen.tools.length).toBeLessThan(20_000);
    expect(textOf(await trial.host.call('kid', 'echo', { text: 'sound' }))).toBe('sound');
  }));

test('a list that repeats its next page is read once', () =>
  withFaults({ kid: { faults: ['endless-list=same'] } }, async (trial) => {
    expect(namesOf(await introspect(trial))).toEqual(['echo', 'page-0', 'page-1']);
  }));

test('a tool with hidden characters in its names is not listed or called, and status and doctor name it', async () => {
  const tools = [
    { name: 'hid\u200bden', inputSchema: OBJECT },
    { name: 'weather', inputSchema: { type: 'object', properties: { 'ci\u3164ty': {} } } },
    { name: 'pick', inputSchema: { type: 'object', properties: { a: { enum: ['x\u{e0041}'] } } } },
    { name: 'fine', inputSchema: OBJECT },
  ];
  const entry = testServer('lists', JSON.stringify(tools));
  const project = createProject(configWith({ kid: entry, own: { ...entry, show: 'direct' } }));
  const host = await RawHost.connect(project);
  await expect.poll(() => host.toolNames()).toEqual(['kid_suite', 'fine']);
  const { result } = await host.introspect('kid');
  expect(result?.['structuredContent']).toMatchObject({
    tools: [{ name: 'fine' }],
    note: 'Subtools left out because of hidden characters: 3.',
  });
  for (const { name } of tools.slice(0, 3)) {
    const answer = await host.call('kid', name);
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toContain('cannot be called: its definition contains hidden characters');
  }
  expect(textOf(await host.call('kid', 'fine'))).toBe('called fine');
  const sentence =
    'Not listed because of hidden characters: hid\\u200bden (name), weather (inputSchema), pick (inputSchema)';
  expect((await runSwitchboard(project, ['status', 'kid'])).stdout).toContain(sentence);
  expect((await runSwitchboard(project, ['doctor', 'kid'])).stdout).toContain(`note: ${sentence}.`);

  const next = await RawHost.connect(project);
  expect(textOf(await next.call('kid', 'weather'))).toContain('hidden characters');
});
