// An agent whose file changed between being listed and being run.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SwitchboardError } from '../../../src/base/errors.ts';
import { createAgents } from './temp-agents.ts';

const FILE = 'project/.agents/a.toml';

test.each([
  [
    'gone',
    'rm',
    'It does not exist. Restore the file, or run `switchboard reload` to refresh the list of agents.',
  ],
  ['broken', 'name = \n', 'Fix the file.'],
  ['without a name', 'description = "x"\n', ':1: Missing name. Fix the file.'],
  ['a pipe', 'mkfifo', 'Not a regular file.'],
])('a file that is now %s is an error with a hint', async (_, change, says) => {
  const { list, load, path, write, plain } = createAgents({ [FILE]: 'name = "A"\n' });
  const [agent] = (await list()).agents;
  if (!agent) throw new Error('There is no agent.');
  rmSync(path(FILE));
  if (change === 'mkfifo') execFileSync('mkfifo', [path(FILE)]);
  else if (change !== 'rm') write(FILE, change);
  const error = (await load(agent).catch((thrown: unknown) => thrown)) as SwitchboardError;
  expect(error.code).toBe('AGENT_INVALID');
  const [text] = plain([error.text]);
  expect(text).toContain('Agent "A" can\'t be loaded. project/.agents/a.toml:');
  expect(text).toContain(says);
});
