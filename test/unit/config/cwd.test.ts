// Where servers run: those from the user's files in the home directory, unless they are about the project.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withAbsolutePaths } from '../../../src/config/server/cwd.ts';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { describeSubject } from '../../../src/trust/approvals/describe.ts';
import { judgeOpener } from '../../../src/trust/approvals/open.ts';
import { git } from '../../support/git.ts';
import { createProject, type Project } from './temp-project.ts';

const USER_FILE = '../home/.switchboard/switchboard.config.json';
const USER_SERVERS = '../home/.switchboard/servers.json';

/** A server from a line such as `npx -y name`. */
function entryOf(line: string, more: object = {}): object {
  const [command, ...args] = line.split(' ');
  return { command, args, ...more };
}

async function serverIn(project: Project, name = 'a') {
  const { children } = await project.load({ openJudge: judgeOpener({ lists: true }) });
  const child = children.get(name);
  if (!child) throw new Error('There is no such server.');
  return child;
}

async function cwdOf(entry: object, file = USER_FILE): Promise<string> {
  const content = file === USER_FILE ? { mcpServers: { a: entry } } : { a: entry };
  const project = createProject({ [file]: content });
  return project.plain((await serverIn(project)).cwd);
}

describe.each([USER_FILE, USER_SERVERS])('a server in %s', (file) => {
  test.each([
    'server',
    'npx -y @mcp/memory',
    'npx -y mcp-server --host example.com --url https://example.com/x',
    'npx -y owner/repository',
    'uvx mcp-server-git',
    'docker run -i --rm -e KEY ghcr.io/x/server:latest',
    'node /opt/server.js',
    'node ~/server.js',
    'node ${TOOLS}/server.js',
    'python3 -m server',
    'cmd /c npx -y @mcp/memory',
    '/opt/bin/server /data',
  ])('runs in the home directory: %s', async (line) => {
    expect(await cwdOf(entryOf(line), file)).toBe('<home>');
  });

  test.each([
    ['bash', '-c', 'npx -y @mcp/memory'],
    ['zsh', '-lc', 'source ~/.nvm/nvm.sh && exec "npx" -y mcp-memory 2>/dev/null'],
    ['pwsh', '-NoProfile', '-Command', 'npx -y @mcp/memory'],
    ['cmd', '/c', 'npx -y @mcp/memory'],
  ])('runs in the home directory, started by a shell: %s %s %s', async (command, ...args) => {
    expect(await cwdOf({ command, args }, file)).toBe('<home>');
  });

  test.each([
    ['bash', '-c', 'npx -y @mcp/files .'],
    ['sh', '-c', 'cd x; ./server'],
  ])('runs in the project if a script has a relative path: %s %s %s', async (command, ...args) => {
    expect(await cwdOf({ command, args }, file)).toBe('<project>');
  });

  test.each([
    './server',
    'bin/server',
    'node server.js',
    'node build/server.mjs',
    'node server',
    'python3 main.py',
    'server .',
    'server ..',
    'server --root=./docs',
    'server --root ../docs',
    'server data/notes.db',
    'npx -y @mcp/files .',
    'npx ./tool',
    'uvx mcp-server-git --repository ./x',
    'docker run -v ./data:/data image',
  ])('runs in the project if a path is relative: %s', async (line) => {
    expect(await cwdOf(entryOf(line), file)).toBe('<project>');
  });

  test.each([
    ['${project}', '<project>'],
    ['${project}/sub', '<project>/sub'],
    ['sub', '<project>/sub'],
    ['~/sub', '<home>/sub'],
    ['/opt', '/opt'],
  ])('runs in its cwd: %s', async (cwd, folder) => {
    expect(await cwdOf(entryOf('server', { cwd }), file)).toBe(folder);
  });
});

test("a project's servers run in the project, and child files in their folder", async () => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { a: entryOf('npx -y name') } },
    '.switchboard/servers.json': { b: entryOf('server') },
    'mcps/c/.mcp.json': { name: 'c', ...entryOf('server') },
    'sub/x': '',
    'mcps/d/.mcp.json': { name: 'd', ...entryOf('server', { cwd: '${project}/sub' }) },
  });
  const folders = await Promise.all(['a', 'b', 'c', 'd'].map((name) => serverIn(project, name)));
  expect(folders.map(({ cwd }) => project.plain(cwd))).toEqual([
    '<project>',
    '<project>',
    '<project>/mcps/c',
    '<project>/sub',
  ]);
});

test('without a home directory, the folder of the user’s files is used', async () => {
  const project = createProject();
  const home = join(project.folder, '..', 'state');
  mkdirSync(home);
  project.write('../state/servers.json', { a: entryOf('server') });
  const env = { HOME: '/nonexistent', SWITCHBOARD_HOME: home };
  const { children } = await project.load({ env });
  expect(children.get('a')?.cwd).toBe(home);
});

describe('in a project that came with a repository, a package runner', () => {
  const create = (line: string, more: object = {}): Project => {
    const project = createProject({ [USER_FILE]: { mcpServers: { a: entryOf(line, more) } } });
    git(project.folder, 'init', '-q');
    return project;
  };

  test('starts in the home directory, with absolute paths', async () => {
    const project = create('npx -y @mcp/files . --log=./x.log docs/a https://example.com/.');
    const { cwd, command, problem } = await serverIn(project);
    expect(project.plain(JSON.stringify({ cwd, args: command?.args, problem }))).toBe(
      '{"cwd":"<home>","args":["-y","@mcp/files","<project>","--log=<project>/x.log","<project>/docs/a","https://example.com/."]}',
    );
  });

  test.each([
    'python3 -m mcp_server_git --repository .',
    'python3.12 -um server ./x',
    'py -c pass .',
    'node -r dotenv/config /opt/server.js .',
    'node --import=tsx /opt/server.ts .',
    'deno run -A npm:@mcp/files .',
    'tsx /opt/server.ts .',
    'env A=1 npx -y @mcp/files .',
  ])('includes interpreters that look for modules there: %s', async (line) => {
    const project = create(line);
    const { cwd, command } = await serverIn(project);
    expect({ cwd, last: command?.args.at(-1) }).toMatchObject({
      cwd: project.homeFolder,
      last: expect.stringMatching(/^\//),
    });
  });

  test.each(['python3 -I -m server .', 'python3 /opt/server.py .', 'node /opt/server.js .'])(
    'is not an interpreter that looks elsewhere: %s',
    async (line) => {
      const project = create(line);
      expect((await serverIn(project)).cwd).toBe(project.folder);
    },
  );

  test.each([
    ['bash', '-c', 'npx -y @mcp/files .'],
    ['sh', '-c', 'cd docs/x && exec "python3" -m server'],
    ['op', 'run', '--env-file=.env', '--', 'npx', '-y', '@mcp/files'],
    ['timeout', '60', '/usr/bin/uvx', 'name', './x'],
  ])('needs an approval if another program starts it: %s %s %s', async (command, ...args) => {
    const project = createProject({ [USER_FILE]: { mcpServers: { a: { command, args } } } });
    git(project.folder, 'init', '-q');
    const { problem } = await serverIn(project);
    expect(project.plain(problem?.text ?? '')).toMatch(
      /haven't approved\. .* Or set "cwd" to "~" in <home>\/.*; the server then runs in your home directory\.$/,
    );
  });

  test.each(['npx -y name', 'npm run mcp', 'pnpm dlx name', 'uvx name', 'bunx name'])(
    'needs an approval if the user asked for the project: %s',
    async (line) => {
      const project = create(line, { cwd: '${project}' });
      const { problem } = await serverIn(project);
      const [runner] = line.split(' ');
      expect(project.plain(problem?.text ?? '')).toBe(
        `Server "a" was not started: ${runner} would use this project's packages and settings, which you haven't approved. To approve it, run: switchboard trust approve a. Or remove "cwd" in <home>/.switchboard/switchboard.config.json; the server then runs in your home directory.`,
      );
      const { gate } = await project.load({ openJudge: judgeOpener() });
      const judged = gate?.judge?.judged ?? [];
      expect(judged.map((one) => describeSubject(one).map(project.plain))).toEqual([
        [
          `lets ${runner} use this project's packages and settings for your server "a" in <home>/.switchboard/switchboard.config.json`,
          `runs: ${line}`,
          'in: ${project}',
        ],
      ]);
      await recordDecisions(join(project.homeFolder, '.switchboard'), judged, 'approved');
      expect(await serverIn(project)).toMatchObject({ cwd: project.folder, problem: undefined });
    },
  );

  test('is free to run elsewhere, and anything else in the project', async () => {
    const elsewhere = await serverIn(create('npx -y name', { cwd: '/opt' }));
    expect(elsewhere).toMatchObject({ cwd: '/opt', problem: undefined });
    for (const line of ['server .', 'docker run -v ./data:/data node npx name']) {
      const other = create(line, { cwd: '${project}' });
      expect(await serverIn(other)).toMatchObject({ cwd: other.folder, problem: undefined });
    }
  });

  test('runs in the project if nothing came with a repository, or everything is trusted', async () => {
    const line = entryOf('npx -y @mcp/files .');
    const plain = createProject({ [USER_FILE]: { mcpServers: { a: line } } });
    expect(await serverIn(plain)).toMatchObject({
      cwd: plain.folder,
      command: { args: ['-y', '@mcp/files', '.'] },
    });
    const trusting = createProject({
      [USER_FILE]: { mcpServers: { a: line }, trust: { mode: 'all' } },
    });
    git(trusting.folder, 'init', '-q');
    expect(await serverIn(trusting)).toMatchObject({ cwd: trusting.folder });
  });

  test('is not confused by a repository for the files of the home directory', async () => {
    const project = createProject();
    const { homeFolder } = project;
    git(homeFolder, 'init', '-q');
    project.write(USER_FILE, { mcpServers: { a: entryOf('npx name', { cwd: '${project}' }) } });
    const inner = join(homeFolder, 'work');
    mkdirSync(inner);
    const { children } = await project.load({ cwd: inner, openJudge: judgeOpener() });
    expect(children.get('a')).toMatchObject({ cwd: inner, problem: undefined });
  });
});

test.each([
  [
    ['-y', '@mcp/files', 'a/b', 'x'],
    ['-y', '@mcp/files', '/p/a/b', 'x'],
  ],
  [
    ['-y', 'owner/repo'],
    ['-y', 'owner/repo'],
  ],
  [
    ['./tool', '../x'],
    ['/p/tool', '/x'],
  ],
])('paths of a runner become absolute: %o', (args, absolute) => {
  expect(withAbsolutePaths({ cmd: 'npx', args }, '/p').args).toEqual(absolute);
});
