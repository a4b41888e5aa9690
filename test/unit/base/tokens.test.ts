import { describe, expect, test } from 'vitest';
import { maskTokens, tokenKinds } from '../../../src/base/tokens.ts';
import { GITHUB_TOKEN, TOKENS } from '../../support/tokens.ts';

describe.each(TOKENS)('a %s', (kind, token) => {
  test.each([
    ['alone', '', ''],
    ['in a sentence', 'Your token is ', '.'],
    ['in a URL', 'https://x:', '@example.com/'],
    ['in an assignment', 'TOKEN=', '\nnext'],
    ['after a line break in JSON', String.raw`{"text":"one\n`, String.raw`\ntwo"}`],
  ])('is masked %s', (_where, before, after) => {
    expect(maskTokens(before + token + after)).toBe(`${before}***${after}`);
    expect([...tokenKinds(before + token + after)]).toEqual([kind]);
  });
});

test.each([
  'c2d9f4b1e8a7360594bd1f2e3c4a5b6978d0e1f23a4b5c6d7e8f90a1b2c3d4e5', // a container ID
  '0b7e2c1a-9f43-4d57-8f63-0a3f5b7c9d1e',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'task-risk-disk-desk-sk-short',
  'npm_config_registry=https://registry.npmjs.org/',
  'the AKIA prefix, ghp_ and sk-ant- are explained in the docs',
  'AKIAshipped',
  `x${GITHUB_TOKEN}`,
  `${GITHUB_TOKEN.slice(0, 20)}…`,
  'eyJhbGciOiJIUzI1NiJ9',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
])('%s is left alone', (text) => {
  expect(maskTokens(text)).toBe(text);
  expect(tokenKinds(text).size).toBe(0);
});

test('an incomplete private key is masked', () => {
  const [, key = ''] = TOKENS.at(-1) ?? [];
  const half = key.slice(0, 80);
  expect(maskTokens(`"${half}", "more"`)).toBe('"***", "more"');
});

test('text that keeps almost matching takes linear time', () => {
  const traps = [
    'eyJ',
    'ghp_',
    'sk-ant-',
    'ops_eyJ',
    'ya29.',
    '-----BEGIN PRIVATE KEY-----',
    'glpat-',
  ];
  const timeFor = (text: string): number => {
    const begin = performance.now();
    maskTokens(text);
    return performance.now() - begin;
  };
  for (const trap of traps) {
    const text = trap.repeat(200_000 / trap.length);
    timeFor(text);
    // Quadratic work would take minutes.
    expect(timeFor(text)).toBeLessThan(5_000);
  }
});
