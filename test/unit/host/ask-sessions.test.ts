// Requests to every session of a background process, through its one endpoint.
import { expect, onTestFinished, test } from 'vitest';
import { EACH_SESSION, SESSION_PROJECTS } from '../../../src/host/background-methods.ts';
import { openControl } from '../../../src/host/control.ts';
import { askPrograms, askRunning } from '../../../src/host/control-client.ts';
import { temporaryFolder } from '../../support/fake-child.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

const LIMIT_MS = 10_000;

interface Each {
  readonly method: string;
  readonly projects?: readonly string[];
}

async function open(home: string, each: (params: Each) => unknown) {
  const common = { home, log: SILENT_LOG };
  const endpoints = [
    await openControl({
      ...common,
      project: '',
      background: '1.2.3',
      methods: {
        [SESSION_PROJECTS]: () => ['/one', '/two'],
        [EACH_SESSION]: (params) => each(params as Each),
        status: () => 'of all',
      },
    }),
    await openControl({ ...common, project: '/alone', methods: { status: () => 'of one' } }),
  ];
  onTestFinished(async () => {
    for (const endpoint of endpoints) await endpoint[Symbol.asyncDispose]();
  });
}

test('each session answers, and a program that serves alone', async () => {
  const home = temporaryFolder();
  await open(home, ({ method }) => [
    { project: '/one', value: method },
    { project: '/two', problem: 'no' },
  ]);
  const { pid } = process;
  const answers = await askRunning(home, 'status', LIMIT_MS);
  expect(new Set(answers)).toEqual(
    new Set([
      { pid, project: '/one', value: 'status' },
      { pid, project: '/two', problem: 'no' },
      { pid, project: '/alone', value: 'of one' },
    ]),
  );
  const programs = await askPrograms(home, { method: 'status', limitMs: LIMIT_MS });
  const versions = programs.map(({ value, endpoint }) => [value, endpoint.background]);
  expect(new Map(versions as [string, string][])).toEqual(
    new Map([
      ['of all', '1.2.3'],
      ['of one', undefined],
    ]),
  );
});

test('only the sessions of some projects are asked', async () => {
  const home = temporaryFolder();
  const asked: Each[] = [];
  await open(home, (params) => {
    asked.push(params);
    return params.projects?.map((project) => ({ project, value: 'done' }));
  });
  const isTwo = (project: string): boolean => project === '/two';
  expect(await askRunning(home, 'reload', LIMIT_MS, isTwo)).toEqual([
    { pid: process.pid, project: '/two', value: 'done' },
  ]);
  expect(await askRunning(home, 'reload', LIMIT_MS, () => false)).toEqual([]);
  expect(asked).toEqual([{ method: 'reload', projects: ['/two'] }]);
});

test('an answer that makes no sense is a problem', async () => {
  const home = temporaryFolder();
  await open(home, () => 'nonsense');
  const isOne = (project: string): boolean => project === '/one';
  expect(await askRunning(home, 'reload', LIMIT_MS, isOne)).toEqual([
    { pid: process.pid, project: '', problem: 'sent an invalid response' },
  ]);
});
