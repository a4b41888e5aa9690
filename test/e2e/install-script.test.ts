// install.sh, from a clone and piped into a shell, with an npm and a claude that write down what they
// are asked.
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createClaude, pathWith } from '../support/claude.ts';
import { runCommand } from '../support/command.ts';
import { createProject, type Project, ROOT } from '../support/project.ts';

const SCRIPT = join(ROOT, 'install.sh');
const SHELLCHECK = 'shellcheck';
const hasShellcheck = spawnSync(SHELLCHECK, ['--version']).status === 0;

/** A folder `bin` with programs that a test may replace, before the system's own on the PATH. */
function createPlace() {
  const project = createProject({ 'home/.keep': '' });
  const claude = createClaude(project);
  const bin = join(project.dir, 'bin');
  symlinkSync(process.execPath, join(bin, 'node'));
  program(project, 'npm', NPM);
  const env = { ...project.env, ...claude.env, PATH: pathWith(bin), NPM_PREFIX: project.dir };
  return { project, claude, env };
}

function program(project: Project, name: string, text: string): void {
  chmodSync(project.write(`bin/${name}`, text), 0o755);
}

/** "Installs" by a link to the program under test. */
const NPM = `#!/bin/sh
echo "npm $*" >> "$NPM_PREFIX/npm-calls"
case "$1" in
  install) mkdir -p "$NPM_PREFIX/bin" && ln -sf "${ROOT}/dist/index.js" "$NPM_PREFIX/bin/switchboard" ;;
  prefix) echo "$NPM_PREFIX" ;;
  run) mkdir -p dist && cp -R "${ROOT}/dist/." dist/ ;;
esac
`;

const link = ({ dir }: Project) => join(dir, 'home/.claude/skills/switchboard/SKILL.md');
const copy = ({ dir }: Project) => join(dir, 'home/.switchboard/skill/SKILL.md');

/** A clone that has not been built. */
function createClone(project: Project): string {
  const clone = join(project.dir, 'clone');
  mkdirSync(clone);
  for (const file of ['install.sh', 'package.json']) cpSync(join(ROOT, file), join(clone, file));
  return clone;
}

test('is executable', () => {
  expect(() => accessSync(SCRIPT, constants.X_OK)).not.toThrow();
});

test.skipIf(!hasShellcheck)('shellcheck finds nothing (skipped if it is missing)', () => {
  const scripts = [SCRIPT, join(ROOT, 'scripts/setup-debian.sh'), join(ROOT, '.ci/run')];
  const { status, stdout } = spawnSync(SHELLCHECK, scripts, { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

test('--help explains and does nothing', async () => {
  const { project, env } = createPlace();
  const { status, stdout } = await runCommand('sh', [SCRIPT, '--help'], { cwd: project.dir, env });
  expect(status).toBe(0);
  expect(stdout).toContain('Usage: install.sh [options]');
  expect(existsSync(join(project.dir, 'home/.switchboard'))).toBe(false);
});

describe('in a clone', () => {
  test('builds if necessary, installs, and changes nothing the second time', async () => {
    const { project, claude, env } = createPlace();
    const clone = createClone(project);
    const install = () => runCommand('sh', [join(clone, 'install.sh')], { cwd: project.dir, env });

    const first = await install();
    const second = await install();

    expect(first.status, first.stderr).toBe(0);
    expect(first.stdout).toContain('Next: restart Claude Code');
    expect(readFileSync(join(project.dir, 'npm-calls'), 'utf8')).toBe('npm ci\nnpm run build\n');
    expect(readlinkSync(link(project))).toBe(copy(project));
    expect(claude.calls().at(-1)?.slice(-1)).toEqual([join(clone, 'dist/index.js')]);
    expect(second).toMatchObject({ status: 0, stderr: '' });
    expect(second.stdout).toContain('Nothing was changed');
  });

  test('accepts the options of `skill install`', async () => {
    const { project, claude, env } = createPlace();
    const args = [join(ROOT, 'install.sh'), '--no-register', '--json'];
    const { status, stdout } = await runCommand('sh', args, { cwd: project.dir, env });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ registration: { state: 'skipped' } });
    expect(claude.calls()).toEqual([]);
  });

  test('a failed build stops it', async () => {
    const { project, env } = createPlace();
    program(project, 'npm', '#!/bin/sh\necho no network >&2\nexit 1\n');
    const script = join(createClone(project), 'install.sh');
    const { status, stderr } = await runCommand('sh', [script], { cwd: project.dir, env });
    expect(status).toBe(1);
    expect(stderr).toContain('no network\ninstall.sh: The build failed.');
  });
});

describe('piped into a shell', () => {
  const input = readFileSync(SCRIPT, 'utf8');

  test.each(['sh', 'bash'])(
    '%s: npm installs the program, which installs the skill',
    async (shell) => {
      const { project, claude, env } = createPlace();
      const pipe = { cwd: project.dir, env, input };

      const first = await runCommand(shell, [], pipe);
      const second = await runCommand(shell, ['-s', '--', '--json'], pipe);

      expect(first.status, first.stderr).toBe(0);
      expect(first.stdout).toContain('Next: restart Claude Code');
      expect(readFileSync(join(project.dir, 'npm-calls'), 'utf8')).toContain(
        'npm install -g switchboard\n',
      );
      expect(readlinkSync(link(project))).toBe(copy(project));
      expect(claude.calls().map(([, action]) => action)).toEqual(['remove', 'add']);
      expect(JSON.parse(second.stdout)).toMatchObject({
        changes: [],
        registration: { state: 'unchanged' },
      });
    },
  );

  test('a truncated download does nothing', async () => {
    const { project, env } = createPlace();
    const cut = input.slice(0, input.indexOf('# On the last line'));
    await runCommand('sh', [], { cwd: project.dir, env, input: cut });
    expect(existsSync(join(project.dir, 'npm-calls'))).toBe(false);
  });

  test.each([
    ['no node', { node: undefined }, 'install.sh: Node is not installed.'],
    [
      'an old node',
      { node: '#!/bin/sh\n[ "$1" = --version ] && echo v18.20.0\nexit 1\n' },
      'install.sh: Node v18.20.0 is too old.',
    ],
    ['no npm', { npm: undefined }, 'install.sh: npm is not installed.'],
    ['an npm that may not write', { npm: '#!/bin/sh\nexit 243\n' }, 'npm config set prefix'],
  ] as const)('%s is said, and nothing is done', async (_what, programs, says) => {
    const { project, env } = createPlace();
    // Without the system's folders, which have programs of the same names: only what it needs.
    const folder = join(project.dir, 'only');
    mkdirSync(folder);
    for (const name of ['sh', 'basename', 'dirname', 'grep', 'cat', 'mkdir', 'ln']) {
      const found = ['/usr/bin', '/bin'].map((place) => join(place, name)).find(existsSync);
      if (found) symlinkSync(found, join(folder, name));
    }
    const all: Record<string, string | undefined> = { npm: NPM, ...programs };
    for (const [name, text] of Object.entries(all)) {
      if (text !== undefined) chmodSync(project.write(`only/${name}`, text), 0o755);
    }
    if (!('node' in programs)) symlinkSync(process.execPath, join(folder, 'node'));
    const options = { cwd: project.dir, env: { ...env, PATH: folder }, input };
    const { status, stdout, stderr } = await runCommand(join(folder, 'sh'), [], options);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(says);
    expect(existsSync(join(project.dir, 'home/.switchboard'))).toBe(false);
  });
});
