// What `npm run chaos` would report: the histories here are right except for one thing each.
import { expect, test } from 'vitest';
import { findFaults, type History, type HostHistory } from '../../../scripts/chaos/history.ts';
import { planOf } from '../../../scripts/chaos/plan.ts';

const ENDED =
  'The background process of Switchboard ended before it responded. The call may or may not have run.';
const KILLED = 'Child MCP counting was killed (SIGKILL) while working on subtool "count".';

const HOST: HostHistory = {
  name: 'host 0',
  isKilled: false,
  exit: 0,
  requests: [
    { id: 0, method: 'initialize' },
    { id: 1, method: 'tools/call', number: '0-1' },
    { id: 2, method: 'tools/call', number: '0-2' },
    { id: 3, method: 'tools/call', number: '0-3' },
  ],
  responses: [{ id: 0 }, { id: 2, error: ENDED }, { id: 1, text: '0-1' }, { id: 3, error: KILLED }],
  impure: [],
};

const RIGHT: History = { hosts: [HOST], executed: ['0-1', '0-3'], left: [] };

test('a right history has no faults', () => {
  expect(findFaults(RIGHT)).toEqual([]);
});

const [hello, failed, result, last] = HOST.responses as [object, object, object, object];

test.each<[what: string, host: Partial<HostHistory>, fault: string]>([
  [
    'a missing response',
    { responses: [hello, result, last] as HostHistory['responses'] },
    'host 0: request 2 (tools/call 0-2) has 0 responses.',
  ],
  [
    'two responses',
    { responses: [hello, failed, result, last, last] as HostHistory['responses'] },
    'host 0: request 3 (tools/call 0-3) has 2 responses.',
  ],
  [
    'a response to nothing',
    { responses: [...HOST.responses, { id: 9 }] },
    'host 0 received a response to 9, which it never sent.',
  ],
  [
    "another call's result",
    { responses: [hello, failed, { id: 1, text: '0-7' }, last] as HostHistory['responses'] },
    'host 0: call 0-1 returned 0-7.',
  ],
  [
    'a result of a call that never ran',
    { responses: [hello, { id: 2, text: '0-2' }, result, last] as HostHistory['responses'] },
    'host 0: call 0-2 has a result, but was never executed.',
  ],
  [
    'another error',
    { responses: [hello, { id: 2, error: 'Oops' }, result, last] as HostHistory['responses'] },
    'host 0: request 2 (tools/call) failed: Oops',
  ],
  ['a failed entry', { exit: 1 }, 'The entry of host 0 ended with 1.'],
  ['other output', { impure: ['hi'] }, "host 0 received something that isn't a message: hi"],
])('%s is a fault', (_what, host, fault) => {
  expect(findFaults({ ...RIGHT, hosts: [{ ...HOST, ...host }] })).toEqual([fault]);
});

test('a killed entry may leave requests without a response', () => {
  const killed = { ...HOST, isKilled: true, exit: 'SIGKILL', responses: [] };
  expect(findFaults({ ...RIGHT, hosts: [killed] })).toEqual([]);
});

test.each<[what: string, history: Partial<History>, fault: string]>([
  ['a call that ran twice', { executed: ['0-1', '0-3', '0-3'] }, 'Call 0-3 was executed 2 times.'],
  [
    'a call that nobody made',
    { executed: ['0-1', '5-1'] },
    'Call 5-1 was executed, but no host has made it.',
  ],
  ['a process that is left', { left: ['node server'] }, 'A process is left: node server'],
])('%s is a fault', (_what, history, fault) => {
  expect(findFaults({ ...RIGHT, ...history })).toEqual([fault]);
});

test('a number always gives the same schedule, and others give others', () => {
  expect(planOf(815)).toEqual(planOf(815));
  const plans = Array.from({ length: 100 }, (_, index) => planOf(index + 1));
  const different = new Set(plans.map(({ seed: _seed, ...plan }) => JSON.stringify(plan)));
  expect(different.size).toBe(100);
  const deeds = new Set(plans.flatMap(({ steps }) => steps.map(({ deed }) => deed)));
  expect(deeds.size).toBe(6);
  expect(new Set(plans.flatMap(({ hosts }) => hosts)).size).toBe(3);
  expect(new Set(plans.flatMap(({ published }) => published)).size).toBe(3);
});
