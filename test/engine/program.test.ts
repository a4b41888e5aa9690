// From a host to a model and back: the built program, started as hosts and people start it, with the
// real engine behind it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runThrough, toml } from '../support/agent-project.ts';
import { runSwitchboard } from '../support/command.ts';
import { programProject } from '../support/engine-project.ts';
import type { ModelAnswer } from '../support/model-server.ts';
import { eventually } from '../support/processes.ts';
import { ROOT } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import { connectV1, connectV2, startServing } from '../support/serve-http.ts';

const DONE = { kind: 'says', text: 'done' } as const;
const AIDE = { '.agents/aide.toml': toml('Aide', 'instructions = "You are MARKER-OF-AIDE."') };

describe('an agent with instructions of its own', () => {
  const reply = { ok: true, output: 'done' };

  test('is run for a host over stdio', async () => {
    const { model, project, cwd } = await programProject({ files: AIDE, script: [DONE] });
    const host = await RawHost.connect(project);
    expect(await runThrough(host, 'agent_aide', { task: 'do it', cwd })).toEqual(reply);
    expect(JSON.stringify(model.requests[0]?.body.input[0])).toContain('You are MARKER-OF-AIDE.');
    expect(host.impure).toEqual([]);
  });

  test.each([
    ['with a handshake', connectV1],
    ['without one', connectV2('auto')],
  ])('is run for a host over HTTP %s', async (_what, connect) => {
    const { model, project, cwd } = await programProject({ files: AIDE, script: [DONE] });
    const client = await connect(await startServing(project));
    const { content } = await client.callTool('agent_aide', { task: 'do it', cwd });
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(reply) }]);
    expect(model.sent).toContain('You are MARKER-OF-AIDE.');
  });

  test('is run on the command line', async () => {
    const { model, project, cwd } = await programProject({ files: AIDE, script: [DONE] });
    const args = ['run', 'aide', '--cwd', cwd, '--', '--help "me"'];
    const { status, stdout } = await runSwitchboard(project, args);
    expect([status, stdout]).toEqual([0, 'done\n']);
    expect(model.sent).toContain('You are MARKER-OF-AIDE.');
    const content = [{ type: 'input_text', text: '--help "me"' }];
    expect(model.requests[0]?.body.input.at(-1)).toMatchObject({ content });
  });

  test('is run twice at once where the engine has never been used', async () => {
    const { project, cwd } = await programProject(
      { files: AIDE, script: [DONE] },
      { AGENTS_MAX_RUNS: '2' },
    );
    const host = await RawHost.connect(project);
    const runs = [1, 2].map((n) => runThrough(host, 'agent_aide', { task: `${n}`, cwd }));
    expect(await Promise.all(runs)).toEqual([reply, reply]);
  });
});

test.each(['gpt-5', 'sonnet'])(
  'an agent with the model %s keeps the provider of the user’s Codex configuration',
  async (name) => {
    const files = { '.agents/aide.toml': toml('Aide', `[run]\nmodel = "${name}"`) };
    const { model, project, cwd } = await programProject({ files, script: [DONE] });
    const args = ['run', 'aide', 'do it', '--cwd', cwd];
    expect(await runSwitchboard(project, args)).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(model.requests[0]?.body.model).toBe('gpt-5');
  },
);

test('the agent of the documentation remembers with its server', async () => {
  const page = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8');
  const [, text = ''] = /```toml\n(name = "Explain Build Failures"\n[^`]*)```/.exec(page) ?? [];
  const server = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');
  // Nothing is downloaded in a test: it is the same server, from here.
  const written = text
    .replace('command = "npx"', `command = ${JSON.stringify(process.execPath)}`)
    .replace('"-y", "@modelcontextprotocol/server-memory"', JSON.stringify(server));
  expect(written).toContain(server);
  const entities = [{ name: 'the build', entityType: 'thing', observations: ['it fails'] }];
  const { model, project, cwd } = await programProject(
    {
      files: {
        '.agents/explain.toml': written,
        '.agents/explain.prompt.md': 'Be MARKER-OF-THE-PROMPT.',
      },
      isOpenai: true,
      script: [
        { kind: 'calls', namespace: 'mcp__memory', tool: 'create_entities', args: { entities } },
        DONE,
      ],
    },
    { OPENAI_API_KEY: 'sk-some-key' },
  );
  const host = await RawHost.connect(project);
  const result = await runThrough(host, 'agent_explain_build_failures', { task: 'Why?', cwd });
  expect(result).toEqual({ ok: true, output: 'done' });
  expect(readFileSync(join(project.dir, 'home', 'memory.json'), 'utf8')).toContain('it fails');
  const [first] = model.requests;
  expect(first?.authorization).toBe('Bearer sk-some-key');
  expect(first?.body.model).toBe('gpt-5');
  expect(JSON.stringify(first?.body.input[0])).toContain('MARKER-OF-THE-PROMPT');
  const names = first?.body.tools?.map(({ name, type }) => name ?? type);
  expect(names).toEqual(
    expect.arrayContaining(['update_plan', 'apply_patch', 'web_search', 'mcp__memory']),
  );
});

describe('a task of a megabyte that begins like an option, with NUL and quotes', () => {
  const beginning = '--config="x" \'it\' `id` $(id)\n\u0000\u2028 ';
  const task = beginning.padEnd(1 << 20, 'word ');

  test('reaches the model exactly from a host', async () => {
    const { model, project, cwd } = await programProject({ files: AIDE, script: [DONE] });
    const host = await RawHost.connect(project);
    await runThrough(host, 'agent_aide', { task, cwd });
    const content = [{ type: 'input_text', text: task }];
    expect(model.requests[0]?.body.input.at(-1)).toMatchObject({ content });
  });

  test('reaches the model exactly from stdin of the command line', async () => {
    const { model, project, cwd } = await programProject({ files: AIDE, script: [DONE] });
    const args = ['run', 'aide', '-', '--cwd', cwd];
    expect(await runSwitchboard(project, args, { input: task })).toMatchObject({ status: 0 });
    const content = [{ type: 'input_text', text: task }];
    expect(model.requests[0]?.body.input.at(-1)).toMatchObject({ content });
  });
});

describe('a last message with control sequences', () => {
  const text = '\u001b[31mred\u001b[0m \u001b]0;title\u0007plain';

  test('reaches a host as it is, in JSON that has none of them bare', async () => {
    const { project, cwd } = await programProject({
      files: AIDE,
      script: [{ kind: 'says', text }],
    });
    const host = await RawHost.connect(project);
    const { result } = await host.callTool('agent_aide', { task: 'x', cwd });
    const said = result?.content?.[0]?.text ?? '';
    expect(JSON.parse(said)).toEqual({ ok: true, output: text });
    expect(said).not.toContain('\u001b');
  });

  test('does nothing to a terminal', async () => {
    const { project, cwd } = await programProject({
      files: AIDE,
      script: [{ kind: 'says', text }],
    });
    const { stdout, stderr } = await runSwitchboard(project, ['run', 'aide', 'x', '--cwd', cwd]);
    expect(stdout).toBe('red plain\n');
    expect(stderr).not.toContain('\u001b');
  });
});

describe('approval of a command out of the sandbox', () => {
  const script: ModelAnswer[] = [
    {
      kind: 'calls',
      tool: 'exec_command',
      args: { cmd: 'touch out.txt', sandbox_permissions: 'require_escalated', justification: 'so' },
    },
    DONE,
  ];
  const files = {
    '.agents/aide.toml': toml('Aide', '[run]\napproval_policy = "on-request"'),
  };
  const question = (cwd: string) => ({
    method: 'elicitation/create',
    params: {
      message: `The agent "Aide" wants to run in ${cwd}:\ntouch out.txt\nReason: so`,
      requestedSchema: { required: ['allow'] },
    },
  });
  const yes = { action: 'accept', content: { allow: true } };

  test('is asked of a host that has shaken hands', async () => {
    const { project, cwd } = await programProject({ files, script });
    const host = new RawHost(project);
    const capabilities = { elicitation: {} };
    await host.request('initialize', { protocolVersion: '2025-11-25', capabilities });
    host.notify('notifications/initialized');
    const run = runThrough(host, 'agent_aide', { task: 'x', cwd });
    const asked = () => host.messages.find(({ method }) => method === 'elicitation/create');
    expect(await eventually(() => asked() !== undefined)).toBe(true);
    expect(asked()).toMatchObject(question(cwd));
    host.send({ jsonrpc: '2.0', id: asked()?.['id'], result: yes });
    expect(await run).toEqual({ ok: true, output: 'done' });
    expect(readFileSync(join(cwd, 'out.txt'), 'utf8')).toBe('');
  });

  test('is asked of a host without handshakes in a round of its own', async () => {
    const { project, cwd } = await programProject({ files, script });
    const host = new RawHost(project);
    const call = {
      name: 'agent_aide',
      arguments: { task: 'x', cwd },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      },
    };
    const { result } = await host.request('tools/call', call);
    expect(result).toMatchObject({ resultType: 'input_required' });
    const requests = (result?.['inputRequests'] ?? {}) as Record<string, unknown>;
    const [key = ''] = Object.keys(requests);
    expect(requests).toMatchObject({ [key]: question(cwd) });
    const { requestState } = result ?? {};
    const inputResponses = { [key]: yes };
    const last = await host.request('tools/call', { ...call, requestState, inputResponses });
    expect(last.result).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: '{"ok":true,"output":"done"}' }],
    });
    expect(readFileSync(join(cwd, 'out.txt'), 'utf8')).toBe('');
  });
});
