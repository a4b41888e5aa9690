// What the engine asks, and what it is answered: the host's user where he can be asked, no otherwise.
import { expect, test } from 'vitest';
import type { EngineRun } from '../../../../src/agents/engine.ts';
import { RpcError } from '../../../../src/rpc/message.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';
import { plainAgent, watchedRun } from '../../../support/agents.ts';
import { FakeCaller } from '../../../support/fake-caller.ts';
import { type ScriptedEngineOptions, scriptedEngine } from '../../../support/scripted-engine.ts';

async function runScript(
  script: string,
  caller?: FakeCaller,
  settings: ScriptedEngineOptions['settings'] = {},
) {
  const { engine, cwd } = scriptedEngine({ settings });
  const said: Partial<EngineRun> = {
    agent: plainAgent({ name: 'Tester', instructions: `script: ${script}` }),
    caller,
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
    'answer: {"decision":{"denied":{"rejection":"The user has not allowed it."}}} answer: {"decision":{"denied":{"rejection":"The user has not allowed it."}}}',
  'asks-something-new': 'answer: {"code":-32601,"message":"Method not found: item/future/request"}',
};
const YES = {
  'asks-command': 'answer: {"decision":"accept"}',
  'asks-change': 'answer: {"decision":"accept"}',
  'asks-permissions': 'answer: {"permissions":{"network":{"enabled":true}},"scope":"turn"}',
  'asks-question': 'answer: {"action":"accept","content":{"allow":true},"_meta":null}',
  'asks-as-before': 'answer: {"decision":"approved"} answer: {"decision":"approved"}',
};

test.each(Object.entries(NO))('%s: where nobody can be asked, no', async (script, answer) => {
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
  '%s: where it is set to be declined, nobody is asked',
  async (script, answer) => {
    const told = await runScript(script, accepting({ allow: true }), { approvals: 'decline' });
    expect(told).toMatchObject({ answer, asked: [] });
  },
);

test.each(Object.entries(YES))('%s: what the user allows is allowed', async (script, answer) => {
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

test('the question says which agent wants what, where and why', async () => {
  const { asked } = await runScript('asks-command', accepting({ allow: true }));
  const schema =
    '{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow it","default":false}},"required":["allow"]}';
  expect(asked).toEqual([
    `elicitation/create {"message":"The agent \\"Tester\\" wants to run npm test in /some/where. Its reason: to see","requestedSchema":${schema}}`,
  ]);
});

test('a change is described by the file that it is about', async () => {
  const { asked, cwd } = await runScript('asks-change', accepting({ allow: true }));
  expect(asked.join('')).toContain(`wants to change ${cwd}/a.txt in ${cwd}.`);
});

test('a question of a server is passed on as it is', async () => {
  const { asked, answer } = await runScript('asks-question', accepting({ name: 'Ada' }));
  expect(asked).toEqual([
    'elicitation/create {"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}',
  ]);
  expect(answer).toBe('answer: {"action":"accept","content":{"name":"Ada"},"_meta":null}');
});
