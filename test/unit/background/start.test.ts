import { expect, test } from 'vitest';
import { explainCode } from '../../../src/background/start.ts';

test.each(['EPERM', 'EACCES'])('%s on connecting means a sandbox', (code) => {
  expect(explainCode(code, { address: '/run/x.sock' })).toEqual({
    reason: `a sandbox doesn't allow connecting to /run/x.sock (${code}).`,
  });
});

test.each(['ENOENT', 'ECONNREFUSED'])('%s means that nobody listens', (code) => {
  expect(explainCode(code, { address: '/run/x.sock' })).toBe('nobody');
});

test('anything else is named', () => {
  expect(explainCode('EAGAIN', { address: '/run/x.sock' })).toEqual({
    reason: "can't connect to /run/x.sock (EAGAIN).",
  });
});
