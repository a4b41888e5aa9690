// Assistants of sessions in the background process: each session has its own, and they share the server behind them.
import { expect, test } from 'vitest';
import { askRunning } from '../../src/host/control-client.ts';
import { createSharedProject } from '../support/background.ts';
import { startModelServer } from '../support/model-server-chat.ts';
import { eventually, isAlive, processesWith } from '../support/processes.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

interface Where {
  readonly pid: number;
  readonly env: Record<string, string>;
}

test('two sessions share the server behind their assistants, and nothing else', async () => {
  const model = await startModelServer(({ results }) =>
    results[0] ? { text: results[0].text } : { calls: [{ name: 'where_am_i', args: {} }] },
  );
  const project = createSharedProject({
    kid: { ...testServer('toolbox', 'shared-kid'), assistant: true },
  });
  const connect = (query: string) =>
    RawHost.connect(project, {
      env: {
        ...model.env('messages'),
        CLAUDE_CODE_OAUTH_TOKEN: query,
        ANTHROPIC_CUSTOM_HEADERS: 'X-Gateway: ours',
      },
    });
  const ask = async (host: RawHost, query: string): Promise<Where> => {
    const call = { action: 'call', subtool: 'natural_language', args: { query } };
    const params = { name: 'kid_suite', arguments: call };
    return JSON.parse(textOf(await host.request('tools/call', params))) as Where;
  };
  const [one, two] = [await connect('first'), await connect('second')];
  const first = await ask(one, 'the first question');
  const second = await ask(two, 'the second question');
  expect(second.pid).toBe(first.pid);
  // What belongs to one session doesn't reach a server that both use.
  expect(first.env['CLAUDE_CODE_OAUTH_TOKEN']).toBeUndefined();
  expect(processesWith('shared-kid')).toHaveLength(1);
  expect(
    processesWith(`assistant serve`).filter(({ command }) => command.includes(project.dir)),
  ).toEqual([]);
  const { requests } = model;
  expect(requests.every(({ headers }) => headers['x-gateway'] === 'ours')).toBe(true);
  expect(requests.at(-1)?.said.join()).not.toContain('the first question');
  expect((await ask(one, 'the third question')).pid).toBe(first.pid);
  expect(requests.at(-1)?.said.join()).toContain('the first question');

  const reports = await askRunning(project.home, 'status', 10_000);
  expect(reports).toHaveLength(2);
  for (const { value } of reports) {
    const children = [{ share: 'project', pid: first.pid, sessions: 2 }];
    expect(value).toMatchObject({ children });
  }
  one.process.stdin?.end();
  await one.exited;
  expect(isAlive(first.pid)).toBe(true);
  expect((await ask(two, 'still there?')).pid).toBe(first.pid);
  two.process.stdin?.end();
  await two.exited;
  expect(await eventually(() => !isAlive(first.pid))).toBe(true);
});

test('a program that uses the tools by itself gets the shared server, and learns if it does not start', async () => {
  const project = createSharedProject({
    kid: { ...testServer('toolbox', 'shared-kid'), assistant: true },
    broken: { command: 'node', args: ['-e', 'process.exit(3)'], assistant: true },
  });
  const tools = (name: string) => ({
    args: ['assistant', 'serve', '--tools', '--shared', '--', name],
  });
  const whereIs = async (host: RawHost): Promise<Where> =>
    JSON.parse(
      textOf(await host.request('tools/call', { name: 'where_am_i', arguments: {} })),
    ) as Where;
  const [one, two] = [
    await RawHost.connect(project, tools('kid')),
    await RawHost.connect(project, tools('kid')),
  ];
  expect(await one.toolNames()).toContain('where_am_i');
  const { pid } = await whereIs(one);
  expect((await whereIs(two)).pid).toBe(pid);
  expect(project.backgrounds()).toHaveLength(1);
  const failed = new RawHost(project, tools('broken'));
  expect(await failed.exited).toMatchObject({ code: 3 });
  expect(failed.stderr).toContain('broken');
});
