// What the conformance run says, and what it takes for passed.
import { expect, it } from 'vitest';
import type { Row } from '../../../conformance/suite.ts';
import { formatTable, isPassed } from '../../../conformance/table.ts';

const GOOD: Row = { name: 'ping', passed: 2, failures: [], warnings: [] };
const BAD: Row = {
  name: 'tools-list',
  passed: 1,
  failures: ['names: one is too long'],
  warnings: [],
};
const ADVISED: Row = { name: 'caching', passed: 1, failures: [], warnings: ['ttl: is missing'] };
const OPTIONAL: Row = {
  name: 'tasks',
  notScored: 'extension',
  passed: 0,
  failures: ['no'],
  warnings: [],
};

it('a scenario passes if a check passed and none failed', () => {
  const nothingWasChecked: Row = { ...GOOD, passed: 0 };
  expect([GOOD, ADVISED, BAD, nothingWasChecked].map(isPassed)).toEqual([true, true, false, false]);
});

it('shows each scenario’s result, why a scored one failed, and warnings', () => {
  const part = { name: 'conformance', rows: [GOOD, BAD, ADVISED, OPTIONAL], ms: 1_234 };
  expect(formatTable(part)).toMatchInlineSnapshot(`
    "conformance: 2 of 3 passed, 1.2 s
      ✓ ping        2 passed
      ✗ tools-list  1 passed, 1 failed
          names: one is too long
      ✓ caching     1 passed, 1 advised otherwise
          ttl: is missing
      · tasks       0 passed, 1 failed, not scored: extension
    "
  `);
});
