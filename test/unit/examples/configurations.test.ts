// The configurations that people copy from examples/ are read without a complaint, and mean what
// their pages say.
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';

/** Reads an example as a project, without anything of the person who runs the tests. */
function load(example: string) {
  const home = resolve('examples', example, 'no-such-home');
  return loadConfig({ cwd: resolve('examples', example), env: { HOME: home } });
}

it('examples/playwright is one server with one suite and an allow list', async () => {
  const { children, warnings } = await load('playwright');
  expect(warnings).toEqual([]);
  expect([...children.keys()]).toEqual(['playwright']);
  expect(children.get('playwright')).toMatchObject({
    suiteName: 'browser_suite',
    command: { cmd: 'npx', args: ['-y', '@playwright/mcp@latest'] },
    expose: { allow: expect.arrayContaining(['browser_snapshot']), deny: ['*_unsafe'] },
    introspection: { summaryMaxChars: 120 },
  });
});

it('examples/filesystem-and-memory is two servers from a pasted block', async () => {
  const { children, warnings } = await load('filesystem-and-memory');
  expect(warnings).toEqual([]);
  expect([...children.values()].map(({ name, command }) => [name, command?.args.at(1)])).toEqual([
    ['filesystem', '@modelcontextprotocol/server-filesystem'],
    ['memory', '@modelcontextprotocol/server-memory'],
  ]);
});
