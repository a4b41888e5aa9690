// The configuration read again at the worst of times, and again and again.
import { expect, test } from 'vitest';
import { activate, becomes, GATEWAY, reaches, serversIn, statusOf } from '../support/gateway.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const toolbox = testServer('toolbox');
const tagged = () => `reload-${Math.random().toString(36).slice(2)}`;

const configure = (project: Project, mcpServers: object): string =>
  project.write('switchboard.config.json', { mcpServers });

const reloads = (host: RawHost): number =>
  host.stderr.split('reloaded the configuration').length - 1;

async function reload(host: RawHost): Promise<void> {
  const before = reloads(host);
  host.process.kill('SIGHUP');
  expect(await eventually(() => reloads(host) > before)).toBe(true);
}

test('fifty reloads during calls: each call gets exactly one answer', async () => {
  const project = createProject();
  configure(project, { box: toolbox, flips: { ...toolbox, show: 'flip' } });
  const host = await RawHost.connect(project);
  await reaches(host, 'flips', 'ready');
  const pid = textOf(await host.call('box', 'where_am_i')).slice(0, 20);
  const calls: Promise<unknown>[] = [];
  for (let time = 0; time < 50; time++) {
    host.process.kill('SIGHUP');
    for (let call = 0; call < 4; call++) calls.push(host.call('box', 'echo', { time, call }));
    await new Promise((resolve) => setTimeout(resolve, time % 5));
  }
  await Promise.all(calls);
  expect(await eventually(() => reloads(host) > 0)).toBe(true);
  const answered = host.messages.flatMap(({ id }) => (id === undefined ? [] : [id]));
  expect(new Set(answered).size).toBe(answered.length);
  expect(host.impure).toEqual([]);
  expect(textOf(await host.call('box', 'where_am_i')).slice(0, 20)).toBe(pid);
  expect(await host.toolNames()).toEqual([...GATEWAY, 'box_suite']);
});

test('during warm-up: kept servers become ready, removed ones leave nothing behind', async () => {
  const project = createProject();
  const [stays, goes] = [tagged(), tagged()];
  const many = (count: number, tag: string) =>
    Array.from({ length: count }, (_, index) => [
      `${tag}-${index}`,
      { ...testServer('toolbox', tag), show: 'flip' },
    ]);
  const slow = { ...testServer('starts-slowly', '60000', goes), show: 'flip' };
  configure(project, { ...Object.fromEntries([...many(5, stays), ...many(5, goes)]), slow });
  const host = await RawHost.connect(project);
  configure(project, Object.fromEntries(many(5, stays)));
  for (let time = 0; time < 10; time++) {
    host.process.kill('SIGHUP');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await reload(host);
  const areReady = async () => {
    const servers = serversIn((await host.callTool('gateway_status')).result);
    return servers.length === 5 && servers.every(({ state }) => state === 'ready');
  };
  expect(await becomes(areReady)).toBe(true);
  expect(processesWith(stays)).toHaveLength(5);
  expect(await eventually(() => processesWith(goes).length === 0)).toBe(true);
  await host.close();
  expect(await eventually(() => processesWith(stays).length === 0)).toBe(true);
});

test('a removed switched-on server leaves the list, and its call is answered', async () => {
  const tag = tagged();
  const project = createProject();
  configure(project, {
    box: { ...testServer('toolbox', tag), show: 'flip' },
    other: { ...toolbox, show: 'flip' },
  });
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  await activate(host, 'box');
  const told = host.listChanges;
  const call = host.callTool('wait', { ms: 1_000 });
  await host.request('ping');
  configure(project, { other: { ...toolbox, show: 'flip' } });
  await reload(host);
  expect(await eventually(() => host.listChanges > told)).toBe(true);
  expect(await host.toolNames()).toEqual(GATEWAY);
  expect((await host.callTool('wait', { ms: 1 })).error?.code).toBe(-32602);
  expect(textOf(await activate(host, 'box'))).toContain('Unknown server "box"');
  expect(textOf(await call)).toBe('waited 1000 ms');
  expect(await eventually(() => processesWith(tag).length === 0)).toBe(true);
});

test('while idle servers stop and calls arrive: every call is served', async () => {
  const project = createProject();
  const box = (description: string) => ({ ...toolbox, idleMs: 30, description });
  configure(project, { box: box('0') });
  const host = await RawHost.connect(project);
  for (let time = 0; time < 40; time++) {
    if (time % 3 === 0) {
      configure(project, { box: box(String(time)) });
      host.process.kill('SIGHUP');
    }
    await new Promise((resolve) => setTimeout(resolve, 20 + (time % 20)));
    expect(textOf(await host.call('box', 'echo', { time }))).toBe(`{"time":${time}}`);
  }
});

test.each([
  ['a program that throws', 'switchboard.config.mjs', 'throw new Error("not today");'],
  ['no JSON', '.switchboard/servers.json', '{'],
  ['something else', '.switchboard/servers.json', '[1, 2]'],
])('a configuration that is %s does not exit the program', async (_what, file, text) => {
  const project = createProject();
  const servers = { box: { ...toolbox, show: 'flip' } };
  const isProgram = file.endsWith('.mjs');
  if (isProgram) project.write(file, `export default ${JSON.stringify({ mcpServers: servers })};`);
  else project.write(file, servers);
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  project.write(file, text);
  host.process.kill('SIGHUP');
  expect(await eventually(() => host.stderr.includes('keeping the previous one'))).toBe(true);
  expect(await statusOf(host, 'box')).toMatchObject({ state: 'ready' });
});
