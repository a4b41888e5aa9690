// Servers whose folder was laid out for an assistant, and files that are no files.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Expose } from '../../../src/config/config.ts';
import { isExposed } from '../../../src/config/server/expose.ts';
import { wrapperFile, wrapperScript } from '../../../src/install/assistant-texts.ts';
import { createProject, type Project } from './temp-project.ts';

const FOLDER = '.switchboard/mcps/kid';
const OWN = { name: 'kid', command: { cmd: 'server', env: { TOKEN: 'abc' } } };

function layOut(own: typeof OWN & object = OWN, main: object = {}): Project {
  return createProject({
    'switchboard.config.json': main,
    [`${FOLDER}/.mcp.json`]: wrapperFile(own),
    [`${FOLDER}/original/.mcp.json`]: own,
    [`${FOLDER}/kid-claude-wrapper.mjs`]: wrapperScript('kid', 'file:///x/assistant.js', undefined),
  });
}

test('the server behind the wrapper is declared by its own file', async () => {
  const project = layOut({ ...OWN, assistant: { model: 'm' } } as typeof OWN);
  project.write(`${FOLDER}/CLAUDE.md`, '\uFEFFYou are a librarian.\n');
  const kid = (await project.load()).children.get('kid');
  expect(kid?.command?.cmd).toBe('node');
  expect(kid?.behind).toMatchObject({
    command: { cmd: 'server', env: { TOKEN: 'abc' } },
    cwd: join(project.folder, FOLDER),
    assistant: { model: 'm', role: 'You are a librarian.' },
  });
});

test('rules from all places apply', async () => {
  const own = { ...OWN, expose: { allow: ['a_*', 'b_*'], deny: ['a_secret'] } };
  const suites = { kid: { expose: { allow: ['a_*', 'c_*'], deny: ['a_other'] } } };
  const kid = (await layOut(own, { suites }).load()).children.get('kid');
  const expose = kid?.behind?.expose as Expose;
  const names = ['a_one', 'a_secret', 'a_other', 'b_one', 'c_one'];
  expect(names.filter((name) => isExposed(name, expose))).toEqual(['a_one']);
});

test.each([
  ['a wrapper that somebody has changed', `${FOLDER}/kid-claude-wrapper.mjs`, '// mine\n'],
  ['an original that is no server', `${FOLDER}/original/.mcp.json`, '[]'],
])('%s is not recognized as ours', async (_, file, text) => {
  const project = layOut();
  project.write(file, text);
  const kid = (await project.load()).children.get('kid');
  expect(kid).toMatchObject({ behind: undefined, command: { cmd: 'node' } });
});

test('a requested folder takes precedence over others with its name', async () => {
  const project = layOut(OWN, { mcpServers: { kid: { command: 'another' } } });
  const assistantFolder = join(project.folder, FOLDER);
  const kid = (await project.load({ assistantFolder })).children.get('kid');
  expect(kid?.behind?.command?.cmd).toBe('server');
});

test('the project’s CLAUDE.md is not a server’s role', async () => {
  const project = createProject({
    'switchboard.config.json': {
      discoverGlobs: ['.mcp.json'],
      suites: { kid: { assistant: true } },
    },
    '.mcp.json': OWN,
    'CLAUDE.md': 'Run npm test.',
  });
  expect((await project.load()).children.get('kid')?.assistant).toEqual({});
});

const FILES = [
  `${FOLDER}/CLAUDE.md`,
  `${FOLDER}/.mcp.json`,
  'mcp-descriptions.json',
  '../home/.switchboard/config.toml',
];

/** What stands where a file should, and cannot be read to its end. */
const STRANGE = {
  'a pipe': (path: string) => void execFileSync('mkfifo', [path]),
  'a device': (path: string) => symlinkSync('/dev/zero', path),
};

for (const [kind, make] of Object.entries(STRANGE)) {
  test.each(FILES)(`${kind} in the place of %s does not block`, async (file) => {
    const project = layOut();
    const path = join(project.folder, file);
    mkdirSync(join(path, '..'), { recursive: true });
    execFileSync('rm', ['-f', path]);
    make(path);
    const { warnings } = await project.load();
    expect(warnings.map(project.plain)).toContainEqual(
      expect.stringContaining('Not a regular file.'),
    );
  });

  test.each(['json', 'mjs'])(
    `${kind} in the place of the main file is an error: %s`,
    async (end) => {
      const project = createProject();
      make(join(project.folder, `switchboard.config.${end}`));
      expect(await project.loadError()).toMatch(/not a regular file/i);
    },
  );
}

test('an oversized file is not read', async () => {
  const project = createProject({ 'switchboard.config.json': '' });
  truncateSync(join(project.folder, 'switchboard.config.json'), 1 << 30);
  expect(await project.loadError()).toContain('the limit is 16 MiB');
});

test('very many invalid entries are reported in part', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`server-${at}`, at]));
  const project = createProject({ 'mcp-descriptions.json': { mcps: { ...wrong, kid: 'good' } } });
  const { warnings } = await project.load();
  expect(warnings).toHaveLength(21);
  expect(project.plain(warnings.at(-1) ?? '')).toBe(
    '<project>/mcp-descriptions.json: 19980 more invalid entries (ignored).',
  );
});
