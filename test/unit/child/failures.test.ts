import { expect, test } from 'vitest';
import { explainEnd } from '../../../src/child/failures.ts';
import { childConfig } from '../../support/child-config.ts';

const CRASH = { kind: 'exited', code: 1, signal: null } as const;

test('the error about a crashed server says how to restart it', () => {
  const { hint } = explainEnd(CRASH, childConfig({ name: 'kid' }), '', 'working');
  expect(hint).toBe("It restarts the next time it's used. It printed nothing on stderr.");
});
