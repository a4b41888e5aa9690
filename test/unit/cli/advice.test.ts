import { expect, test } from 'vitest';
import { adviceOnTools } from '../../../src/cli/doctor/advice.ts';
import { adviceOnApart } from '../../../src/cli/doctor/apart.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import { childConfig } from '../../support/child-config.ts';

const READS = { name: 'read', annotations: { readOnlyHint: true } };
const WRITES = { name: 'write' };

const advise = (tools: { name: string }[], some: Partial<ChildConfig> = {}) =>
  adviceOnTools(childConfig({ name: 'files', ...some }), tools, { refusedTools: [] });

test('readOnlyTool is suggested for a server that reads and writes', () => {
  expect(advise([READS, WRITES])).toEqual([
    '1 of its 2 tools are read-only. Set suites.files.readOnlyTool to true to add a tool for them that hosts can run without asking.',
  ]);
});

test.each([
  ['all read', [READS], {}],
  ['none reads', [WRITES], {}],
  ['it has one', [READS, WRITES], { readOnlyTool: true }],
  ['its tools are listed', [READS, WRITES], { show: 'direct' }],
] as const)('readOnlyTool is not suggested if %s', (_, tools, some) => {
  expect(advise([...tools], some)).toEqual([]);
});

test('tools with hidden characters are named', () => {
  const refusedTools = [{ name: 'a\u200bb', where: 'name' }] as const;
  expect(adviceOnTools(childConfig({ name: 'kid' }), [], { refusedTools })).toEqual([
    'Not listed because of hidden characters: a\\u200bb (name).',
  ]);
});

test('variables that keep sessions apart are named, with both ways to share', () => {
  expect(adviceOnApart('kid')).toEqual([]);
  expect(adviceOnApart('kid', ['AWS_PROFILE'])).toEqual([
    'Some sessions have their own process, because AWS_PROFILE has another value there. To share one process, set suites.kid.environment to "login" (the variables of your login shell) or to "minimal" (none of these; add those it needs to passEnv).',
  ]);
  const many = ['A', 'B', 'C', 'D', 'E', 'F', 'G'];
  expect(adviceOnApart('kid', many)[0]).toContain(
    'because A, B, C, D, E and 2 more have other values',
  );
});
