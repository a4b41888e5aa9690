// What is reported: by a running Switchboard, from the configuration alone, and as another program
// may send it.
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { SwitchboardError } from '../../../src/base/errors.ts';
import { signalGroup, spawnGroup } from '../../../src/base/process.ts';
import type { Config } from '../../../src/config/config.ts';
import { DEFAULTS } from '../../../src/config/defaults.ts';
import { createOfflineReport } from '../../../src/host/offline-report.ts';
import { parseReport } from '../../../src/host/parse-report.ts';
import { createReport, type Facts } from '../../../src/host/status-report.ts';
import { agentSettings } from '../../support/agent-settings.ts';
import { childConfig } from '../../support/child-config.ts';

const CHILD: Facts['children'][number] = {
  name: 'idle',
  show: 'suite',
  state: 'idle',
  pid: undefined,
  uptimeMs: undefined,
  calls: 0,
  tools: undefined,
  lastError: undefined,
};

const FACTS: Facts = {
  startedAt: '2026-03-14T12:03:00.000Z',
  project: '/project',
  files: ['/project/switchboard.config.json'],
  sessions: [{ client: 'claude-code 2.1', revision: '2025-11-25', active: [] }],
  children: [CHILD],
  runs: [
    {
      agent: 'agent_review',
      cwd: '/project',
      state: 'waiting',
      since: '2026-03-14T12:04:00.000Z',
      before: 2,
      doing: undefined,
    },
  ],
};

test('a report has the memory of the program and of each running server', async () => {
  const child = await spawnGroup({ cmd: 'cat', args: [], cwd: '/', env: process.env });
  const pid = child.pid ?? 0;
  onTestFinished(() => signalGroup(pid, 'SIGKILL'));
  child.stdin?.write('x');
  if (child.stdout) await once(child.stdout, 'data');

  const refusedTools = [{ name: 'a\u200bb', where: 'name' }] as const;
  const running = { ...CHILD, name: 'cat', state: 'ready', pid, refusedTools } as const;
  const report = await createReport({ ...FACTS, children: [CHILD, running] });
  expect(report).toEqual({
    ...FACTS,
    version: expect.any(String),
    pid: process.pid,
    memoryBytes: expect.any(Number),
    children: [
      { ...CHILD, memoryBytes: undefined },
      { ...running, memoryBytes: expect.any(Number) },
    ],
  });
  const [, { memoryBytes } = { memoryBytes: 0 }] = report.children;
  expect(memoryBytes).toBeGreaterThan(100_000);
  expect(parseReport(JSON.parse(JSON.stringify(report)))).toEqual(report);
});

test('without a running Switchboard, servers are as configured and cached', () => {
  const problem = new SwitchboardError('CHILD_NOT_CONFIGURED', 'It has no command.');
  const children = [
    childConfig({ name: 'known', show: 'flip' }),
    childConfig({ name: 'new', show: 'flip' }),
    childConfig({ name: 'wrong', show: 'flip', problem }),
    childConfig({ name: 'unwanted', show: 'off' }),
  ];
  const config: Config = {
    project: '/project',
    home: '/home',
    homeFolder: '/',
    files: ['/project/switchboard.config.json'],
    children: new Map(children.map((child) => [child.name, child])),
    era: 'auto',
    questionMs: 1,
    introspection: DEFAULTS.introspection,
    toolChanges: DEFAULTS.toolChanges,
    stopMs: 2_000,
    flipSuites: 'auto',
    messageBytes: 1,
    messageShape: DEFAULTS.messageShape,
    agents: agentSettings(),
    logging: { level: 'info', form: 'compact', folder: undefined },
    warnings: [],
  };
  const listedAt = '2026-03-14T12:03:00.000Z';
  const tools = [{ name: 'one' }, { name: 'two' }];
  const nothing = {
    lists: {},
    refused: [],
    rights: {},
    changes: undefined,
    listedAt: undefined,
    framing: undefined,
    era: undefined,
  };
  const report = createOfflineReport(config, {
    get: ({ name }) => (name === 'known' ? { ...nothing, lists: { tools }, listedAt } : nothing),
  });
  const blank = { ...CHILD, memoryBytes: undefined, listedAt: undefined, show: 'flip' };
  expect(report).toEqual({
    project: '/project',
    files: ['/project/switchboard.config.json'],
    missing: [],
    children: [
      { ...blank, name: 'known', tools: 2, listedAt },
      { ...blank, name: 'new' },
      { ...blank, name: 'wrong', state: 'error', lastError: 'It has no command.' },
      { ...blank, name: 'unwanted', state: 'off', show: 'off' },
    ],
  });
});

test('a report from another version is read as far as possible', () => {
  const strange = { children: [{ name: 'a', state: 'asleep', pid: '1' }, null, 7], runs: [{}, 1] };
  expect(parseReport(strange)).toEqual({
    version: 'unknown',
    pid: 0,
    startedAt: '',
    project: '',
    files: [],
    memoryBytes: undefined,
    sessions: [],
    children: [{ ...CHILD, name: 'a', memoryBytes: undefined }],
    runs: [
      { agent: '', cwd: '', state: 'running', since: '', before: undefined, doing: undefined },
    ],
  });
  expect(parseReport({ children: [] })?.runs).toEqual([]);
  for (const none of [undefined, null, 'x', [], {}, { children: 1 }]) {
    expect(parseReport(none)).toBeUndefined();
  }
});
