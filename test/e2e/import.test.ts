// `switchboard import`: servers of another program's file, added to servers.json without changing what
// is there.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RunOptions, runSwitchboard } from '../support/command.ts';
import { createProject, PROGRAM, type Project } from '../support/project.ts';
import { testServer } from '../support/servers.ts';

const SERVERS = 'home/.switchboard/servers.json';
const MCPFLIP = 'home/.claude/mcpflip/servers.json';
const CHROME = { command: 'npx', args: ['-y', 'chrome-devtools-mcp'] };
const GITHUB = { command: 'npx', args: ['-y', 'server-github'], env: { TOKEN: 'canary-4711' } };

async function runImport(project: Project, args: readonly string[] = [], options?: RunOptions) {
  const outcome = await runSwitchboard(project, ['import', ...args], options);
  const steady = (text: string) =>
    text
      .replaceAll(project.dir, '<project>')
      .replaceAll(/[0-9a-f]{8}\.\d{4}-\d\d-\d\dT[\d-]+Z/g, '<stamp>');
  return { ...outcome, stdout: steady(outcome.stdout), stderr: steady(outcome.stderr) };
}

/** Each alias with what became of it. */
async function statesOf(project: Project, args: readonly string[], options?: RunOptions) {
  const { stdout } = await runImport(project, [...args, '--json'], options);
  const { servers } = JSON.parse(stdout) as { servers: { alias: string; state: string }[] };
  return Object.fromEntries(servers.map(({ alias, state }) => [alias, state]));
}

const read = (project: Project, path: string) => readFileSync(join(project.dir, path), 'utf8');
const readServers = (project: Project) => JSON.parse(read(project, SERVERS)) as unknown;

test('one command imports an mcpflip installation and leaves it unchanged', async () => {
  const project = createProject({ [MCPFLIP]: { chrome: CHROME, github: GITHUB } });
  const source = read(project, MCPFLIP);

  const { status, stdout, stderr } = await runImport(project);

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "From <project>/home/.claude/mcpflip/servers.json:
      chrome  added
      github  added
    wrote <project>/home/.switchboard/servers.json
    Imported 2 of 2 servers.

    Next:
      switchboard skill install          if Claude Code doesn't have Switchboard yet
      switchboard reload                 if Switchboard is running
      switchboard show                   to check how hosts see each server
      claude mcp remove mcpflip -s user  so no server runs twice
    "
  `);
  expect(readServers(project)).toEqual({ chrome: CHROME, github: GITHUB });
  expect(read(project, MCPFLIP)).toBe(source);
  expect(statSync(join(project.dir, SERVERS)).mode & 0o777).toBe(0o600);
});

test('a second import finds everything present', async () => {
  const project = createProject({ [MCPFLIP]: { chrome: CHROME } });
  await runImport(project);
  const before = read(project, SERVERS);
  const { status, stdout } = await runImport(project);
  expect(status).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "From <project>/home/.claude/mcpflip/servers.json:
      chrome  already present
    Imported 0 of 1 server.
    "
  `);
  expect(read(project, SERVERS)).toBe(before);
});

test("a host's own file works, without gateways and unusable entries", async () => {
  const project = createProject({
    'home/.claude.json': {
      numStartups: 3,
      mcpServers: {
        github: GITHUB,
        remote: { type: 'http', url: 'https://mcp.example.com/mcp' },
        files: { command: 'npx', args: ['server-filesystem', '/home/me/switchboard'] },
        switchboard: { command: process.execPath, args: [realpathSync(PROGRAM)] },
        board: { command: 'npx', args: ['-y', 'switchboard@latest'] },
        mcpflip: { command: 'node', args: ['/home/me/.claude/mcpflip/gateway.js'] },
        empty: {},
        odd: { command: 'x', args: 'not a list' },
        odder: { command: 'x', env: { A: null } },
        text: 'what is this',
      },
    },
  });
  expect(await statesOf(project, ['home/.claude.json'])).toEqual({
    github: 'added',
    remote: 'added',
    files: 'added',
    switchboard: 'gateway',
    board: 'gateway',
    mcpflip: 'gateway',
    empty: 'unusable',
    odd: 'unusable',
    odder: 'unusable',
    text: 'unusable',
  });
  expect(Object.keys(readServers(project) as object)).toEqual(['github', 'remote', 'files']);
});

test.each([
  ['VS Code', { servers: { chrome: { type: 'stdio', ...CHROME } }, inputs: [] }],
  ['Zed', { theme: 'One Dark', context_servers: { chrome: CHROME } }],
])('the file of %s works with its own key', async (_host, content) => {
  const project = createProject({ 'host.json': content });
  expect(await statesOf(project, ['host.json'])).toEqual({ chrome: 'added' });
  expect(readServers(project)).toMatchObject({ chrome: CHROME });
});

test('a server may have the same name as such a key', async () => {
  const project = createProject({ 'host.json': { servers: CHROME, context_servers: GITHUB } });
  expect(await statesOf(project, ['host.json'])).toEqual({
    servers: 'added',
    context_servers: 'added',
  });
});

test('a TOML file is refused with a hint', async () => {
  const project = createProject({ 'config.toml': '[mcp_servers.chrome]\ncommand = "npx"\n' });
  const { status, stderr } = await runImport(project, ['config.toml']);
  expect(status).toBe(2);
  expect(stderr).toContain('TOML files are not supported');
  expect(existsSync(join(project.dir, SERVERS))).toBe(false);
});

test('a taken alias is reported and not overwritten', async () => {
  const ours = `// my servers
{
  "github": { "command": "gh-mcp" }, // the one I wrote
  "chrome": ${JSON.stringify(CHROME)} // as it came
  /* the end */
}
`;
  const memory = { command: 'npx', args: ['server-memory'] };
  const project = createProject({
    [SERVERS]: ours,
    [MCPFLIP]: { chrome: CHROME, github: GITHUB, memory },
  });

  const { status, stdout } = await runImport(project);

  expect(status).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "From <project>/home/.claude/mcpflip/servers.json:
      chrome  already present
      github  skipped: another server has this alias (--force replaces it)
      memory  added
    backed up <project>/home/.switchboard/servers.json to <project>/home/.switchboard/backups/servers.json.<stamp>
    wrote <project>/home/.switchboard/servers.json
    Imported 1 of 3 servers.

    Next:
      switchboard skill install          if Claude Code doesn't have Switchboard yet
      switchboard reload                 if Switchboard is running
      switchboard show                   to check how hosts see each server
      claude mcp remove mcpflip -s user  so no server runs twice
    "
  `);
  expect(read(project, SERVERS)).toBe(`// my servers
{
  "github": { "command": "gh-mcp" }, // the one I wrote
  "chrome": ${JSON.stringify(CHROME)}, // as it came
  "memory": {
    "command": "npx",
    "args": ["server-memory"]
  }
  /* the end */
}
`);
});

test('--force overwrites, and backs up the file', async () => {
  const ours = '{\n  // mine\n  "github": { "command": "gh-mcp" }\n}\n';
  const project = createProject({ [SERVERS]: ours, [MCPFLIP]: { github: GITHUB } });

  expect(await statesOf(project, ['--force'])).toEqual({ github: 'replaced' });

  expect(read(project, SERVERS)).toContain('// mine');
  const folder = 'home/.switchboard/backups';
  const [backup = '', ...more] = readdirSync(join(project.dir, folder));
  expect(more).toEqual([]);
  expect(read(project, join(folder, backup))).toBe(ours);
  expect(await statesOf(project, ['--force'])).toEqual({ github: 'same' });
});

test('the last of two equal keys counts, and is the one that --force replaces', async () => {
  const project = createProject({
    [SERVERS]: '{\n  "m": {"command": "first"},\n  "m": {"command": "last"}\n}\n',
    [MCPFLIP]: { m: { command: 'new' } },
  });
  await runImport(project, ['--force']);
  expect(read(project, SERVERS)).toBe(
    '{\n  "m": {"command": "first"},\n  "m": { "command": "new" }\n}\n',
  );
});

test('a linked servers.json stays a link, and a broken link is refused', async () => {
  const project = createProject({ 'dots/x': '', [MCPFLIP]: { chrome: CHROME } });
  mkdirSync(join(project.dir, 'home/.switchboard'));
  symlinkSync('../../dots/servers.json', join(project.dir, SERVERS));
  for (const more of [[], ['--dry-run']]) {
    const { status, stderr } = await runImport(project, more);
    expect(status).toBe(2);
    expect(stderr).toBe(
      'switchboard: <project>/home/.switchboard/servers.json is a link to <project>/dots/servers.json, which does not exist.\nCreate the target, or remove the link.\n',
    );
  }
  expect(existsSync(join(project.dir, 'dots/servers.json'))).toBe(false);
  project.write('dots/servers.json', '{}\n');
  await runImport(project);
  expect(lstatSync(join(project.dir, SERVERS)).isSymbolicLink()).toBe(true);
  expect(JSON.parse(read(project, 'dots/servers.json'))).toEqual({ chrome: CHROME });
});

test('concurrent imports are all kept', async () => {
  const names = Array.from({ length: 6 }, (_, index) => `server${index}`);
  const files = names.map((name) => [`${name}.json`, { [name]: { command: name } }]);
  const project = createProject({ [SERVERS]: '{}\n', ...Object.fromEntries(files) });
  const outcomes = await Promise.all(names.map((name) => runImport(project, [`${name}.json`])));
  expect(outcomes.map(({ status }) => status)).toEqual(names.map(() => 0));
  expect(Object.keys(readServers(project) as object).sort()).toEqual(names);
});

test('servers under mcpServers may have any name, and new ones are added next to them', async () => {
  const project = createProject({
    [SERVERS]: { mcpServers: { url: { command: 'x' } } },
    [MCPFLIP]: { mcpServers: { command: CHROME } },
  });
  expect(await statesOf(project, [])).toEqual({ command: 'added' });
  expect(readServers(project)).toEqual({
    mcpServers: { url: { command: 'x' }, command: CHROME },
  });
});

test('the same server under another alias is already present; with another account it is not', async () => {
  const work = { ...GITHUB, env: { TOKEN: 'of-the-office' } };
  const project = createProject({ [SERVERS]: { gh: GITHUB }, [MCPFLIP]: { github: GITHUB, work } });
  const { stdout } = await runImport(project);
  expect(stdout).toContain('github  already present as gh\n');
  expect(readServers(project)).toEqual({ gh: GITHUB, work });
});

test('--only imports the named servers, and suggests names for unknown ones', async () => {
  const project = createProject({ [MCPFLIP]: { chrome: CHROME, github: GITHUB, third: CHROME } });
  const args = ['--only', 'github', '--only', 'third'];
  expect(await statesOf(project, args)).toEqual({ github: 'added', third: 'added' });
  const { status, stderr } = await runImport(project, ['--only', 'crome']);
  expect(status).toBe(2);
  expect(stderr).toContain('has no server "crome".\nDid you mean "chrome"?');
});

test('"-" reads from stdin', async () => {
  const project = createProject();
  const input = JSON.stringify({ chrome: CHROME });
  expect(await statesOf(project, ['-'], { input })).toEqual({ chrome: 'added' });
  expect(readServers(project)).toEqual({ chrome: CHROME });
});

test('a dry run writes nothing', async () => {
  const project = createProject({ [MCPFLIP]: { chrome: CHROME } });
  const { stdout } = await runImport(project, ['--dry-run']);
  expect(stdout).toMatchInlineSnapshot(`
    "From <project>/home/.claude/mcpflip/servers.json:
      chrome  would be added
    would write <project>/home/.switchboard/servers.json
    Would import 1 of 1 server.
    "
  `);
  expect(existsSync(join(project.dir, 'home/.switchboard'))).toBe(false);
});

test('secrets are never printed', async () => {
  const project = createProject({ [MCPFLIP]: { github: GITHUB } });
  for (const args of [['--dry-run'], ['--json'], ['--force']]) {
    const { stdout, stderr } = await runImport(project, args);
    expect(stdout + stderr).not.toContain('canary-4711');
  }
});

test.each([
  [
    'a source that is no JSON',
    MCPFLIP,
    '{\n  "a": { "command": }\n}',
    `${MCPFLIP}:2:21: Invalid JSON`,
  ],
  ['a source that is no object', MCPFLIP, '[]', 'expected an object with servers'],
  ['a servers.json of ours that is no JSON', SERVERS, '{ "a": \n', `${SERVERS}:2:1: Invalid JSON`],
])('%s exits with a location and reason, and changes nothing', async (_what, file, text, says) => {
  const project = createProject({ [MCPFLIP]: { chrome: CHROME }, [file]: text });
  const { status, stdout, stderr } = await runImport(project);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(says);
  expect(read(project, file)).toBe(text);
});

test('without mcpflip, or with a missing file, it says what to name', async () => {
  const project = createProject();
  mkdirSync(join(project.dir, 'home'));
  expect((await runImport(project)).stderr).toMatchInlineSnapshot(`
    "switchboard: No mcpflip installation found: <project>/home/.claude/mcpflip/servers.json does not exist.
    To import from another file, name it. For example: switchboard import ~/.claude.json
    "
  `);
  const { status, stderr } = await runImport(project, ['nowhere.json']);
  expect(status).toBe(2);
  expect(stderr).toContain('Cannot read <project>/nowhere.json.');
});

test('a project’s servers with relative paths work everywhere', async () => {
  const { command, args } = testServer('toolbox');
  const project = createProject({
    'app/.mcp.json': {
      mcpServers: { local: { command: './tool' }, far: { command, args } },
    },
    'elsewhere/x': '',
  });
  const script = project.write('app/tool', `#!/bin/sh\nexec '${command}' ${args.join(' ')}\n`);
  chmodSync(script, 0o755);
  const app = join(project.dir, 'app');
  expect(await statesOf(project, ['app/.mcp.json'])).toEqual({ local: 'added', far: 'added' });
  expect(readServers(project)).toEqual({
    local: { command: './tool', cwd: app },
    far: { command, args },
  });
  const { stdout } = await runSwitchboard(project, ['call', 'local', 'where_am_i'], {
    cwd: join(project.dir, 'elsewhere'),
  });
  expect(JSON.parse(stdout)).toMatchObject({ cwd: app });

  project.write('other/.mcp.json', { mcpServers: { local: { command: './tool' } } });
  expect(await statesOf(project, ['app/.mcp.json'])).toEqual({ local: 'same', far: 'same' });
  expect(await statesOf(project, ['other/.mcp.json'])).toEqual({ local: 'differs' });
});
