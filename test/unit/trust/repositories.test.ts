// Whether a repository tracks a file is read from its index, in every form git writes it.
import {
  mkdirSync,
  mkdtempSync,
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
