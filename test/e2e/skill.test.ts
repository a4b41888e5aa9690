// `switchboard skill install` and `uninstall` in a home of their own, with a `claude` that writes down
// what it is asked.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createClaude, type FakeClaude, pathWith } from '../support/claude.ts';
import { runCommand, runSwitchboard } from '../support/command.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, PROGRAM, type Project, ROOT } from '../support/project.ts';

const SKILL = readFileSync(join(ROOT, 'skill/SKILL.md'), 'utf8');
const REMOVE = ['mcp', 'remove', 'switchboard', '-s', 'user'];
const ADD = [
  'mcp',
  'add',
  '-s',
  'user',
  'switchboard',
  '--',
  process.execPath,
  realpathSync(PROGRAM),
];

class Home {
  readonly project: Project = createProject({ 'home/.keep': '' });
  readonly claude: FakeClaude = createClaude(this.project);
  readonly copy = this.path('.switchboard/skill/SKILL.md');
  readonly link = this.path('.claude/skills/switchboard/SKILL.md');
  readonly servers = this.path('.switchboard/servers.json');

  path(...parts: string[]): string {
    return join(this.project.dir, 'home', ...parts);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  /** What it prints has `~` for the home, and `<stamp>` for the time. */
  async run(args: readonly string[], env: Record<string, string> = {}) {
    const { claude, project } = this;
    const outcome = await runSwitchboard(project, ['skill', ...args], {
      env: { ...claude.env, ...env },
    });
    const steady = (text: string) =>
      text
        .replaceAll(this.path(), '~')
        .replaceAll(process.execPath, '<node>')
        .replaceAll(realpathSync(PROGRAM), '<program>')
        .replaceAll(/(?:[0-9a-f]{8}\.)?\d{4}-\d\d-\d\dT[\d-]+Z/g, '<stamp>');
    return { ...outcome, stdout: steady(outcome.stdout), stderr: steady(outcome.stderr) };
  }

  backups(): string[] {
    const folder = this.path('.switchboard/backups');
    return existsSync(folder)
      ? readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
      : [];
  }

  /** Every file and link of the home, with its content and when it was changed. */
  snapshot(): unknown[] {
    return readdirSync(this.path(), { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const stat = lstatSync(this.path(name));
        if (stat.isSymbolicLink()) return [name, readlinkSync(this.path(name)), stat.mtimeMs];
        return [name, stat.isFile() && readFileSync(this.path(name), 'utf8'), stat.mtimeMs];
      });
  }
}

test('installs the skill, an empty list of servers and the registration', async () => {
  const home = new Home();

  const { status, stdout, stderr } = await home.run(['install']);

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "wrote ~/.switchboard/skill/SKILL.md
    linked ~/.claude/skills/switchboard/SKILL.md to ~/.switchboard/skill/SKILL.md
    created ~/.switchboard/servers.json
    ran claude mcp add -s user switchboard -- <node> <program>

    Next: restart Claude Code, then type /switchboard.
    "
  `);
  expect(readFileSync(home.copy, 'utf8')).toBe(SKILL);
  expect(readlinkSync(home.link)).toBe(home.copy);
  expect(readFileSync(home.servers, 'utf8')).toBe('{}\n');
  expect(home.claude.calls()).toEqual([REMOVE, ADD]);
});

test('a second time nothing changes, and it says so', async () => {
  const home = new Home();
  await home.run(['install']);
  home.write(home.servers, '{ "mine": { "command": "x" } } // edited\n');
  const before = home.snapshot();

  const { status, stdout } = await home.run(['install']);

  expect(status).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "Switchboard is already registered with Claude Code.
    The skill is already installed. Nothing was changed.
    "
  `);
  expect(home.snapshot()).toEqual(before);
  expect(home.claude.calls()).toHaveLength(2);
});

test('a skill the user has changed is backed up before it is replaced', async () => {
  const home = new Home();
  await home.run(['install']);
  home.write(home.link, 'my own words\n');
  expect(readFileSync(home.copy, 'utf8'), 'written through the link').toBe('my own words\n');

  const { status, stdout } = await home.run(['install']);

  expect(status).toBe(0);
  expect(stdout).toContain(
    'backed up ~/.switchboard/skill/SKILL.md to ~/.switchboard/backups/SKILL.md.<stamp>',
  );
  expect(home.backups()).toEqual(['my own words\n']);
  expect(readFileSync(home.link, 'utf8')).toBe(SKILL);
});

test('a file in place of the link is backed up and replaced', async () => {
  const home = new Home();
  home.write(home.link, 'an older skill\n');

  await home.run(['install']);

  expect(home.backups()).toEqual(['an older skill\n']);
  expect(readlinkSync(home.link)).toBe(home.copy);
});

test('a link to somewhere else is replaced, and its target is not touched', async () => {
  const home = new Home();
  home.write(home.path('elsewhere/SKILL.md'), 'not ours\n');
  mkdirSync(dirname(home.link), { recursive: true });
  symlinkSync(home.path('elsewhere/SKILL.md'), home.link);

  await home.run(['install']);

  expect(readlinkSync(home.link)).toBe(home.copy);
  expect(readFileSync(home.path('elsewhere/SKILL.md'), 'utf8')).toBe('not ours\n');
  expect(home.backups()).toEqual([]);
});

test('a linked folder, such as a clone, is replaced and not written to', async () => {
  const home = new Home();
  home.write(home.path('clone/skill/SKILL.md'), SKILL);
  mkdirSync(home.path('.claude/skills'), { recursive: true });
  symlinkSync(home.path('clone/skill'), home.path('.claude/skills/switchboard'));

  expect((await home.run(['uninstall'])).stdout).toContain(
    'not removed, because it links elsewhere: ~/.claude/skills/switchboard',
  );
  await home.run(['install']);

  expect(readlinkSync(home.link)).toBe(home.copy);
  expect(lstatSync(home.path('clone/skill/SKILL.md')).isFile()).toBe(true);
});

test('CLAUDE_CONFIG_DIR and SWITCHBOARD_HOME set the locations', async () => {
  const home = new Home();
  const env = {
    CLAUDE_CONFIG_DIR: home.path('claude-work'),
    SWITCHBOARD_HOME: home.path('board'),
  };
  mkdirSync(env.CLAUDE_CONFIG_DIR);

  const { status } = await home.run(['install'], env);
  const again = await home.run(['install'], env);

  expect(status).toBe(0);
  expect(readlinkSync(home.path('claude-work/skills/switchboard/SKILL.md'))).toBe(
    home.path('board/skill/SKILL.md'),
  );
  expect(existsSync(home.path('board/servers.json'))).toBe(true);
  expect(again.stdout).toContain('Nothing was changed');
  expect(readdirSync(home.path()).sort()).toEqual(['.keep', 'board', 'claude-work']);
});

test('a dry run prints the same and does nothing', async () => {
  const home = new Home();
  const before = home.snapshot();

  const { status, stdout } = await home.run(['install', '--dry-run']);

  expect(status).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "would write ~/.switchboard/skill/SKILL.md
    would link ~/.claude/skills/switchboard/SKILL.md to ~/.switchboard/skill/SKILL.md
    would create ~/.switchboard/servers.json
    would run claude mcp add -s user switchboard -- <node> <program>
    "
  `);
  expect(home.snapshot()).toEqual(before);
  expect(home.claude.calls()).toEqual([]);
});

test('--no-register does not touch Claude Code', async () => {
  const home = new Home();
  const { status, stdout } = await home.run(['install', '--no-register']);
  expect(status).toBe(0);
  expect(stdout).toContain(
    'To do it manually: claude mcp add -s user switchboard -- <node> <program>',
  );
  expect(home.claude.calls()).toEqual([]);
});

test('without claude the skill is installed, with a hint on how to register', async () => {
  const home = new Home();
  const { status, stdout } = await home.run(['install'], { PATH: home.path('nothing') });
  expect(status).toBe(0);
  expect(stdout).toContain(
    'claude was not found on your PATH.\n  To do it manually: claude mcp add -s user switchboard -- <node> <program>\n',
  );
  expect(readFileSync(home.link, 'utf8')).toBe(SKILL);
});

test('a failing claude is reported with its output and the command to repeat', async () => {
  const home = new Home();
  const { status, stdout } = await home.run(['install'], { CLAUDE_FAILS: 'add' });
  expect(status).toBe(2);
  expect(stdout).toContain(
    'claude failed: The disk is full.\n  To do it manually: claude mcp add -s user switchboard -- <node> <program>\n',
  );
  expect(readFileSync(home.link, 'utf8')).toBe(SKILL);
});

test('Ctrl-C also stops a claude that hangs', async () => {
  const home = new Home();
  const { dir, env } = home.project;
  const install = spawn(process.execPath, [PROGRAM, 'skill', 'install'], {
    cwd: dir,
    env: { ...env, ...home.claude.env, CLAUDE_FAILS: 'hang' },
    stdio: 'ignore',
  });
  const exited = once(install, 'exit');
  expect(await eventually(() => home.claude.calls().length > 0)).toBe(true);
  install.kill('SIGINT');
  expect(await exited).toEqual([130, null]);
  expect(await eventually(() => processesWith(dir).length === 0)).toBe(true);
});

test('an earlier registration is replaced and backed up: it may contain the user’s variables', async () => {
  const home = new Home();
  const entry = { type: 'stdio', command: 'node', args: ['/old.js'], env: { TOKEN: 'secret-123' } };
  const others = { other: { command: 'x' } };
  home.write(
    home.path('.claude.json'),
    JSON.stringify({ mcpServers: { switchboard: entry, ...others } }),
  );

  const { stdout } = await home.run(['install']);

  expect(home.backups().map((text) => JSON.parse(text) as unknown)).toEqual([entry]);
  expect(stdout).toContain(
    'backed up the previous Claude Code entry to ~/.switchboard/backups/claude-entry.json.<stamp>',
  );
  expect(stdout).not.toContain('secret-123');
  const [backup = ''] = readdirSync(home.path('.switchboard/backups'));
  expect(statSync(home.path('.switchboard/backups', backup)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(home.path('.claude.json'), 'utf8'))).toEqual({
    mcpServers: {
      switchboard: {
        type: 'stdio',
        command: process.execPath,
        args: [realpathSync(PROGRAM)],
        env: {},
      },
      ...others,
    },
  });
});

test('if Claude Code refuses the new one, the earlier one is restored', async () => {
  const home = new Home();
  const entry = { type: 'stdio', command: '/old/node', args: ['/old.js'] };
  home.write(home.path('.claude.json'), JSON.stringify({ mcpServers: { switchboard: entry } }));

  const { status, stdout } = await home.run(['install'], { CLAUDE_FAILS: 'add' });

  expect(status).toBe(2);
  expect(stdout).toMatchInlineSnapshot(`
    "wrote ~/.switchboard/skill/SKILL.md
    linked ~/.claude/skills/switchboard/SKILL.md to ~/.switchboard/skill/SKILL.md
    created ~/.switchboard/servers.json
    claude failed: The disk is full.
      To do it manually: claude mcp remove switchboard -s user && claude mcp add -s user switchboard -- <node> <program>
    The previous entry in Claude Code was restored.
    backed up the previous Claude Code entry to ~/.switchboard/backups/claude-entry.json.<stamp>

    Next: register Switchboard manually as shown above, restart Claude Code, then type /switchboard.
    "
  `);
  expect(home.backups().map((text) => JSON.parse(text) as unknown)).toEqual([entry]);
  expect(JSON.parse(readFileSync(home.path('.claude.json'), 'utf8'))).toEqual({
    mcpServers: { switchboard: entry },
  });
});

test('if it also refuses that, the loss and the backup are reported', async () => {
  const home = new Home();
  const entry = { type: 'stdio', command: 'node', args: ['/old.js'], env: { TOKEN: 'secret-123' } };
  home.write(home.path('.claude.json'), JSON.stringify({ mcpServers: { switchboard: entry } }));

  const { status, stdout } = await home.run(['install'], { CLAUDE_FAILS: 'add add-json' });

  expect(status).toBe(2);
  expect(stdout).toContain(
    'The previous entry in Claude Code could not be restored.\nbacked up the',
  );
  expect(stdout).not.toContain('secret-123');
  expect(home.backups().map((text) => JSON.parse(text) as unknown)).toEqual([entry]);
});

test('a registration with the same command is left unchanged', async () => {
  const home = new Home();
  const entry = { command: process.execPath, args: [realpathSync(PROGRAM)], env: { A: 'b' } };
  home.write(home.path('.claude.json'), JSON.stringify({ mcpServers: { switchboard: entry } }));
  await home.run(['install']);
  expect(home.claude.calls()).toEqual([]);
});

test('an unwritable folder fails with the reason and the system’s message', async () => {
  const home = new Home();
  home.write(home.path('.switchboard'), 'a file where the folder should be');
  const { status, stderr } = await home.run(['install']);
  expect(status).toBe(2);
  expect(stderr).toContain('switchboard: Cannot read or write ~/.switchboard/skill/SKILL.md.');
  expect(stderr).toContain('ENOTDIR');
});

test('--json reports the changes, for programs', async () => {
  const home = new Home();
  const { stdout } = await home.run(['install', '--json']);
  expect(JSON.parse(stdout)).toEqual({
    dryRun: false,
    changes: [
      { action: 'write', path: '~/.switchboard/skill/SKILL.md' },
      {
        action: 'link',
        path: '~/.claude/skills/switchboard/SKILL.md',
        to: '~/.switchboard/skill/SKILL.md',
      },
      { action: 'create', path: '~/.switchboard/servers.json' },
    ],
    registration: {
      state: 'registered',
      command: 'claude mcp add -s user switchboard -- <node> <program>',
    },
    leftInMcpflip: 0,
  });
});

test('mcpflip servers that were not imported are mentioned', async () => {
  const home = new Home();
  home.write(
    home.path('.claude/mcpflip/servers.json'),
    '{ "a": { "command": "x" }, "b": { "command": "y" } }',
  );
  const hint = 'mcpflip has 2 servers you can import with: switchboard import';
  expect((await home.run(['install'])).stdout).toContain(hint);
  const { project, claude } = home;
  await runSwitchboard(project, ['import'], { env: claude.env });
  expect((await home.run(['install'])).stdout).not.toContain('mcpflip');
});

test('uninstalling removes the skill and registration, and keeps the servers', async () => {
  const home = new Home();
  await home.run(['install']);
  const dry = await home.run(['uninstall', '--dry-run']);
  expect(readFileSync(home.link, 'utf8')).toBe(SKILL);

  const { status, stdout } = await home.run(['uninstall']);

  expect(status).toBe(0);
  expect(dry.stdout).toMatchInlineSnapshot(`
    "would remove ~/.claude/skills/switchboard/SKILL.md
    would remove ~/.switchboard/skill/SKILL.md
    would run claude mcp remove switchboard -s user
    Your servers are still in ~/.switchboard/servers.json
    "
  `);
  expect(stdout).toMatchInlineSnapshot(`
    "removed ~/.claude/skills/switchboard/SKILL.md
    removed ~/.switchboard/skill/SKILL.md
    ran claude mcp remove switchboard -s user
    Your servers are still in ~/.switchboard/servers.json
    "
  `);
  expect(home.claude.calls().at(-1)).toEqual(REMOVE);
  expect(readdirSync(home.path('.switchboard'))).toEqual(['servers.json']);
  expect(readdirSync(home.path('.claude/skills'))).toEqual([]);
  expect(JSON.parse(readFileSync(home.path('.claude.json'), 'utf8'))).toEqual({ mcpServers: {} });
});

test('uninstalling without an installation succeeds', async () => {
  const { status, stdout } = await new Home().run(['uninstall']);
  expect(status).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "Switchboard is not registered with Claude Code.
    The skill is not installed. Nothing was changed.
    "
  `);
});

test('uninstalling keeps a copy the user has changed', async () => {
  const home = new Home();
  await home.run(['install']);
  home.write(home.copy, 'mine\n');
  await home.run(['uninstall']);
  expect(home.backups()).toEqual(['mine\n']);
  expect(existsSync(home.copy)).toBe(false);
});

test('uninstalling reports if Claude Code keeps the registration', async () => {
  const home = new Home();
  await home.run(['install']);
  const { status, stdout } = await home.run(['uninstall'], { CLAUDE_FAILS: 'remove' });
  expect(status).toBe(2);
  expect(stdout).toContain(
    'claude failed: The disk is full.\n  To do it manually: claude mcp remove switchboard -s user\n',
  );
});

test('the skill’s shell commands work as described', async () => {
  const home = new Home();
  const bin = join(home.project.dir, 'bin');
  symlinkSync(process.execPath, join(bin, 'node'));
  symlinkSync(PROGRAM, join(bin, 'switchboard'));
  const blocks = [...SKILL.matchAll(/^ {3}```sh\n([\s\S]*?)^ {3}```/gm)].map(([, block = '']) =>
    block
      .replaceAll(/^ {3}/gm, '')
      .replaceAll('<alias>', 'my-server')
      .replaceAll('<command>', 'npx')
      .replaceAll('<arg>', '$HOME `x`'),
  );
  const run = async (script: string) => {
    const { dir, env } = home.project;
    const outcome = await runCommand('sh', ['-euc', script], {
      cwd: dir,
      env: { ...env, ...home.claude.env, PATH: pathWith(bin) },
    });
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    return outcome.stdout;
  };
  const entry = { command: 'npx', args: ['$HOME `x`', '$HOME `x`'] };
  const [add = '', list = '', moveBack = ''] = blocks;
  expect(blocks).toHaveLength(3);

  expect(JSON.parse(await run(add))).toMatchObject({
    servers: [{ alias: 'my-server', state: 'added' }],
  });
  expect(JSON.parse(readFileSync(home.servers, 'utf8'))).toEqual({ 'my-server': entry });
  expect(JSON.parse(await run(list))).toMatchObject({ servers: [{ alias: 'my-server' }] });
  await run(`${list}\n${moveBack}`);
  expect(JSON.parse(readFileSync(home.path('.claude.json'), 'utf8'))).toEqual({
    mcpServers: { 'my-server': entry },
  });
});
