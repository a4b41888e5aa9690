import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');

function examplesIn(language: string): string[] {
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'));
  return [...blocks].map(([, content = '']) => content);
}

test('the examples of docs/configuration.md load as they stand', async () => {
  const [complete = ''] = examplesIn('jsonc');
  const [short = '', childFile = ''] = examplesIn('json');
  for (const content of [complete, short]) {
    const project = createProject({ 'switchboard.config.json': content });
    const { children, warnings } = await project.load();
    expect(children.has('github')).toBe(true);
    expect(warnings).toEqual([]);
  }
  const project = createProject({ 'mcps/weather/.mcp.json': childFile });
  expect((await project.load()).children.has('weather')).toBe(true);
});

test('the complete example leaves no key of the first level out', async () => {
  const [complete = ''] = examplesIn('jsonc');
  const schema: { properties: object } = JSON.parse(
    readFileSync(new URL('../../../switchboard.config.schema.json', import.meta.url), 'utf8'),
  );
  for (const key of Object.keys(schema.properties)) expect(complete).toContain(`\n  "${key}":`);
});
