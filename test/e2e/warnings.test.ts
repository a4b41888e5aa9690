// Commands name what is wrong in the configuration before they say that a server isn't there.
import { describe, expect, test } from 'vitest';
import { type Outcome, runSwitchboard } from '../support/command.ts';
import { createProject } from '../support/project.ts';

const FILES = {
  'mcps/text/.mcp.json': 'not JSON',
  'mcps/nameless/.mcp.json': { description: 'no name' },
};

async function runWithBrokenFiles(args: readonly string[]): Promise<Outcome> {
  const project = createProject(FILES);
  const outcome = await runSwitchboard(project, args);
  return { ...outcome, stderr: outcome.stderr.replaceAll(project.dir, '<project>') };
}

const WARNINGS = `warning: <project>/mcps/nameless/.mcp.json:1:1: name: expected a string, got nothing. The file is ignored.
warning: <project>/mcps/text/.mcp.json:1:1: Invalid JSON: invalid value; strings and keys need double quotes. The file is ignored.
`;

describe('broken child files are reported by', () => {
  test.each([
    [['--dry-run']],
    [['tools']],
    [['tools', '--json']],
    [['show']],
    [['show', '--json']],
    [['status']],
    [['status', '--json']],
    [['assistant']],
  ])('%j', async (args) => {
    expect(await runWithBrokenFiles(args)).toMatchObject({ status: 0, stderr: WARNINGS });
  });

  test.each([
    [['--dry-run', 'text']],
    [['tools', 'text']],
    [['show', 'text']],
    [['show', 'text', 'flip']],
    [['status', 'text']],
    [['call', 'text', 'echo']],
    [['login', 'text']],
    [['assistant', 'text', 'on']],
  ])('%j, which needs one of them', async (args) => {
    const { status, stderr } = await runWithBrokenFiles(args);
    expect(status).toBe(2);
    expect(stderr.startsWith(WARNINGS)).toBe(true);
    expect(stderr).toContain('No server is named "text".');
  });
});

test('doctor, config check and agents include them in their own output, once', async () => {
  for (const args of [['doctor'], ['config', 'check'], ['agents']]) {
    const { stdout, stderr } = await runWithBrokenFiles(args);
    expect(stderr).toBe('');
    expect(stdout.split('mcps/text/.mcp.json:1:1: Invalid JSON')).toHaveLength(2);
  }
});
