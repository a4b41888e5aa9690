// Every field that an agent can set for its run, and what the model is then really asked: the engine may
// rename a setting, or take one and do nothing with it, without a word.
import { expect, onTestFinished, test } from 'vitest';
import type { RunFields } from '../../src/agents/agent.ts';
import { AppServer } from '../../src/agents/codex/app-server.ts';
import { processArguments } from '../../src/agents/codex/thread.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { plainAgent, watchedRun } from '../support/agents.ts';
import type { ModelRequestBody } from '../support/model-server.ts';
import { type RealEngineOptions, realEngine } from '../support/real-engine.ts';

/** What the model is asked first, for an agent with these fields. */
async function firstRequest(
  run: RunFields,
  options: Partial<RealEngineOptions> = {},
): Promise<{ body: ModelRequestBody; sent: string; warnings: string[] }> {
  const { engine, model, cwd } = await realEngine({
    script: [{ kind: 'says', text: 'done' }],
    ...options,
  });
  const watched = watchedRun(cwd, { agent: plainAgent({ run }) });
  expect(await engine.run(watched)).toEqual({ ok: true, output: 'done' });
  const body = model.requests[0]?.body;
  if (!body) throw new Error('The model was not asked.');
  const warnings = watched.events.filter(({ kind }) => kind === 'warning').map(({ text }) => text);
  return { body, sent: model.sent, warnings };
}

const toolNames = ({ tools = [] }: ModelRequestBody) => tools.map(({ name, type }) => name ?? type);

test('an agent that says nothing has the engine’s defaults, none of its extras and no built-in tool', async () => {
  const { body, sent, warnings } = await firstRequest({});
  expect(toolNames(body)).toEqual(['exec_command', 'write_stdin']);
  expect(body).toMatchObject({ model: 'plain-model', store: false });
  expect(sent).toContain('sandbox_mode` is `read-only');
  expect(sent).not.toContain('`approval_policy` is `unless-trusted`');
  expect(warnings).toEqual([]);
});

test('built-in tools that are left to the engine are those that it has by default', async () => {
  const { body } = await firstRequest({}, { settings: { builtinsDefault: 'engine' } });
  expect(toolNames(body)).toEqual([
    'exec_command',
    'write_stdin',
    'apply_patch',
    'view_image',
    'web_search',
  ]);
});

test.each([
  ['plan', 'update_plan'],
  ['apply_patch', 'apply_patch'],
  ['view_image', 'view_image'],
  ['web_search', 'web_search'],
] as const)('%s switches %s on, and no other', async (builtin, tool) => {
  const { body } = await firstRequest({ builtins: { [builtin]: true } });
  expect(toolNames(body)).toEqual(['exec_command', 'write_stdin', tool]);
});

test.each(['apply_patch', 'view_image', 'web_search'] as const)(
  '%s is switched off if the engine has it on',
  async (tool) => {
    const { body } = await firstRequest(
      { builtins: { [tool]: false } },
      { settings: { builtinsDefault: 'engine' } },
    );
    expect(toolNames(body)).not.toContain(tool);
    expect(toolNames(body)).toHaveLength(4);
  },
);

test('effort, summary and verbosity reach the model', async () => {
  const { body } = await firstRequest({
    effort: 'high',
    summary: 'detailed',
    verbosity: 'high',
  });
  expect(body.reasoning).toEqual({ effort: 'high', summary: 'detailed' });
  expect(body.text).toEqual({ verbosity: 'high' });
});

test.each([{}, { builtins: { apply_patch: true } }])(
  'effort, summary and verbosity reach a model that the engine does not know, with %j',
  async (more) => {
    const { body, warnings } = await firstRequest({
      model: 'gpt-4o-mini',
      effort: 'high',
      summary: 'detailed',
      verbosity: 'high',
      ...more,
    });
    expect(body.model).toBe('gpt-4o-mini');
    expect(body.reasoning).toEqual({ effort: 'high', summary: 'detailed' });
    expect(body.text).toEqual({ verbosity: 'high' });
    const patch = 'builtins' in more ? ['apply_patch'] : [];
    expect(toolNames(body)).toEqual(['exec_command', 'write_stdin', ...patch]);
    expect(warnings).toEqual([expect.stringContaining('does not know the model gpt-4o-mini')]);
  },
);

test('a model that the engine does not know is used, with a warning', async () => {
  const { body, warnings } = await firstRequest({ model: 'gpt-4o-mini' });
  expect(body.model).toBe('gpt-4o-mini');
  expect(toolNames(body)).toEqual(['exec_command', 'write_stdin']);
  expect(warnings).toEqual([expect.stringContaining('Model metadata for `gpt-4o-mini` not found')]);
});

test('a model that the engine does not know can apply patches where the agent says so', async () => {
  const { body, warnings } = await firstRequest({
    model: 'gpt-4o-mini',
    builtins: { apply_patch: true },
  });
  expect(body.model).toBe('gpt-4o-mini');
  expect(toolNames(body)).toEqual(['exec_command', 'write_stdin', 'apply_patch']);
  // Nothing is sent that such a model may refuse.
  expect(body.reasoning).toEqual({});
  expect(body.text).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining('does not know the model gpt-4o-mini')]);
});

test('a model that is given its tools as a program can apply patches or not, as the agent says', async () => {
  const model = 'gpt-6.1-sol';
  const [on, off] = [
    await firstRequest({ model, builtins: { apply_patch: true } }),
    await firstRequest({ model }),
  ];
  const tools = ({ input }: ModelRequestBody) =>
    JSON.stringify(input.filter(({ type }) => type === 'additional_tools'));
  expect(tools(on.body)).toContain('apply_patch');
  expect(tools(off.body)).toContain('exec_command');
  expect(tools(off.body)).not.toMatch(/apply_patch|spawn_agent|create_goal|request_user_input/);
});

test.each([
  ['untrusted', '`approval_policy` is `unless-trusted`'],
  ['never', 'Approval policy is currently never'],
  ['on-request', 'require_escalated'],
  ['on-failure', 'require_escalated'],
] as const)('the approval policy %s is the run’s', async (approvals, words) => {
  const { sent } = await firstRequest({ approvals });
  expect(sent).toContain(words);
});

test.each([
  ['read-only', '`sandbox_mode` is `read-only`'],
  ['workspace-write', '`sandbox_mode` is `workspace-write`'],
  ['danger-full-access', '`sandbox_mode` is `danger-full-access`'],
] as const)('the sandbox %s is the run’s, and changes nothing else', async (sandbox, words) => {
  const { sent } = await firstRequest({ sandbox });
  expect(sent).toContain(words);
  expect(sent).not.toContain('`approval_policy` is `unless-trusted`');
});

test('the approval policy of the user’s own configuration stays where the agent says none', async () => {
  const { sent } = await firstRequest(
    { sandbox: 'workspace-write' },
    { keys: 'approval_policy = "never"' },
  );
  expect(sent).toContain('Approval policy is currently never');
});

test('disable_response_storage changes nothing: responses are never stored', async () => {
  const { body } = await firstRequest({ disableStorage: false });
  expect(body.store).toBe(false);
});

test('chatgpt_base_url is taken by the engine', async () => {
  const { binary, codexHome, project, log } = await realEngine({ script: [] });
  const run: RunFields = { baseUrl: 'http://127.0.0.1:9/"quoted"/' };
  const server = await AppServer.open({
    binary,
    args: processArguments({ run, catalogFile: undefined, isKeyOurs: false }),
    env: project.env,
    codexHome,
    mark: { name: 'SOME_MARK', value: 'x' },
    log,
    secrets: [],
    initializeMs: 60_000,
    onRequest: () => Verbatim.of({}),
    onNotification: () => {},
    onOversize: () => {},
  });
  onTestFinished(() => server.close());
  await server.initialize('0');
  expect(await server.request('config/read', { includeLayers: false })).toMatchObject({
    config: { chatgpt_base_url: 'http://127.0.0.1:9/"quoted"/' },
  });
});
