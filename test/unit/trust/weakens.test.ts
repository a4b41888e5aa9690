// What a project's settings would loosen is said in words.
import { expect, test } from 'vitest';
import type { JudgedSubject, Subject } from '../../../src/config/judge.ts';
import { describeSubject } from '../../../src/trust/approvals/describe.ts';

function lines(kind: Subject['kind'], content: object): string[] {
  const subject: Subject = {
    kind,
    name: 'switchboard.config.json',
    file: '/app/switchboard.config.json',
    origin: 'foreign',
    content: () => content,
  };
  const judged: JudgedSubject = {
    subject,
    content,
    hash: 'sha256-1-a',
    verdict: 'pending',
    isLimited: false,
  };
  return describeSubject(judged).filter((line) => line.startsWith('weakens'));
}

test.each([
  [{ environment: 'inherit' }, 'weakens: servers get your whole environment'],
  [{ toolChanges: 'off' }, 'weakens: changed tools are neither checked nor held'],
  [
    { permissions: { allow: ['github', 'files__\u200bread'] } },
    'weakens: calls are allowed without asking: ["github","files__<U+200B>read"]',
  ],
  [
    { permissions: { default: 'allow', deny: ['x'] } },
    'weakens: calls are allowed unless a rule says otherwise',
  ],
  [{ suites: { mine: { sandbox: false } } }, 'weakens server "mine": no sandbox'],
  [{ suites: { mine: { sandboxEnabled: false } } }, 'weakens server "mine": no sandbox'],
  [
    { suites: { mine: { environment: 'inherit' } } },
    'weakens server "mine": servers get your whole environment',
  ],
  [
    { suites: { mine: { readOnly: false } } },
    'weakens server "mine": tools that are not read-only can be called',
  ],
  [
    { suites: { mine: { expose: { allow: ['delete_*'] } } } },
    'weakens server "mine": exposes the tools ["delete_*"]',
  ],
  [
    { suites: { mine: { results: { secrets: 'pass' } } } },
    'weakens server "mine": secrets in results are not masked',
  ],
  [{ suites: { mine: { start: 'eager' } } }, 'weakens server "mine": starts before its first use'],
])('settings %j', (settings, line) => {
  expect(lines('settings', settings)).toEqual([line]);
});

test('a server that starts by itself and changes unseen', () => {
  const command = { program: 'npx', args: [], env: {} };
  expect(lines('server', { command, start: 'eager', toolChanges: 'off' })).toEqual([
    'weakens: changed tools are neither checked nor held',
    'weakens: starts before its first use',
  ]);
});

test.each([
  { environment: 'minimal' },
  { toolChanges: 'hold' },
  { permissions: { deny: ['github'], ask: ['files'] } },
  { suites: { mine: { sandbox: true, readOnly: true, expose: { deny: ['x'] }, show: 'off' } } },
])('nothing is said about %j', (settings) => {
  expect(lines('settings', settings)).toEqual([]);
});
