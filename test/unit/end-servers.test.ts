// Servers that the user stops or restarts while sessions share them.
import { expect, test } from 'vitest';
import { endServers } from '../../src/pool/end-servers.ts';
import { isReaped } from '../support/processes.ts';
import { testServer } from '../support/servers.ts';
import {
  countProcesses,
  createUser,
  SharedSession,
  shareProcesses,
} from '../support/shared-sessions.ts';

const BOX = testServer('toolbox');
const STOP = { name: 'box', force: false, again: false };

async function twoSessions(more: object = {}) {
  const user = createUser({ box: BOX, other: BOX }, more);
  const processes = shareProcesses();
  const sessions = [
    await SharedSession.open(user, processes),
    await SharedSession.open(user, processes),
  ] as const;
  const { pid } = await sessions[0].whereIs('box');
  await sessions[1].whereIs('box');
  return { processes, sessions, pid };
}

test('a stopped server ends in all sessions and starts again with its next use', async () => {
  const { processes, sessions, pid } = await twoSessions();
  const [one, other] = sessions;
  const { pid: kept } = await one.whereIs('other');
  expect(await endServers(processes, STOP)).toEqual({ ended: [{ pid, sessions: 2 }], busy: [] });
  expect(isReaped(pid)).toBe(true);
  expect(countProcesses(processes)).toBe(1);
  const states = one.project.switchboard.facts.children.map(({ state, lastError }) => [
    state,
    lastError,
  ]);
  expect(states).toEqual([
    ['idle', undefined],
    ['ready', undefined],
  ]);
  expect(one.logged).toEqual(['The user has stopped server "box".']);

  const next = await one.whereIs('box');
  expect(next.pid).not.toBe(pid);
  expect((await other.whereIs('box')).pid).toBe(next.pid);
  expect((await one.whereIs('other')).pid).toBe(kept);
  expect(await endServers(processes, { ...STOP, name: 'none' })).toEqual({ ended: [], busy: [] });
});

test('a server that starts eagerly stays stopped', async () => {
  const { processes, pid } = await twoSessions({ suites: { box: { start: 'eager' } } });
  await endServers(processes, STOP);
  expect([isReaped(pid), countProcesses(processes)]).toEqual([true, 0]);
});

test('stopping it often does not count as crashing', async () => {
  const { processes, sessions } = await twoSessions();
  for (let times = 0; times < 7; times++) {
    await sessions[0].whereIs('box');
    await endServers(processes, STOP);
  }
  expect((await sessions[0].whereIs('box')).pid).toBeGreaterThan(0);
});

test('a restarted server is started again by the sessions that used it', async () => {
  const { processes, pid } = await twoSessions();
  await endServers(processes, { ...STOP, again: true });
  await expect
    .poll(() => [...processes.running('box')].map(({ live }) => live?.sessions))
    .toEqual([2]);
  const [server] = processes.running('box');
  expect(server?.live?.pid).not.toBe(pid);
});

test('calls in flight keep it from being stopped, unless it is forced to', async () => {
  const { processes, sessions, pid } = await twoSessions();
  const [one, other] = sessions;
  const slow = one.call('box', 'wait', { ms: 600_000 });
  await expect
    .poll(() => processes.running('box').flatMap(({ busyUsers }) => busyUsers))
    .toEqual([one.project.switchboard.sessionNumber]);
  const refused = await endServers(processes, STOP);
  expect(refused).toEqual({ ended: [], busy: [one.project.switchboard.sessionNumber] });
  expect(isReaped(pid)).toBe(false);
  expect((await other.whereIs('box')).pid).toBe(pid);

  expect((await endServers(processes, { ...STOP, force: true })).ended).toHaveLength(1);
  expect(await slow).toContain('exited');
  expect((await other.whereIs('box')).pid).not.toBe(pid);
});
