import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');

/** The first example below a heading. */
function exampleBelow(heading: string): string {
  const section = page.slice(page.indexOf(`\n${heading}\n`));
  const example = /^```jsonc?\n(.*?)^```/ms.exec(section)?.[1];
  if (!page.includes(`\n${heading}\n`) || example === undefined) throw new Error(heading);
  return example;
}

const COMPLETE = exampleBelow('## Full example');

async function load(files: Record<string, string | object>) {
  const { children, warnings, files: read } = await createProject(files).load();
  expect(warnings).toEqual([]);
  return { names: [...children.keys()], children, read };
}

test('the examples in docs/configuration.md load unchanged', async () => {
  const [, first = ''] = /^```json\n(.*?)^```/ms.exec(page) ?? [];
  expect((await load({ 'switchboard.config.json': first })).names).toEqual(['github']);

  const complete = { 'switchboard.config.json': COMPLETE, 'config/servers.json': { more: {} } };
  const { names } = await load(complete);
  expect(names).toEqual(['github', 'notes', 'linear', 'more']);

  const own = await load({ 'mcps/weather/.mcp.json': exampleBelow('## Child files') });
  expect(own.names).toEqual(['weather']);

  const shown = await load({
    'switchboard.config.json': exampleBelow('## Choose how a server is shown'),
    'mcps/memory/.mcp.json': { name: 'memory' },
  });
  expect(shown.children.get('memory')?.show).toBe('flip');

  const listed = await load({ '.switchboard/servers.json': exampleBelow('## servers.json') });
  expect([...listed.children.values()].map(({ show }) => show)).toEqual(['flip', 'suite']);

  const described = await load({
    'switchboard.config.json': { mcpServers: { memory: {}, time: {} } },
    'mcp-descriptions.json': exampleBelow('## mcp-descriptions.json'),
  });
  expect([...described.children.values()]).toMatchObject([
    { notedDescription: expect.any(String), role: expect.any(String) },
    { notedDescription: expect.any(String), role: undefined },
  ]);

  const network = exampleBelow('## Add a remote server');
  const { children } = await load({ 'switchboard.config.json': network });
  const types = [...children.values()].map(({ remote }) => remote?.type);
  expect(types).toEqual(['http', 'http', 'ws']);
});

test('the examples have every top-level key', async () => {
  const schema: { properties: object } = JSON.parse(
    readFileSync(new URL('../../../switchboard.config.schema.json', import.meta.url), 'utf8'),
  );
  const examples = COMPLETE + exampleBelow('## Settings for your own file');
  for (const key of Object.keys(schema.properties)) expect(examples).toContain(`\n  "${key}":`);
});
