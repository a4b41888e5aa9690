// The sample agents are well-formed, and the page about them names each of them.
import { readFileSync } from 'node:fs';
import { parse as parseToml } from 'smol-toml';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';

const FOLDER = 'examples/agents';
const read = (file: string) => readFileSync(`${FOLDER}/${file}`, 'utf8');
const page = read('README.md');

const files = globSync(['.agents/*.toml', '**/*.agent.md', '**/*.chatmode.md'], {
  cwd: FOLDER,
  dot: true,
}).sort();

test('there is one of each kind, and the page names all of them', () => {
  const listed = [...page.matchAll(/^\| `(\S+)` \| `(\w+)` \|$/gm)].map(([, file]) => file);
  expect(new Set(listed)).toEqual(new Set(files));
  expect(files.map((file) => file.replace(/.*?(\.\w+(\.md)?)$/, '$1'))).toEqual([
    '.toml',
    '.toml',
    '.agent.md',
    '.chatmode.md',
  ]);
});

test.each(files)('%s says what it is good for', (file) => {
  const text = read(file);
  const [, front = ''] = /^---\n(.*?)^---\n\S/ms.exec(text) ?? [];
  const keys: unknown = file.endsWith('.toml') ? parseToml(text) : parseYaml(front);
  expect(keys).toMatchObject({ description: expect.stringMatching(/\w{3}/) });
});
