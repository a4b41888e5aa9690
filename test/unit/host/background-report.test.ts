// What a background process reports to `switchboard status`: each process once, however many sessions use it.
import { expect, test } from 'vitest';
import { createBackgroundReport } from '../../../src/host/background-report.ts';
import { parseBackgroundReport } from '../../../src/host/parse-report.ts';
import type { Facts } from '../../../src/host/status-report.ts';

type Child = Facts['children'][number];

function child(name: string, some: Partial<Child> = {}): Child {
  return {
    name,
    show: 'suite',
    state: 'idle',
    pid: undefined,
    uptimeMs: undefined,
    calls: 0,
    tools: undefined,
    lastError: undefined,
    ...some,
  };
}

function session(number: number | undefined, client: string, ...children: Child[]) {
  const startedAt = '2026-03-14T12:03:00.000Z';
  const facts: Facts = {
    startedAt,
    project: `/work/${client}`,
    files: [],
    sessions: [{ client, revision: '2025-11-25', active: [] }],
    children,
    runs: [],
  };
  const numbers = number === undefined ? [] : [number];
  return { numbers, startedAt, entry: 100 + (number ?? 0), facts };
}

const live = (pid: number | undefined, ...users: number[]) => ({ pid, uptimeMs: 5, users });

async function serversOf(
  facts: Pick<Parameters<typeof createBackgroundReport>[0], 'sessions' | 'running'>,
) {
  const startedAt = '2026-03-14T12:00:00.000Z';
  const report = await createBackgroundReport({ startedAt, isAccepting: true, ...facts });
  return report.children.map(({ name, state, pid, sessions, calls, tools, lastError }) => {
    return { name, state, pid, sessions, calls: calls || undefined, tools, lastError };
  });
}

test('a shared process is one row, with the calls of all its sessions', async () => {
  const servers = await serversOf({
    sessions: [
      session(1, 'one', child('box', { state: 'ready', pid: 7, calls: 2, tools: 3 })),
      session(2, 'two', child('box', { state: 'active', pid: 7, calls: 5, tools: 3 })),
      session(3, 'three', child('box')),
    ],
    running: [{ name: 'box', live: live(7, 1, 2) }],
  });
  expect(servers).toEqual([
    { name: 'box', state: 'active', pid: 7, sessions: 2, calls: 7, tools: 3 },
  ]);
});

test('several processes of a server are several rows, and so is a failure beside them', async () => {
  const servers = await serversOf({
    sessions: [
      session(1, 'one', child('box', { state: 'ready', pid: 7, calls: 1 })),
      session(2, 'two', child('box', { state: 'ready', pid: 8, calls: 1 })),
      session(3, 'three', child('box', { state: 'error', lastError: 'No token.' })),
    ],
    running: [
      { name: 'box', live: live(7, 1) },
      { name: 'box', live: live(8, 2) },
    ],
  });
  expect(servers).toEqual([
    { name: 'box', state: 'ready', pid: 7, sessions: 1, calls: 1 },
    { name: 'box', state: 'ready', pid: 8, sessions: 1, calls: 1 },
    { name: 'box', state: 'error', lastError: 'No token.' },
  ]);
});

test('servers that start, wait for another session, have no pid or belong to an agent are there', async () => {
  const servers = await serversOf({
    sessions: [
      session(
        undefined,
        'one',
        child('slow'),
        child('far'),
        child('kept'),
        child('off', { state: 'off' }),
      ),
    ],
    running: [
      { name: 'slow', live: undefined },
      { name: 'far', live: live(undefined, 1) },
      { name: 'kept', live: live(9) },
      { name: 'agents-own', live: live(10, 1) },
    ],
  });
  expect(servers).toEqual([
    { name: 'slow', state: 'warming', sessions: 0 },
    { name: 'far', state: 'ready', sessions: 1 },
    { name: 'kept', state: 'ready', pid: 9, sessions: 0 },
    { name: 'off', state: 'off' },
    { name: 'agents-own', state: 'ready', pid: 10, sessions: 1 },
  ]);
});

test('the report survives the way to another process', async () => {
  const report = await createBackgroundReport({
    startedAt: '2026-03-14T12:00:00.000Z',
    isAccepting: false,
    sessions: [session(1, 'one', child('box'))],
    running: [],
  });
  const parsed = parseBackgroundReport(JSON.parse(JSON.stringify(report)));
  expect(JSON.parse(JSON.stringify(parsed))).toEqual(JSON.parse(JSON.stringify(report)));
  for (const value of [undefined, 1, {}, { sessions: [] }, { sessions: 1, children: [] }]) {
    expect(parseBackgroundReport(value)).toBeUndefined();
  }
});

test('a command is named, with its hosts if it has any', async () => {
  const report = await createBackgroundReport({
    startedAt: '2026-03-14T12:00:00.000Z',
    isAccepting: true,
    sessions: [
      session(1, 'codex'),
      { ...session(2, 'codex'), command: 'switchboard serve --http' },
      { ...withHosts(3), command: 'switchboard call' },
      withHosts(4, 'codex', 'claude-code', 'codex'),
      { ...withHosts(5, 'codex', 'claude-code', 'codex'), command: 'switchboard serve --http' },
    ],
    running: [],
  });
  expect(report.sessions.map(({ client }) => client)).toEqual([
    'codex',
    'switchboard serve --http (codex)',
    'switchboard call',
    'codex',
    'switchboard serve --http (codex, claude-code)',
  ]);
});

test('a session with several hosts counts wherever one of them is', async () => {
  const http = {
    ...session(1, 'codex', child('box', { state: 'ready', calls: 4 })),
    numbers: [1, 5],
  };
  const servers = await serversOf({
    sessions: [http, session(2, 'two', child('box', { state: 'ready', calls: 1 }))],
    running: [{ name: 'box', live: live(7, 5, 2) }],
  });
  expect(servers).toMatchObject([{ name: 'box', pid: 7, sessions: 2, calls: 5 }]);
});

function withHosts(number: number, ...clients: string[]) {
  const { facts, ...rest } = session(number, 'x');
  const sessions = clients.map((client) => ({ client, revision: undefined, active: [] }));
  return { ...rest, facts: { ...facts, sessions } };
}
