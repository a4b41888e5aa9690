// The quick start of the README, run word for word: its shell blocks in one shell, with an empty
// HOME. npm does nothing here (the tests have built already), npx runs the servers that are
// installed as dev dependencies, and `claude` writes down what it was asked.
import { chmodSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { createProject, ROOT } from '../support/project.ts';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const quickStart = readme.slice(
  readme.indexOf('## Quick start'),
  readme.indexOf('## How it works'),
);
const blocks = [...quickStart.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '');

test('the quick start leads from a clone to a host entry', async () => {
  const project = createProject({
    'bin/npm': '#!/bin/sh\n',
    'bin/npx': `#!/bin/sh\nshift\nname=$(basename "$1")\nshift\nexec node "${ROOT}/node_modules/.bin/mcp-$name" "$@"\n`,
    'bin/claude': '#!/bin/sh\necho "claude $*"\n',
    'home/.keep': '',
  });
  for (const program of ['npm', 'npx', 'claude'])
    chmodSync(join(project.dir, 'bin', program), 0o755);

  const path = `${join(project.dir, 'bin')}${delimiter}${project.env['PATH']}`;
  const {
    status,
    stdout: printed,
    stderr,
  } = await runCommand('bash', ['-e', '-c', blocks.join('\n')], {
    cwd: ROOT,
    env: { ...project.env, PATH: path },
  });

  expect(status, stderr).toBe(0);
  expect(blocks).toHaveLength(3);
  expect(printed).toContain('✓ memory');
  expect(printed).toContain('✓ files');
  expect(printed).toContain('Working servers: 2 of 2.');
  expect(printed).toContain(
    `claude mcp add --scope user switchboard -- node ${join(ROOT, 'dist/index.js')}`,
  );
});

test('the first screen shows the two commands for newcomers', () => {
  const firstScreen = readme.split('\n').slice(0, 25).join('\n');
  expect(firstScreen).toContain('npm ci && npm run demo');
  expect(firstScreen).toContain('npm ci && npm test');
});
