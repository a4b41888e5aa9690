// Whether a repository tracks a file is read from its index, in every form git writes it.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseGitIndex } from '../../../src/trust/approvals/git-index.ts';
import { Repositories } from '../../../src/trust/approvals/repositories.ts';
import { commitAll, git } from '../../support/git.ts';

function createFolder(...files: string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-git-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of files) write(folder, file);
  return folder;
}

function write(folder: string, file: string, text = file): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function tracks(file: string): boolean {
  return new Repositories().tracks(file, statSync(file));
}

describe('an index', () => {
  const versions = ['2', '3', '4'];

  test.each(versions)('of version %s lists files of any length and name', (version) => {
    const long = `${'deep/'.repeat(50)}${'x'.repeat(200)}.json`;
    const folder = createFolder('a.json', 'mcps/one/.mcp.json', 'ä/ö.json', long);
    commitAll(folder);
    git(folder, 'update-index', '--index-version', version);
    write(folder, 'own.json');
    write(folder, 'b/a.json');
    for (const file of ['a.json', 'mcps/one/.mcp.json', 'ä/ö.json', long]) {
      expect({ file, is: tracks(join(folder, file)) }).toEqual({ file, is: true });
    }
    for (const file of ['own.json', 'b/a.json']) {
      expect({ file, is: tracks(join(folder, file)) }).toEqual({ file, is: false });
    }
  });

  test('with extended entries is read', () => {
    const folder = createFolder('a.json', 'b.json', 'c.json');
    commitAll(folder);
    git(folder, 'update-index', '--skip-worktree', 'b.json');
    write(folder, 'new.json');
    git(folder, 'add', '--intent-to-add', 'new.json');
    write(folder, 'own.json');
    const seen = ['a.json', 'b.json', 'c.json', 'new.json', 'own.json'].map((file) =>
      tracks(join(folder, file)),
    );
    expect(seen).toEqual([true, true, true, true, false]);
  });

  test('of a repository with SHA-256 is read', () => {
    const folder = createFolder('a.json');
    commitAll(folder, '--object-format=sha256');
    write(folder, 'own.json');
    expect([tracks(join(folder, 'a.json')), tracks(join(folder, 'own.json'))]).toEqual([
      true,
      false,
    ]);
  });

  test('ignores case, as some disks do', () => {
    const folder = createFolder('Switchboard.Config.json');
    commitAll(folder);
    write(folder, 'switchboard.config.json');
    expect(tracks(join(folder, 'switchboard.config.json'))).toBe(true);
  });

  // Folders that are one and the same on disks that ignore case, accents' forms or invisible characters.
  const spellings = [
    ['case', 'mcps/Ä', 'mcps/ä'],
    ['normal forms', 'mcps/\u00e9', 'mcps/e\u0301'],
    ['a long s', 'mcps/sub', 'mcps/\u017fub'],
    ['the Kelvin sign', 'mcps/kit', 'mcps/\u212ait'],
    ['a sharp s', 'mcps/strasse', 'mcps/stra\u00dfe'],
    ['an invisible character', 'mcps/one', 'mcps/o\u200dne'],
  ] as const;

  test.each(spellings)('takes two spellings of a folder for one: %s', (_what, one, two) => {
    for (const [tracked, own] of [
      [one, two],
      [two, one],
    ] as const) {
      for (const version of ['2', '4']) {
        const folder = createFolder(`${tracked}/.mcp.json`, 'a.json', 'ü.json');
        commitAll(folder);
        git(folder, 'update-index', '--index-version', version);
        write(folder, `${own}/.mcp.json`);
        write(folder, 'mcps/two/.mcp.json');
        write(folder, 'mcps/zwö/.mcp.json');
        const seen = [own, 'mcps/two', 'mcps/zwö'].map((place) =>
          tracks(join(folder, place, '.mcp.json')),
        );
        expect({ version, seen }).toEqual({ version, seen: [true, false, false] });
      }
    }
  });

  test('with a short name counts as tracking everything on Windows', () => {
    const folder = createFolder('longfoldername/a.json', 'LONGFO~1/.mcp.json');
    commitAll(folder);
    const bytes = readFileSync(join(folder, '.git/index'));
    const has = (platform: NodeJS.Platform) =>
      parseGitIndex(bytes, platform)?.has('longfoldername/.mcp.json');
    expect([has('win32'), has('linux')]).toEqual([true, false]);
    const plain = createFolder('a~.json', 'b.json');
    commitAll(plain);
    const index = parseGitIndex(readFileSync(join(plain, '.git/index')), 'win32');
    expect([index?.has('b.json'), index?.has('c.json')]).toEqual([true, false]);
  });

  test('of a sparse checkout lists folders that are not there', () => {
    const folder = createFolder('in/a.json', 'out/deep/b.json', 'c.json');
    commitAll(folder);
    git(folder, 'sparse-checkout', 'init', '--cone', '--sparse-index');
    git(folder, 'sparse-checkout', 'set', 'in');
    expect(readFileSync(join(folder, '.git/index'), 'latin1')).toContain('sdir');
    for (const file of ['out/deep/b.json', 'out/new.json', 'in/own.json', 'own.json']) {
      write(folder, file);
    }
    const seen = ['in/a.json', 'out/deep/b.json', 'out/new.json', 'in/own.json', 'own.json'].map(
      (file) => tracks(join(folder, file)),
    );
    expect(seen).toEqual([true, true, true, false, false]);
  });

  test('with the extensions git writes for speed is read', () => {
    const folder = createFolder(...Array.from({ length: 200 }, (_, index) => `f/${index}.json`));
    commitAll(folder);
    for (const version of ['2', '4']) {
      git(folder, '-c', 'index.threads=4', 'update-index', '--index-version', version);
      git(folder, 'update-index', '--force-untracked-cache');
      write(folder, 'own.json');
      expect([tracks(join(folder, 'f/199.json')), tracks(join(folder, 'own.json'))]).toEqual([
        true,
        false,
      ]);
    }
  });

  test.each([
    ['split', (folder: string) => git(folder, 'update-index', '--split-index')],
    ['cut off', (folder: string) => write(folder, '.git/index', 'DIRC\0\0\0\x02\0\0\0\x05')],
    ['not an index', (folder: string) => write(folder, '.git/index', 'something')],
    [
      'of another version',
      (folder: string) => write(folder, '.git/index', 'DIRC\0\0\0\x05\0\0\0\0'),
    ],
  ])('that is %s counts as tracking everything', (_what, change) => {
    const folder = createFolder('a.json');
    commitAll(folder);
    write(folder, 'own.json');
    change(folder);
    expect(tracks(join(folder, 'own.json'))).toBe(true);
  });

  test('that is missing tracks nothing', () => {
    const folder = createFolder('own.json');
    git(folder, 'init', '--quiet');
    expect(tracks(join(folder, 'own.json'))).toBe(false);
  });

  test('never fails, whatever its bytes are', () => {
    const folder = createFolder('a.json', 'b/c.json');
    commitAll(folder);
    git(folder, 'update-index', '--index-version', '4');
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.alloc(64 + random(400));
      for (let at = 0; at < bytes.length; at++) bytes[at] = random(256);
      bytes.write('DIRC', 0, 'latin1');
      bytes.writeUInt32BE(2 + random(3), 4);
      bytes.writeUInt32BE(random(4), 8);
      expect(() => parseGitIndex(bytes)?.has('a.json')).not.toThrow();
    }
  });
});

describe('a file is tracked', () => {
  test('by a repository in a folder above', () => {
    const folder = createFolder('packages/one/switchboard.config.json');
    commitAll(folder);
    expect(tracks(join(folder, 'packages/one/switchboard.config.json'))).toBe(true);
  });

  test('in a worktree, which shares its name with the others', () => {
    const folder = createFolder('a.json');
    commitAll(folder);
    const other = createFolder();
    git(folder, 'worktree', 'add', '--quiet', join(other, 'tree'));
    write(other, 'tree/own.json');
    expect([tracks(join(other, 'tree/a.json')), tracks(join(other, 'tree/own.json'))]).toEqual([
      true,
      false,
    ]);
    const repositories = new Repositories();
    expect(repositories.nameOf(join(other, 'tree'))).toBe(repositories.nameOf(folder));
  });

  test('in a submodule', () => {
    const inner = createFolder('a.json');
    commitAll(inner);
    const outer = createFolder('b.json');
    commitAll(outer);
    git(outer, 'submodule', '--quiet', 'add', inner, 'vendor');
    expect(tracks(join(outer, 'vendor/a.json'))).toBe(true);
    const repositories = new Repositories();
    expect(repositories.nameOf(join(outer, 'vendor'))).not.toBe(repositories.nameOf(outer));
  });

  test('behind a tracked link to a folder', () => {
    const elsewhere = createFolder('.mcp.json');
    const folder = createFolder();
    mkdirSync(join(folder, 'mcps'));
    symlinkSync(elsewhere, join(folder, 'mcps/one'));
    commitAll(folder);
    expect(tracks(join(folder, 'mcps/one/.mcp.json'))).toBe(true);
  });

  test('in a folder that core.worktree names', () => {
    const folder = createFolder('sub/a.json');
    git(folder, 'init', '--quiet');
    git(folder, 'config', 'core.worktree', join(folder, 'sub'));
    git(join(folder, 'sub'), 'add', '--all');
    write(folder, 'sub/own.json');
    expect(readFileSync(join(folder, '.git/index'), 'latin1')).not.toContain('sub/a.json');
    expect([tracks(join(folder, 'sub/a.json')), tracks(join(folder, 'sub/own.json'))]).toEqual([
      true,
      false,
    ]);
  });

  test('if its repository is stored elsewhere', () => {
    const elsewhere = createFolder();
    const folder = createFolder('a.json');
    commitAll(folder, `--separate-git-dir=${join(elsewhere, 'store')}`);
    write(folder, 'own.json');
    expect([tracks(join(folder, 'a.json')), tracks(join(folder, 'own.json'))]).toEqual([
      true,
      false,
    ]);
  });

  test('if the folder of its repository cannot be found', () => {
    const folder = createFolder('own.json');
    write(folder, '.git', 'gitdir: /nowhere/at/all\n');
    expect(tracks(join(folder, 'own.json'))).toBe(true);
  });

  test('while git is writing it, before the index lists it', () => {
    const folder = createFolder('a.json');
    commitAll(folder);
    write(folder, '.git/index.lock', '');
    write(folder, 'pulled.json');
    expect(tracks(join(folder, 'pulled.json'))).toBe(true);
  });

  test('as soon as the index says so', () => {
    const folder = createFolder('a.json');
    commitAll(folder);
    write(folder, 'own.json');
    const repositories = new Repositories();
    const file = join(folder, 'own.json');
    expect(repositories.tracks(file, statSync(file))).toBe(false);
    git(folder, 'add', 'own.json');
    expect(repositories.tracks(file, statSync(file))).toBe(true);
  });
});

describe('approvals are shared only with worktrees that the repository knows', () => {
  const nameOf = (folder: string) => new Repositories().nameOf(folder);

  function repository(): string {
    const folder = createFolder('a.json');
    commitAll(folder);
    return folder;
  }

  test('not with a folder whose .git names the repository', () => {
    const folder = repository();
    const archive = createFolder('a.json');
    write(archive, '.git', `gitdir: ${join(folder, '.git')}\n`);
    expect(nameOf(archive)).not.toBe(nameOf(folder));
  });

  test('not with a folder whose .git is a link to it', () => {
    const folder = repository();
    const archive = createFolder('a.json');
    symlinkSync(join(folder, '.git'), join(archive, '.git'));
    expect(nameOf(archive)).not.toBe(nameOf(folder));
  });

  test('not with a repository that claims to be a worktree', () => {
    const folder = repository();
    const plain = repository();
    write(plain, '.git/commondir', `${join(folder, '.git')}\n`);
    expect(nameOf(plain)).not.toBe(nameOf(folder));
    const archive = createFolder('a.json', 'store/HEAD');
    write(archive, '.git', 'gitdir: store\n');
    write(archive, 'store/commondir', `${join(folder, '.git')}\n`);
    write(archive, 'store/gitdir', `${join(archive, '.git')}\n`);
    expect(nameOf(archive)).not.toBe(nameOf(folder));
  });

  test("not with a folder that uses another worktree's place", () => {
    const folder = repository();
    const other = createFolder();
    git(folder, 'worktree', 'add', '--quiet', join(other, 'tree'));
    const archive = createFolder('a.json');
    write(archive, '.git', `gitdir: ${join(folder, '.git/worktrees/tree')}\n`);
    expect(nameOf(join(other, 'tree'))).toBe(nameOf(folder));
    expect(nameOf(archive)).not.toBe(nameOf(folder));
  });
});
