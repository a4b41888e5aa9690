import { expect, test } from 'vitest';
import { explainEnd } from '../../../src/child/failures.ts';
import { childConfig } from '../../support/child-config.ts';

const CRASH = { kind: 'exited', code: 1, signal: null } as const;

test.each([
  ['suite', 'The next use starts it again.'],
  ['direct', 'The next use starts it again.'],
  ['flip', 'Turn it on or call it through its suite to start it again.'],
] as const)('the error about a crashed %s server says: %s', (show, sentence) => {
  const { hint } = explainEnd(CRASH, childConfig({ name: 'kid', show }), '', 'working');
  expect(hint).toBe(`${sentence} It printed nothing on stderr.`);
});
