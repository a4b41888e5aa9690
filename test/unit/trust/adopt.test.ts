// Servers that were in use before there were approvals keep working, unless they carry values that someone else chose.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChildConfig } from '../../../src/config/config.ts';
import { Catalog } from '../../../src/pool/catalog.ts';
import { wasUsedBefore } from '../../../src/trust/approvals/adopt.ts';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

const ASSISTANT = {} as ChildConfig['assistant'];

/** A server that was used and listed its tools. */
async function used(more: Partial<ChildConfig> = {}, env: Record<string, string> = {}) {
  const home = temporaryFolder();
  const command = { cmd: 'node', args: ['server.mjs'], env };
  const child = childConfig({ name: 'one', command, ...more });
  const catalog = new Catalog(join(home, 'cache/catalog'), () => {});
  catalog.rememberList(child, 'tools', [{ name: 'echo' }]);
  await catalog.written();
  return { home, child };
}

const LATER = '2999-01-01T00:00:00.000Z';

test.each([
  ['no variables', {}],
  ['a reference', { TOKEN: '${GITHUB_TOKEN}', OTHER: '${env:OTHER}' }],
])('a local server with %s is adopted', async (_what, env) => {
  const { home, child } = await used({}, env);
  expect(wasUsedBefore(child, home, undefined)).toBe(true);
  expect(wasUsedBefore(child, home, LATER)).toBe(true);
});

test.each([
  ['a literal value', { TOKEN: 'abc' }],
  ['an empty value', { TOKEN: '' }],
  ['a default value', { TOKEN: '${TOKEN:-abc}' }],
  ['a value around a reference', { TOKEN: 'x${TOKEN}' }],
  ['a secret', { TOKEN: '${secret:github}' }],
])('one with %s is not', async (_what, env) => {
  const { home, child } = await used({}, env);
  expect(wasUsedBefore(child, home, undefined)).toBe(false);
});

test('one that was used only after approvals existed, never, or with another command is not', async () => {
  const { home, child } = await used();
  expect(wasUsedBefore(child, home, '2001-01-01T00:00:00.000Z')).toBe(false);
  expect(wasUsedBefore(child, temporaryFolder(), undefined)).toBe(false);
  const other = { ...child, command: { cmd: 'node', args: ['other.mjs'], env: {} } };
  expect(wasUsedBefore(other, home, undefined)).toBe(false);
  const elsewhere = { ...child, origin: '/elsewhere/switchboard.config.json' };
  expect(wasUsedBefore(elsewhere, home, undefined)).toBe(false);
});

test.each([
  [
    'a remote server',
    { command: undefined, remote: { url: 'https://example.com/mcp', headers: {} } },
  ],
  [
    'one with a variable in its address',
    { command: undefined, remote: { url: '${URL}', headers: {} } },
  ],
  ['one with an assistant', { assistant: ASSISTANT }],
])('%s is not adopted', async (_what, more) => {
  const { home, child } = await used(more as unknown as Partial<ChildConfig>);
  expect(wasUsedBefore(child, home, undefined)).toBe(false);
});
