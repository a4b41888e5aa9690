// With --json a command prints one document on stdout, or one error on stderr, and nothing that a terminal
// would act on.
import { expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { configWith, createProject } from '../support/project.ts';
import { testServer } from '../support/servers.ts';

const HIDDEN = 'a\u009b2J\u202e\u2066b';

function createOddProject() {
  const tools = JSON.stringify([{ name: 'odd', description: HIDDEN, inputSchema: {} }]);
  return createProject({
    ...configWith({ odd: testServer('lists', tools), toolbox: testServer('toolbox') }),
    // Otherwise the tool would be held, and nothing of it shown.
    'home/.switchboard/switchboard.config.json': { toolChanges: 'off' },
  });
}

const run = (...words: string[]) => runSwitchboard(createOddProject(), words);

test.each([
  [['tools']],
  [['tools', 'odd', 'odd']],
  [['call', 'toolbox.echo', `text=${HIDDEN}`]],
  [['show']],
  [['show', 'odd']],
  [['assistant']],
  [['doctor']],
  [['status']],
  [['stop']],
  [['restart']],
  [['logs']],
  [['reload']],
  [['agents']],
  [['audit']],
  [['audit', 'verify']],
  [['audit', 'export']],
  [['config', 'check']],
  [['config', 'print']],
  [['config', 'schema']],
  [['skill', 'install', '--dry-run', '--no-register']],
  [['import', 'switchboard.config.json', '--dry-run']],
])('%j prints a document', async (words) => {
  const { status, stdout, stderr } = await run(...words, '--json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(stdout)).toBeInstanceOf(Object);
  expect(stdout).not.toMatch(/[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/);
});

test.each([
  [['tools', `no${HIDDEN}`], 2, 'CHILD_UNKNOWN'],
  [['call', 'toolbox.nope'], 4, 'SUBTOOL_UNKNOWN'],
  [['call', 'toolbox'], 2, 'USAGE'],
  [['show', 'odd', 'sideways'], 2, 'USAGE'],
  [['assistant', 'nope', 'on'], 2, 'CHILD_UNKNOWN'],
  [['doctor', 'nope'], 2, 'CHILD_UNKNOWN'],
  [['status', 'nope'], 2, 'CHILD_UNKNOWN'],
  [['status', '--watch'], 2, 'USAGE'],
  [['stop', 'nope'], 2, 'CHILD_UNKNOWN'],
  [['logs', 'nope'], 2, 'CHILD_UNKNOWN'],
  [['logs', '--follow'], 2, 'USAGE'],
  [['logs', '--lines', 'x'], 2, 'USAGE'],
  [['agents', 'nope'], 5, 'AGENT_UNKNOWN'],
  [['run', 'nope', 'x'], 5, 'AGENT_UNKNOWN'],
  [['audit', 'verfy'], 2, 'USAGE'],
  [['audit', '--since', 'never'], 2, 'USAGE'],
  [['login', 'odd'], 2, 'CHILD_NOT_CONFIGURED'],
  [['import', 'nope.json'], 2, 'USAGE'],
  [['nope'], 2, 'USAGE'],
  [['--nope'], 2, 'USAGE'],
])('%j prints an error and exits with %i', async (words, status, code) => {
  const outcome = await run(...words, '--json');
  expect({ status: outcome.status, stdout: outcome.stdout }).toEqual({ status, stdout: '' });
  expect(JSON.parse(outcome.stderr)).toMatchObject({
    error: { code, message: expect.any(String) },
  });
  expect(outcome.stderr).not.toMatch(/[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/);
});

test('--json after -- belongs to the task', async () => {
  const { status, stderr } = await run('run', 'nope', '--', '--json');
  expect({ status, stderr }).toMatchObject({
    status: 5,
    stderr: expect.stringMatching(/^switchboard: /),
  });
});
