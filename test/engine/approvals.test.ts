// What the real engine asks before it does it, declined or asked of the host's user.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunFields } from '../../src/agents/agent.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { attachedServer, plainAgent, watchedRun } from '../support/agents.ts';
import { FakeCaller } from '../support/fake-caller.ts';
import type { ModelAnswer } from '../support/model-server.ts';
import { FIXTURES } from '../support/project.ts';
import { realEngine } from '../support/real-engine.ts';
import { publishedServer } from '../support/servers.ts';

const DONE = { kind: 'says', text: 'done' } as const;
const PATCH = '*** Begin Patch\n*** Add File: patched.txt\n+by a patch\n*** End Patch\n';
const escalating = (cmd: string): ModelAnswer => ({
  kind: 'calls',
  tool: 'exec_command',
  args: { cmd, sandbox_permissions: 'require_escalated', justification: 'because I want to' },
});
const user = (allow: boolean) => {
  const caller = new FakeCaller({ capabilities: { elicitation: {} } });
  caller.reply = async () => Verbatim.of({ action: 'accept', content: { allow } });
  return caller;
};

const questions = (caller: FakeCaller) =>
  caller.asked.map((asked) => {
    const params = asked.replace('elicitation/create ', '');
    return (JSON.parse(params) as { message: string }).message;
  });

async function runWith(script: readonly ModelAnswer[], run: RunFields, caller?: FakeCaller) {
  const parts = await realEngine({ script: [...script, DONE] });
  const agent = plainAgent({ name: 'Tester', run: { approvals: 'on-request', ...run } });
  const watched = watchedRun(parts.cwd, { agent, caller });
  const result = await parts.engine.run(watched);
  return { ...parts, result, asked: caller?.asked ?? [], events: watched.events };
}

test.each([
  ['nobody can be asked', undefined],
  ['the user says no', user(false)],
])('a command that wants out of the sandbox is declined where %s', async (_what, caller) => {
  const { cwd, result, events } = await runWith([escalating('touch out.txt')], {}, caller);
  expect(result).toEqual({ ok: true, output: 'done' });
  expect(existsSync(join(cwd, 'out.txt'))).toBe(false);
  const text = `not allowed: run touch out.txt in ${cwd}`;
  expect(events).toContainEqual({ kind: 'warning', text });
});

test('a command that the user allows is run', async () => {
  const { cwd, result, asked } = await runWith([escalating('touch out.txt')], {}, user(true));
  expect(result).toEqual({ ok: true, output: 'done' });
  expect(existsSync(join(cwd, 'out.txt'))).toBe(true);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain(
    `The agent \\"Tester\\" wants to run in ${cwd}:\\ntouch out.txt\\nReason: because I want to`,
  );
});

test.each([true, false])(
  'a change in a folder that may only be read is the user’s to allow: %s',
  async (allow) => {
    const caller = user(allow);
    const fields: RunFields = { builtins: { apply_patch: true }, sandbox: 'read-only' };
    const { cwd, result } = await runWith([{ kind: 'patches', patch: PATCH }], fields, caller);
    expect(result).toEqual({ ok: true, output: 'done' });
    expect(existsSync(join(cwd, 'patched.txt'))).toBe(allow);
    expect(caller.asked[0]).toContain(`wants to change in ${cwd}:\\nadd patched.txt"`);
  },
);

test.each([
  'cd / && ls | xargs echo',
  `echo 'a b' "c" $HOME \`pwd\` \\ !x ^ ~ {a,b} [c] # d`,
  'cd /etc; sed -i s/a/b/ passwd',
  'rg --pre /tmp/evil.sh foo | wc -l',
])('the user is asked about the command that would be run: %s', async (cmd) => {
  const caller = user(false);
  const calls = { kind: 'calls', tool: 'exec_command', args: { cmd } } as const;
  const { cwd, events } = await runWith([calls], { approvals: 'untrusted' }, caller);
  expect(questions(caller)).toEqual([`The agent "Tester" wants to run in ${cwd}:\n${cmd}`]);
  expect(events).toContainEqual({ kind: 'step', text: `running: ${cmd}` });
});

test('the user sees what is hidden in a command, and who would run it', async () => {
  const caller = user(false);
  const args = { cmd: 'ls \u202e\nrm x', shell: '/bin/sh', workdir: '/tmp' };
  const calls = { kind: 'calls', tool: 'exec_command', args } as const;
  await runWith([calls], { approvals: 'untrusted' }, caller);
  expect(questions(caller)).toEqual([
    'The agent "Tester" wants to run in /tmp:\nls <U+202E> ⏎ rm x',
  ]);
});

test('a command that is too long to be shown is not run', async () => {
  const caller = user(true);
  const { cwd, events } = await runWith(
    [escalating(`touch y; # ${'x'.repeat(4_000)}`)],
    {},
    caller,
  );
  expect(caller.asked).toEqual([]);
  expect(existsSync(join(cwd, 'y'))).toBe(false);
  const warnings = events.filter(({ kind }) => kind === 'warning').map(({ text }) => text);
  expect(warnings.join()).toContain('not allowed (too long to display): run touch y; # x');
});

test('a change of files elsewhere is asked about with each of them', async () => {
  const caller = user(true);
  const { project } = await realEngine({ script: [DONE] });
  const elsewhere = project.dir;
  const patch = `*** Begin Patch\n*** Add File: ${elsewhere}/one\n+x\n*** Add File: ../two\n+x\n*** Add File: three\n+x\n*** End Patch\n`;
  const fields: RunFields = { builtins: { apply_patch: true }, sandbox: 'read-only' };
  const { cwd } = await runWith([{ kind: 'patches', patch }], fields, caller);
  const [question = ''] = questions(caller);
  expect(question.split('\n').sort()).toEqual(
    [
      `The agent "Tester" wants to change in ${cwd}:`,
      `add ${elsewhere}/one (outside the folder)`,
      `add ${join(cwd, '..', 'two')} (outside the folder)`,
      'add three',
    ].sort(),
  );
  expect(existsSync(join(elsewhere, 'one'))).toBe(true);
});

test.each(['on-request', 'untrusted', 'never'] as const)(
  'a server that the agent was given is used without a question, also with %s',
  async (approvals) => {
    const { engine, model, cwd } = await realEngine({
      script: [
        { kind: 'calls', namespace: 'mcp__memory', tool: 'echo', args: { said: 'ECHO' } },
        DONE,
      ],
    });
    const toolbox = join(FIXTURES, 'servers', 'toolbox.mjs');
    const servers = [attachedServer({ cmd: process.execPath, args: [toolbox] })];
    const agent = plainAgent({ run: { approvals } });
    expect(await engine.run(watchedRun(cwd, { agent, servers }))).toEqual({
      ok: true,
      output: 'done',
    });
    const answer = JSON.stringify(model.requests[1]?.body.input.at(-1));
    expect(answer).toContain('ECHO');
    expect(answer).toContain('function_call_output');
    expect(answer).not.toContain('rejected');
  },
);

test.each([
  ['his user answers it', { approvals: 'ask' }, 'provided the requested information'],
  ['it is set to be declined', { approvals: 'decline' }, 'declined to provide'],
] as const)(
  'a question of a server itself is passed on to the host, where %s',
  async (_what, settings, words) => {
    const { engine, model, cwd } = await realEngine({
      script: [
        {
          kind: 'calls',
          namespace: 'mcp__everything',
          tool: 'trigger_elicitation_request',
          args: {},
        },
        DONE,
      ],
      settings,
    });
    const { command, args } = publishedServer('everything');
    const caller = new FakeCaller({ capabilities: { elicitation: {} } });
    caller.reply = async () => Verbatim.of({ action: 'accept', content: { name: 'Ada' } });
    const servers = [attachedServer({ key: 'everything', cmd: command, args })];
    const run = watchedRun(cwd, { agent: plainAgent(), servers, caller });
    expect(await engine.run(run)).toEqual({ ok: true, output: 'done' });
    expect(JSON.stringify(model.requests[1]?.body.input.at(-1))).toContain(words);
    expect(caller.asked).toHaveLength(settings.approvals === 'ask' ? 1 : 0);
  },
);
