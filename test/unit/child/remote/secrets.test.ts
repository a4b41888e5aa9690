import { expect, test } from 'vitest';
import { Secrets } from '../../../../src/child/remote/server.ts';

test('recent tokens and configured secrets are masked; old tokens are dropped', () => {
  const secrets = new Secrets(['configured-value']);
  for (let count = 0; count < 1_000; count++) secrets.addHeader(`Bearer token-number-${count}`);
  expect(secrets.mask('configured-value token-number-999 token-number-998')).toBe('*** *** ***');
  expect(secrets.mask('token-number-0')).toBe('token-number-0');
});

test('two alternating tokens do not displace each other', () => {
  const secrets = new Secrets([]);
  for (let count = 0; count < 20; count++) secrets.addHeader(`Bearer token-number-${count % 2}`);
  expect(secrets.mask('token-number-0 token-number-1')).toBe('*** ***');
});
