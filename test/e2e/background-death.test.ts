// The background process is killed at any moment, and hosts go on: every request gets exactly one response, no call
// runs twice, and the session is what it was.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createRecorded,
  createSharedProject,
  ENDED,
  expectOneAnswerEach,
  killBackground,
} from '../support/background.ts';
import { activate, statusOf } from '../support/gateway.ts';
import { eventually, isAlive } from '../support/processes.ts';
import { ROOT } from '../support/project.ts';
import { type Answer, RawHost, textOf } from '../support/raw-host.ts';
import { eraServer, testServer } from '../support/servers.ts';

describe('when the background process is killed', () => {
  test.each(['newline', 'content-length'] as const)(
    'open requests get one error each, and the session goes on (%s)',
    async (framing) => {
      const project = createRecorded();
      const host = await RawHost.connect(project, { framing });
      expect(textOf(await host.call('rec', 'other', { n: 'before' }))).toBe('recorded');
      const open = ['a', 'b', 'c'].map((n) => host.call('rec', 'hold', { n }, `id ${n}`));
      expect(await eventually(() => project.calls().length === 4)).toBe(true);
      await killBackground(project);
      const errors = await Promise.all(open);
      expect(errors.map(({ id, error }) => [id, error?.code, error?.message])).toEqual([
        ['id a', -32603, ENDED],
        ['id b', -32603, ENDED],
        ['id c', -32603, ENDED],
      ]);
      expect(textOf(await host.call('rec', 'other', { n: 'after' }))).toBe('recorded');
      expect(project.calls()).toEqual(['before', 'a', 'b', 'c', 'after']);
      expectOneAnswerEach(host);
      expect(await host.close()).toEqual({ code: 0, signal: null });
    },
  );

  test('requests it never read get an error, and half a message is completed', async () => {
    const project = createRecorded();
    const host = await RawHost.connect(project);
    const pid = project.background();
    await host.request('ping');
    process.kill(pid, 'SIGSTOP');
    const unread = [1, 2].map((n) => host.call('rec', 'other', { n: `unread ${n}` }));
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: 'half',
      method: 'tools/call',
      params: {
        name: 'rec_suite',
        arguments: { action: 'call', subtool: 'other', args: { n: 'half' } },
      },
    });
    host.write(text.slice(0, 50));
    process.kill(pid, 'SIGKILL');
    for (const { error } of await Promise.all(unread)) expect(error?.message).toBe(ENDED);
    const half = new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (host.messages.some(({ id }) => id === 'half')) resolve();
      }, 10);
      onTestFinished(() => clearInterval(look));
    });
    host.write(`${text.slice(50)}\n`);
    await half;
    const answer = host.messages.find(({ id }) => id === 'half') as unknown as Answer;
    expect(textOf(answer)).toBe('recorded');
    expect(project.calls()).toEqual(['half']);
    expectOneAnswerEach(host);
  });

  test('the session is restored: era, switched-on servers, log level and subscriptions', async () => {
    const project = createSharedProject(
      { box: testServer('toolbox'), era: eraServer('handshake') },
      { suites: { box: { show: 'flip' } } },
    );
    const host = await RawHost.connect(project);
    await activate(host, 'box');
    expect(await host.toolNames()).toContain('where_am_i');
    await host.introspect('era');
    const uri = 'fixture://static';
    await host.request('resources/subscribe', { uri: 'fixture://binary' });
    await host.request('resources/unsubscribe', { uri: 'fixture://binary' });
    expect((await host.request('resources/subscribe', { uri })).error).toBeUndefined();
    await host.request('logging/setLevel', { level: 'error' });
    await killBackground(project);
    expect((await host.request('ping')).error?.message ?? '').toMatch(/^$|ended/);
    expect((await statusOf(host, 'box'))?.active).toBe(true);
    expect(await host.toolNames()).toContain('where_am_i');
    expect(textOf(await host.callTool('echo', { x: 1 }))).toBe('{"x":1}');
    await host.call('era', 'log', { levels: ['debug', 'warning', 'error'] });
    const told = (method: string) =>
      host.messages.flatMap((message) => (message['method'] === method ? message['params'] : []));
    // It's watched once the server's resources are known again.
    const updates = async () => {
      for (const one of ['fixture://binary', uri]) await host.call('era', 'touch', { uri: one });
      return told('notifications/resources/updated');
    };
    await expect.poll(updates).toContainEqual({ uri });
    expect(await updates()).not.toContainEqual({ uri: 'fixture://binary' });
    expect(told('notifications/message')).toMatchObject([{ level: 'error' }]);
    // It isn't initialized twice, and hears nothing about what was replayed.
    expect(host.messages.filter(({ id }) => String(id).includes('replayed'))).toEqual([]);
    expectOneAnswerEach(host);
  });

  test('many sessions find the next one, and only one is started', async () => {
    const project = createRecorded();
    const hosts = await Promise.all(Array.from({ length: 5 }, () => RawHost.connect(project)));
    await Promise.all(hosts.map((host) => host.call('box', 'echo', {})));
    await killBackground(project);
    const answers = await Promise.all(hosts.map((host) => host.call('box', 'echo', { x: 1 })));
    // A request that came before its entry noticed was never read.
    for (const { error, result } of answers) expect(error?.message ?? result).toBeDefined();
    const again = await Promise.all(hosts.map((host) => host.call('box', 'echo', { x: 2 })));
    expect(again.map(textOf)).toEqual(hosts.map(() => '{"x":2}'));
    expect(project.backgrounds()).toEqual([project.background()]);
    hosts.forEach(expectOneAnswerEach);
  });

  test('over and over, the entry serves by itself', async () => {
    const project = createRecorded();
    const host = await RawHost.connect(project);
    for (let times = 0; times < 4; times++) {
      await killBackground(project);
      if (times < 3) await eventually(() => project.backgrounds().length > 0);
      await host.request('ping');
    }
    expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
    expect(project.backgrounds()).toEqual([]);
    expect(host.stderr).toContain(
      'serving alone from now on: the background process keeps ending.',
    );
    expectOneAnswerEach(host);
    expect(await host.close()).toEqual({ code: 0, signal: null });
  });

  test('and sessions must not be shared anymore, the entry serves by itself', async () => {
    const project = createRecorded();
    const host = await RawHost.connect(project);
    project.write('switchboard.config.json', {
      mcpServers: { box: testServer('toolbox') },
      shared: false,
    });
    await killBackground(project);
    await host.request('ping');
    expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
    expect(await host.toolNames()).toEqual(['box_suite']);
    expectOneAnswerEach(host);
    expect(await host.close()).toEqual({ code: 0, signal: null });
  });

  test('and the program is gone, requests get a clear error and the entry stays', async () => {
    const project = createRecorded();
    const folder = join(project.dir, 'program');
    cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
    const host = await RawHost.connect(project, { program: join(folder, 'dist/index.js') });
    rmSync(folder, { recursive: true });
    await killBackground(project);
    const first = await host.request('ping');
    const second = await host.request('ping');
    expect(second.error?.message).toContain("can't be started again");
    expect(first.error?.message).toMatch(/ended/);
    expect(host.process.exitCode).toBeNull();
    expectOneAnswerEach(host);
    expect(await host.close()).toEqual({ code: 0, signal: null });
  });
});

test('a background process that is told to stop is started again when it is needed', async () => {
  const project = createRecorded();
  const host = await RawHost.connect(project);
  await host.call('box', 'echo', {});
  const pid = project.background();
  process.kill(pid, 'SIGTERM');
  await eventually(() => !isAlive(pid));
  expect(project.backgrounds()).toEqual([]);
  expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
  expect(project.backgrounds()).toHaveLength(1);
  expectOneAnswerEach(host);
});

test('the host closes while there is no background process', async () => {
  const project = createRecorded();
  const host = await RawHost.connect(project);
  await host.request('ping'); // what comes later would start another one
  process.kill(project.background(), 'SIGTERM');
  await eventually(() => project.backgrounds().length === 0);
  expect(await host.close()).toEqual({ code: 0, signal: null });
});

test('while the background process reads nothing, the host has to wait', async () => {
  const project = createRecorded();
  const host = await RawHost.connect(project);
  await host.request('ping');
  const pid = project.background();
  const { stdin } = host.process;
  process.kill(pid, 'SIGSTOP');
  try {
    const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params: { text: 'x'.repeat(10_000) } })}\n`;
    for (let count = 0; count < 2_000; count++) host.write(line);
    const isTaken = () => (stdin?.writableLength ?? 0) === 0;
    // If the entry kept it all, it would take all of it at once.
    expect(await eventually(isTaken, 1_000)).toBe(false);
    expect(stdin?.writableLength).toBeGreaterThan(10_000_000);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect((await host.request('ping')).result).toEqual({});
  expect(await host.close()).toEqual({ code: 0, signal: null });
});
