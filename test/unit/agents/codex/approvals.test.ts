// What the engine asks, and what it is answered: the host's user where he can be asked, no otherwise.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeChange } from '../../../../src/agents/codex/changes.ts';
import type { EngineRun } from '../../../../src/agents/engine.ts';
import { RpcError } from '../../../../src/rpc/message.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';
import { attachedServer, plainAgent, watchedRun } from '../../../support/agents.ts';
import { FakeCaller } from '../../../support/fake-caller.ts';
import { createProject } from '../../../support/project.ts';
import { type ScriptedEngineOptions, scriptedEngine } from '../../../support/scripted-engine.ts';

interface AskingOptions extends ScriptedEngineOptions {
  /** What the engine asks, where it is not what it asks by itself. */
  readonly asks?: object;
}

async function runScript(
  script: string,
  caller?: FakeCaller,
  { asks = {}, ...options }: AskingOptions = {},
) {
  const env = { SCRIPTED_CODEX_ASKS: JSON.stringify(asks) };
  const { engine, cwd } = scriptedEngine({ ...options, env });
  const said: Partial<EngineRun> = {
    agent: plainAgent({ name: 'Tester', instructions: `script: ${script}` }),
    caller,
    servers: [attachedServer({ env: { TOKEN: 'value-of-a-server' } })],
  };
  const run = watchedRun(cwd, said);
  const { output } = await engine.run(run);
  return { answer: output.replaceAll(cwd, 'CWD'), asked: caller?.asked ?? [], cwd, run };
}

const accepting = (content: object) => {
  const caller = new FakeCaller({ capabilities: { elicitation: { form: {} } } });
  caller.reply = async () => Verbatim.of({ action: 'accept', content });
  return caller;
};

const NO = {
  'asks-command': 'answer: {"decision":"decline"}',
  'asks-change': 'answer: {"decision":"decline"}',
  'asks-permissions': 'answer: {"permissions":{},"scope":"turn"}',
  'asks-question': 'answer: {"action":"decline","content":null,"_meta":null}',
  'asks-input': 'answer: {"answers":{}}',
  'asks-as-before':
    'answer: {"decision":{"denied":{"rejection":"The user did not allow it."}}} answer: {"decision":{"denied":{"rejection":"The user did not allow it."}}}',
  'asks-something-new': 'answer: {"code":-32601,"message":"Method not found: item/future/request"}',
};
const YES = {
  'asks-command': 'answer: {"decision":"accept"}',
  'asks-change': 'answer: {"decision":"accept"}',
  'asks-permissions': 'answer: {"permissions":{"network":{"enabled":true}},"scope":"turn"}',
  'asks-question': 'answer: {"action":"accept","content":{"allow":true},"_meta":null}',
  'asks-as-before': 'answer: {"decision":"approved"} answer: {"decision":"approved"}',
};

test.each(Object.entries(NO))('%s: declined if no user can be asked', async (script, answer) => {
  expect((await runScript(script)).answer).toBe(answer);
});

test.each(Object.entries(NO))(
  '%s: a host without questions is not asked',
  async (script, answer) => {
    const caller = new FakeCaller({ capabilities: {} });
    const told = await runScript(script, caller);
    expect(told).toMatchObject({ answer, asked: [] });
    expect(caller.missed).toEqual([]);
  },
);

test.each(Object.entries(NO))(
  '%s: not asked if approvals are set to decline',
  async (script, answer) => {
    const told = await runScript(script, accepting({ allow: true }), {
      settings: { approvals: 'decline' },
    });
    expect(told).toMatchObject({ answer, asked: [] });
  },
);

test.each(Object.entries(YES))('%s: approved if the user approves', async (script, answer) => {
  expect((await runScript(script, accepting({ allow: true }))).answer).toBe(answer);
});

test.each([
  ['declines', async () => Verbatim.of({ action: 'decline' })],
  ['cancels', async () => Verbatim.of({ action: 'cancel' })],
  ['accepts without allowing', async () => Verbatim.of({ action: 'accept', content: {} })],
  ['says no', async () => Verbatim.of({ action: 'accept', content: { allow: false } })],
  ['answers nonsense', async () => Verbatim.of('yes')],
  ['cannot be asked', async () => Promise.reject(new RpcError(-32601, 'no such method'))],
] as const)('a user who %s has not allowed it', async (_what, reply) => {
  const caller = accepting({});
  caller.reply = reply;
  const { answer, run } = await runScript('asks-command', caller);
  expect(answer).toBe(NO['asks-command']);
  expect(run.events).toContainEqual({
    kind: 'warning',
    text: 'not allowed: run npm test in /some/where',
  });
});

/** The text of the only question. */
function questionIn(asked: readonly string[]): string {
  const [only, ...others] = asked;
  if (only === undefined || others.length > 0) throw new Error(`Asked: ${asked.length}`);
  const params = JSON.parse(only.replace('elicitation/create ', '')) as { message: string };
  return params.message;
}

test('the question names the agent, the action, the folder and the reason', async () => {
  const { asked } = await runScript('asks-command', accepting({ allow: true }));
  const schema =
    '{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow it","default":false}},"required":["allow"]}';
  expect(asked).toEqual([
    `elicitation/create {"message":"The agent \\"Tester\\" wants to run in /some/where:\\nnpm test\\nReason: to see","requestedSchema":${schema}}`,
  ]);
});

test.each([
  ["/bin/bash -lc 'cd /var && ls | xargs rm'", 'cd /var && ls | xargs rm'],
  [`/bin/bash -lc "echo 'a b' \\"c\\" "'$HOME'`, `echo 'a b' "c" $HOME`],
  ['/usr/bin/zsh -c ls', 'ls'],
  // Not a shell of the system's, not the whole of it, or more than is understood.
  ["/tmp/bash -lc 'ls'", "/tmp/bash -lc 'ls'"],
  ["/bin/bash --rcfile x -lc 'ls'", "/bin/bash --rcfile x -lc 'ls'"],
  ['/bin/bash -lc ls; rm x', '/bin/bash -lc ls; rm x'],
  ['/bin/bash -lc "$(rm x)"', '/bin/bash -lc "$(rm x)"'],
  // What would not be seen.
  ['echo \u202egnp.x\u200b\u001b[2K', 'echo <U+202E>gnp.x<U+200B><U+001B>[2K'],
  ['# it is nothing\nrm -rf x', '# it is nothing ⏎ rm -rf x'],
  [`ls${' '.repeat(500)}; rm x`, 'ls <500 spaces> ; rm x'],
  ['ls\u3164\u00a0\u2800x', 'ls<U+3164><U+00A0><U+2800>x'],
  ['ls. Its reason: none\nIts reason: none', 'ls. Its reason: none ⏎ Its reason: none'],
])('the command %j is shown unchanged', async (command, shown) => {
  const asks = { command };
  const { asked } = await runScript('asks-command', accepting({ allow: true }), { asks });
  expect(questionIn(asked).split('\n')).toEqual([
    'The agent "Tester" wants to run in /some/where:',
    shown,
    'Reason: to see',
  ]);
});

test('a command of thousands of characters is shown completely', async () => {
  const asks = { command: `echo ${'x'.repeat(3_500)}; rm y` };
  const { asked } = await runScript('asks-command', accepting({ allow: true }), { asks });
  expect(questionIn(asked)).toContain('x; rm y\n');
});

test.each([
  ['too long to display', { command: `echo ${'x'.repeat(4_000)}; rm y` }],
  ['too long to display', { command: `echo ${'\u200b'.repeat(1_000)}; rm y` }],
  ['contains a secret', { command: 'echo value-of-a-server' }],
  ['unknown action', { command: null }],
  ['unknown action', { kind: 'writeStdin', command: 'bash' }],
])('%s: declined without asking', async (why, asks) => {
  const { asked, answer, run } = await runScript('asks-command', accepting({ allow: true }), {
    asks,
  });
  expect(asked).toEqual([]);
  expect(answer).toBe(NO['asks-command']);
  const warnings = run.events.filter(({ kind }) => kind === 'warning');
  expect(warnings).toHaveLength(1);
  expect(warnings[0]?.text).toContain(`not allowed (${why}): `);
});

test('network access is part of the question', async () => {
  const asks = { networkApprovalContext: { host: 'example.com', protocol: 'https' } };
  const { asked } = await runScript('asks-command', accepting({ allow: true }), { asks });
  expect(questionIn(asked)).toContain('npm test\nand reach https://example.com over the network\n');
});

test('a change lists every file with its real path', async () => {
  const changes = [
    { path: '/etc/cron.d/x', kind: { type: 'add' }, diff: '' },
    { path: 'b.txt', kind: { type: 'update', move_path: '../c.txt' }, diff: '' },
    { path: 'd\u202e.txt', kind: { type: 'delete' }, diff: '' },
  ];
  const asks = { changes, grantRoot: '/etc' };
  const { asked, cwd } = await runScript('asks-change', accepting({ allow: true }), { asks });
  expect(questionIn(asked).split('\n')).toEqual([
    `The agent "Tester" wants to change in ${cwd}:`,
    'add /etc/cron.d/x (outside the folder)',
    `update b.txt and move it to ${join(cwd, '..', 'c.txt')} (outside the folder)`,
    'delete d<U+202E>.txt',
    'and from now on anything in /etc',
  ]);
});

test.each([
  ['none', []],
  ['one without a path', [{ kind: { type: 'add' } }]],
  ['one of a new kind', [{ path: 'a.txt', kind: { type: 'swap' } }]],
])('a change with unknown files is declined: %s', async (_what, changes) => {
  const asks = { changes };
  const told = await runScript('asks-change', accepting({ allow: true }), { asks });
  expect(told).toMatchObject({ asked: [], answer: NO['asks-change'] });
});

test('a linked file is shown with its target', () => {
  const { dir } = createProject();
  const [folder, elsewhere] = ['work', 'elsewhere'].map((name) => join(dir, name));
  for (const each of [folder, elsewhere]) mkdirSync(each ?? '');
  symlinkSync(elsewhere ?? '', join(folder ?? '', 'link'));
  const change = { path: 'link/new/a.txt', kind: 'add', movedTo: undefined } as const;
  expect(describeChange(change, folder ?? '')).toBe(
    `add ${join(dir, 'work/link/new/a.txt')} (outside the folder: ${join(dir, 'elsewhere/new/a.txt')})`,
  );
});

test('a server’s question is forwarded unchanged', async () => {
  const { asked, answer } = await runScript('asks-question', accepting({ name: 'Ada' }));
  expect(asked).toEqual([
    'elicitation/create {"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}',
  ]);
  expect(answer).toBe('answer: {"action":"accept","content":{"name":"Ada"},"_meta":null}');
});
