// Servers that nobody uses are stopped, and start again when somebody does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const tagged = () => `idle-${Math.random().toString(36).slice(2)}`;
const toolbox = (tag: string) => testServer('toolbox', tag);
const runs = (tag: string) => processesWith(tag).length > 0;

async function connect(server: object, env: Record<string, string> = {}): Promise<RawHost> {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { box: server } } });
  return RawHost.connect(project, { env });
}

test('an idle server is stopped, and the next call starts it again', async () => {
  const tag = tagged();
  const host = await connect({ ...toolbox(tag), idleMs: 200 });
  for (let life = 0; life < 7; life++) {
    expect(textOf(await host.call('box', 'echo', { life }))).toBe(`{"life":${life}}`);
    expect(await eventually(() => !runs(tag))).toBe(true);
  }
});

test('a longer call is not interrupted', async () => {
  const host = await connect({ ...toolbox(tagged()), idleMs: 100 });
  expect(textOf(await host.call('box', 'wait', { ms: 1_000 }))).toBe('waited 1000 ms');
});

test('calls that arrive during the stop are served', async () => {
  const host = await connect({ ...toolbox(tagged()), idleMs: 40 });
  for (let time = 0; time < 40; time++) {
    const pause = 30 + (time % 20);
    await new Promise((resolve) => setTimeout(resolve, pause));
    expect(textOf(await host.call('box', 'echo', { time }))).toBe(`{"time":${time}}`);
  }
});

test('a server stopped when idle is not in error; a switched-on one stays listed', async () => {
  const tag = tagged();
  const host = await connect({ ...toolbox(tag), show: 'flip', idleMs: 200 });
  const text = async () => textOf(await host.callTool('gateway_status'));
  // It was started, or its tools would not be known.
  await expect.poll(text).toBe('○ box: idle (7 tools)');
  expect(await eventually(() => !runs(tag))).toBe(true);
  await host.callTool('gateway_activate', { name: 'box' });
  expect(await text()).toBe('▶ box: active (7 tools)');
  expect(textOf(await host.callTool('echo', { a: 1 }))).toBe('{"a":1}');
  expect(await eventually(() => !runs(tag))).toBe(true);
  expect(await host.toolNames()).toContain('echo');
  expect(await text()).toBe('▶ box: active (7 tools)');
});

test.each([{ show: 'flip' }, { start: 'eager' }, { idleMs: 0 }])(
  '%o keeps running whatever the default time is',
  async (keys) => {
    const tag = tagged();
    const host = await connect({ ...toolbox(tag), ...keys }, { SWITCHBOARD_CHILD_IDLE_MS: '100' });
    await host.call('box', 'echo');
    expect(await eventually(() => !runs(tag), 1_000)).toBe(false);
  },
);

test('the environment can set the default time', async () => {
  const tag = tagged();
  const host = await connect(toolbox(tag), { SWITCHBOARD_CHILD_IDLE_MS: '100' });
  await host.call('box', 'echo');
  expect(await eventually(() => !runs(tag))).toBe(true);
});

test('an eager server starts before its first use, and only its suite is listed', async () => {
  const tag = tagged();
  const host = await connect({ ...toolbox(tag), start: 'eager' });
  expect(await eventually(() => runs(tag))).toBe(true);
  expect(await host.toolNames()).toEqual(['box_suite']);
});

test('a server’s framing is remembered', async () => {
  const project = createProject();
  const log = join(project.dir, 'log.txt');
  const script = project.write(
    'counts.mjs',
    `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(log)}, 'start\\n');
     await import(${JSON.stringify(testServer('only-headers').args[0])});`,
  );
  project.write('switchboard.config.json', {
    mcpServers: { box: { command: 'node', args: [script] } },
  });
  const first = await RawHost.connect(project);
  expect(textOf(await first.call('box', 'echo', { a: 1 }))).toBe('{"a":1}');
  await first.close();
  const second = await RawHost.connect(project);
  expect(textOf(await second.call('box', 'echo', { a: 2 }))).toBe('{"a":2}');
  expect(readFileSync(log, 'utf8')).toBe('start\n'.repeat(3));
});
