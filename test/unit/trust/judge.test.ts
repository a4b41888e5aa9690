// Where a file comes from decides whether it's trusted, and the user's decisions are bound to content.
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FileUser } from '../../../src/base/ownership.ts';
import { type OpenedFile, readOpenedFile } from '../../../src/base/read-text.ts';
import { Gate } from '../../../src/config/files/gate.ts';
import { checkHome } from '../../../src/config/files/main-files.ts';
import type { Subject, TrustSettings } from '../../../src/config/judge.ts';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { FileJudge } from '../../../src/trust/approvals/judge.ts';
import { readTrustStore } from '../../../src/trust/approvals/store.ts';
import { commitAll, git } from '../../support/git.ts';
import { createProject, type Project } from '../config/temp-project.ts';

const REPOSITORY: TrustSettings = { mode: 'repository', directories: [] };

function judgeOf(project: Project, settings: Partial<TrustSettings> = {}): FileJudge {
  const { folder, homeFolder } = project;
  const home = join(homeFolder, '.switchboard');
  return new FileJudge({ ...REPOSITORY, ...settings }, { project: folder, home, homeFolder });
}

function originOf(project: Project, file: string, settings?: Partial<TrustSettings>) {
  const path = join(project.folder, file);
  return judgeOf(project, settings).originOf(path, { stats: statSync(path) });
}

describe('a file', () => {
  test('made here is yours, and one that a repository tracks is foreign', () => {
    const project = createProject({ 'tracked.json': {} });
    commitAll(project.folder);
    project.write('own.json', {});
    expect([originOf(project, 'own.json'), originOf(project, 'tracked.json')]).toEqual([
      'yours',
      'foreign',
    ]);
  });

  test('that came with a repository stays foreign until it changes', () => {
    const project = createProject({ 'tracked.json': {} });
    commitAll(project.folder);
    mkdirSync(join(project.homeFolder, '.switchboard'));
    const file = join(project.folder, 'tracked.json');
    const judge = judgeOf(project);
    expect(judge.originOf(file, { stats: statSync(file), stamp: 'stamp' })).toBe('foreign');
    judge.save();
    git(project.folder, 'rm', '--cached', '--quiet', 'tracked.json');
    const later = judgeOf(project);
    const origins = ['stamp', 'another stamp', undefined].map((stamp) =>
      later.originOf(file, { stats: statSync(file), stamp: stamp }),
    );
    expect(origins).toEqual(['foreign', 'yours', 'yours']);
  });

  test('in a plain folder is yours', () => {
    expect(originOf(createProject({ 'a.json': {} }), 'a.json')).toBe('yours');
  });

  test.each(['ask', 'all'] as const)('is judged as mode %s says', (mode) => {
    const project = createProject({ 'tracked.json': {} });
    commitAll(project.folder);
    project.write('own.json', {});
    const origin = mode === 'ask' ? 'foreign' : 'user';
    expect([
      originOf(project, 'own.json', { mode }),
      originOf(project, 'tracked.json', { mode }),
    ]).toEqual([origin, origin]);
  });

  test("of Switchboard's home is the user's, and so is everything if the project is the home", () => {
    const project = createProject();
    const { folder } = project;
    const file = project.write('a.json', {});
    const own = project.write('state/servers.json', {});
    const within = { project: folder, home: join(folder, 'state'), homeFolder: project.homeFolder };
    const judge = new FileJudge({ ...REPOSITORY, mode: 'ask' }, within);
    expect([
      judge.originOf(file, { stats: statSync(file) }),
      judge.originOf(own, { stats: statSync(own) }),
    ]).toEqual(['foreign', 'user']);
    const atHome = new FileJudge(REPOSITORY, { ...within, homeFolder: folder });
    expect(atHome.originOf(file, { stats: statSync(file) })).toBe('user');
  });

  test('that every user can change is refused, as is one in such a folder', () => {
    const project = createProject({ 'a.json': {}, 'open/b.json': {} });
    chmodSync(join(project.folder, 'a.json'), 0o666);
    chmodSync(join(project.folder, 'open'), 0o777);
    expect([originOf(project, 'a.json'), originOf(project, 'open/b.json')]).toEqual([
      'refused',
      'refused',
    ]);
    const directories = [project.folder];
    expect(originOf(project, 'open/b.json', { directories })).toBe('yours');
  });

  test('that the group can change is still yours', () => {
    const project = createProject({ 'a.json': {} });
    chmodSync(join(project.folder, 'a.json'), 0o664);
    expect(originOf(project, 'a.json')).toBe('yours');
  });

  test('behind a link is refused if everyone can change its folder', () => {
    const project = createProject();
    const open = join(project.homeFolder, 'open');
    mkdirSync(open);
    writeFileSync(join(open, 'b.json'), '{}');
    symlinkSync(join(open, 'b.json'), join(project.folder, 'link.json'));
    expect(originOf(project, 'link.json')).toBe('yours');
    chmodSync(open, 0o777);
    expect(originOf(project, 'link.json')).toBe('refused');
  });

  describe('and its folders, as another user sees them', () => {
    const ME = { uid: 1_000, sudoUid: undefined };
    const project = () => createProject({ 'deep/er/a.json': {} });

    /** How the file is judged if these users own it and its folders; everything else is mine. */
    function judged(owners: Record<string, number>, user: FileUser = ME, directories = ['/no']) {
      const { folder, homeFolder } = project();
      const owned = (path: string) => {
        const uid = owners[relative(folder, path)] ?? 1_000;
        return Object.assign(statSync(path), { uid });
      };
      const judge = new FileJudge(
        { ...REPOSITORY, directories: directories.map((place) => join(folder, place)) },
        { project: folder, home: join(homeFolder, '.switchboard'), homeFolder },
        { user, statOf: owned },
      );
      const file = join(folder, 'deep/er/a.json');
      return judge.originOf(file, { stats: owned(file) });
    }

    test('counts only if every one up to the project is mine', () => {
      expect(judged({})).toBe('yours');
      for (const place of ['deep/er/a.json', 'deep/er', 'deep', '']) {
        expect({ place, is: judged({ [place]: 2_000 }) }).toEqual({ place, is: 'refused' });
        expect({ place, is: judged({ [place]: 2_000 }, ME, ['']) }).toEqual({ place, is: 'yours' });
      }
      expect(judged({ deep: 2_000 }, ME, ['deep'])).toBe('yours');
      expect(judged({ deep: 2_000 }, ME, ['other'])).toBe('refused');
    });

    test("counts if it is root's, but a file of root isn't mine", () => {
      for (const place of ['deep/er', 'deep', '']) expect(judged({ [place]: 0 })).toBe('yours');
      expect(judged({ 'deep/er/a.json': 0 })).toBe('foreign');
    });

    test('counts for root if it belongs to the user who ran sudo', () => {
      const all = { 'deep/er/a.json': 1_000, 'deep/er': 1_000, deep: 1_000, '': 1_000 };
      expect(judged(all, { uid: 0, sudoUid: '1000' })).toBe('yours');
      expect(judged(all, { uid: 0, sudoUid: '1001' })).toBe('refused');
      expect(judged(all, { uid: 0, sudoUid: undefined })).toBe('refused');
      // Anyone can set the variable.
      expect(judged({ deep: 2_000 }, { uid: 1_000, sudoUid: '2000' })).toBe('refused');
    });

    test('always counts on Windows, where files have no such owner', () => {
      expect(judged({ deep: 2_000 }, { uid: undefined, sudoUid: undefined })).toBe('yours');
    });
  });

  test('of another user is refused', () => {
    const project = createProject({ 'a.json': {} });
    const file = join(project.folder, 'a.json');
    const stats = Object.assign(statSync(file), { uid: 54_321 });
    expect(judgeOf(project).originOf(file, { stats })).toBe('refused');
    const listed = judgeOf(project, { directories: [project.folder] });
    expect(listed.originOf(file, { stats })).toBe('yours');
  });

  test('of the system is used, but not as yours', () => {
    const project = createProject({ 'a.json': {} });
    const file = join(project.folder, 'a.json');
    const isRoot = process.getuid?.() === 0;
    const stats = Object.assign(statSync(file), { uid: 0 });
    expect(judgeOf(project).originOf(file, { stats })).toBe(isRoot ? 'yours' : 'foreign');
  });

  test('is also judged if a link points to it', () => {
    const project = createProject({ 'tracked.json': {} });
    commitAll(project.folder);
    symlinkSync('tracked.json', join(project.folder, 'link.json'));
    expect(originOf(project, 'link.json')).toBe('foreign');
  });
});

describe("Switchboard's home", () => {
  const ME = { uid: 1_000, sudoUid: undefined };
  const HOME = '/home/me/.switchboard';
  const userFile = `${HOME}/switchboard.config.json`;

  function check(owned: Record<string, Partial<Stats>>, user: FileUser = ME): string {
    const mine = { uid: 1_000, mode: 0o644 };
    const statOf = (path: string) => ({ ...mine, ...owned[path] }) as Stats;
    try {
      checkHome({ home: HOME, userFile }, statOf, user);
      return 'used';
    } catch (error) {
      return (error as Error).message;
    }
  }

  test.each([HOME, userFile, `${HOME}/trust.json`, `${HOME}/servers.json`, `${HOME}/config.toml`])(
    'is used only if nobody else can change %s',
    (path) => {
      expect(check({})).toBe('used');
      expect(check({ [path]: { uid: 0 } })).toBe('used');
      expect(check({ [path]: { uid: 2_000 } })).toBe(
        `Refusing to use ${path}. It belongs to another user.`,
      );
      expect(check({ [path]: { mode: 0o666 } })).toBe(
        `Refusing to use ${path}. It is writable by everyone.`,
      );
    },
  );

  test('may belong to the user who ran sudo', () => {
    expect(check({}, { uid: 0, sudoUid: '1000' })).toBe('used');
    expect(check({}, { uid: 0, sudoUid: '2000' })).toContain('It belongs to another user.');
  });
});

test('of 1,000 swaps while a file is read, none makes a tracked text look like yours', async () => {
  const project = createProject({ 'tracked.json': '"foreign"' });
  commitAll(project.folder);
  project.write('own.json', '"own"');
  const { folder, homeFolder } = project;
  const link = join(folder, 'switchboard.config.json');
  const swap = (target: string) => {
    symlinkSync(target, `${link}.new`);
    renameSync(`${link}.new`, link);
  };
  let swaps = 0;
  const found = { yours: 0, foreign: 0, wrong: 0 };
  for (let round = 0; round < 500; round++) {
    for (const [first, then] of [
      ['tracked.json', 'own.json'],
      ['own.json', 'tracked.json'],
    ] as const) {
      swap(first);
      const open = async () => {
        const judge = new FileJudge(REPOSITORY, {
          project: folder,
          home: join(homeFolder, 's'),
          homeFolder,
        });
        return {
          judged: [],
          waiting: 0,
          trusted: [],
          newlyWaiting: [],
          decide: () => 'pending' as const,
          grants: () => false,
          save: () => [],
          isForeignFolder: () => true,
          originOf: (file: string, opened: OpenedFile) => {
            swap(then); // after reading, before judging
            swaps++;
            return judge.originOf(file, opened);
          },
        };
      };
      const gate = new Gate(open, REPOSITORY, {
        project: folder,
        home: join(homeFolder, 's'),
        homeFolder,
      });
      const read = await gate.read(link);
      if (!('text' in read)) throw new Error(read.problem);
      if (read.origin === 'yours' && read.text !== '"own"') found.wrong++;
      else if (read.origin === 'yours') found.yours++;
      else found.foreign++;
    }
  }
  expect(found.wrong).toBe(0);
  expect(swaps).toBeGreaterThanOrEqual(1_000);
});

test('a file that another program saves while it is read is read again', async () => {
  const project = createProject({ 'a.json': '"old"' });
  const { folder, homeFolder } = project;
  const file = join(folder, 'a.json');
  const folders = { project: folder, home: join(homeFolder, 's'), homeFolder };
  const judge = new FileJudge(REPOSITORY, folders);
  const judgeOrigin = judge.originOf.bind(judge);
  let saves = 0;
  const saveAlways = (): void => {
    writeFileSync(`${file}.new`, `"saved ${++saves}"`);
    renameSync(`${file}.new`, file);
  };
  let mostSaves = 2;
  judge.originOf = (...about) => {
    if (saves < mostSaves) saveAlways();
    return judgeOrigin(...about);
  };
  const gate = new Gate(async () => judge, REPOSITORY, folders);
  expect(await gate.read(file)).toMatchObject({ text: '"saved 2"', origin: 'yours' });
  mostSaves = Infinity;
  expect(await gate.read(file)).toMatchObject({ origin: 'foreign' });
});

test('the text and the facts about a file belong together', () => {
  const project = createProject({ 'a.json': '"a"' });
  const file = join(project.folder, 'a.json');
  const read = readOpenedFile(file);
  if (!('text' in read)) throw new Error(read.problem);
  expect([read.text, read.stats.ino]).toEqual(['"a"', statSync(file).ino]);
});

describe('a decision', () => {
  const subject = (file: string, origin: Subject['origin'], text = 'one'): Subject => ({
    kind: 'descriptions',
    name: 'mcp-descriptions.json',
    file,
    origin,
    content: () => ({ text }),
  });

  test('is bound to content, and changes with it', async () => {
    const project = createProject();
    const file = project.write('a.json', {});
    const home = join(project.homeFolder, '.switchboard');
    const judge = judgeOf(project);
    expect(judge.decide(subject(file, 'foreign'))).toBe('pending');
    await recordDecisions(home, judge.judged, 'approved');
    const later = judgeOf(project);
    expect([
      later.decide(subject(file, 'foreign')),
      later.decide(subject(file, 'foreign', 'two')),
      later.waiting,
    ]).toEqual(['approved', 'changed', 1]);
    expect(statSync(join(home, 'trust.json')).mode & 0o777).toBe(0o600);
  });

  test('against something is remembered, even after it changes', async () => {
    const project = createProject();
    const file = project.write('a.json', {});
    const home = join(project.homeFolder, '.switchboard');
    const judge = judgeOf(project);
    judge.decide(subject(file, 'foreign'));
    await recordDecisions(home, judge.judged, 'denied');
    const later = judgeOf(project);
    expect([
      later.decide(subject(file, 'foreign', 'two')),
      later.decide(subject(file, 'yours', 'three')),
    ]).toEqual(['denied', 'denied']);
    await recordDecisions(home, later.judged, 'revoked');
    expect(judgeOf(project).decide(subject(file, 'foreign', 'two'))).toBe('pending');
  });

  test('keeps what is yours trusted after it is committed', () => {
    const project = createProject();
    const file = project.write('a.json', {});
    mkdirSync(join(project.homeFolder, '.switchboard'));
    const judge = judgeOf(project);
    expect(judge.decide(subject(file, 'yours'))).toBe('approved');
    judge.save();
    commitAll(project.folder);
    const later = judgeOf(project);
    expect([
      later.decide(subject(file, 'foreign')),
      later.decide(subject(file, 'foreign', 'pulled')),
    ]).toEqual(['approved', 'changed']);
  });

  test('counts in every worktree, but not in another clone or a nested repository', async () => {
    const project = createProject({ 'a.json': {} });
    const { folder, homeFolder } = project;
    commitAll(folder);
    const home = join(homeFolder, '.switchboard');
    const tree = join(homeFolder, 'tree');
    const clone = join(homeFolder, 'clone');
    git(folder, 'worktree', 'add', '--quiet', tree);
    git(folder, 'clone', '--quiet', folder, clone);
    const judge = judgeOf(project);
    judge.decide(subject(join(folder, 'a.json'), 'foreign'));
    await recordDecisions(home, judge.judged, 'approved');
    mkdirSync(join(folder, 'nested'));
    writeFileSync(join(folder, 'nested/a.json'), '{}');
    commitAll(join(folder, 'nested'));
    const verdicts = [tree, clone, join(folder, 'nested')].map((place) => {
      const folders = { project: place, home, homeFolder: join(homeFolder, 'elsewhere') };
      return new FileJudge(REPOSITORY, folders).decide(subject(join(place, 'a.json'), 'foreign'));
    });
    expect(verdicts).toEqual(['approved', 'pending', 'pending']);
  });

  test('that is too long to be read again is shortened or refused', async () => {
    const project = createProject();
    const home = join(project.homeFolder, '.switchboard');
    const judged = (count: number, name: string) => {
      const judge = judgeOf(project);
      for (let number = 0; number < count; number++) {
        judge.decide({ ...subject('/p', 'foreign', `${number}${'x'.repeat(60_000)}`), name });
      }
      return judge.judged;
    };
    await recordDecisions(home, judged(1, 'one'), 'denied');
    await recordDecisions(home, judged(300, 'many'), 'denied');
    expect(readTrustStore(home)).toMatchObject({ isDamaged: false, records: { size: 301 } });
    const huge = judged(1, 'x'.repeat(9 << 20));
    await expect(recordDecisions(home, huge, 'denied')).rejects.toMatchObject({
      code: 'CONFIG_NOT_CHANGED',
    });
    expect(readTrustStore(home)).toMatchObject({ isDamaged: false, records: { size: 301 } });
  });

  test.each([
    ['is damaged', (file: string) => writeFileSync(file, '{"form":1,')],
    ['is a folder', (file: string) => mkdirSync(file)],
    ['is too large', (file: string) => writeFileSync(file, ' '.repeat(17 << 20))],
    ['has another form', (file: string) => writeFileSync(file, '{"form":2}')],
  ])('against something may be in a file that %s, so nothing is trusted', async (_what, spoil) => {
    const project = createProject({ 'a.json': {} });
    const home = join(project.homeFolder, '.switchboard');
    mkdirSync(home);
    spoil(join(home, 'trust.json'));
    const judge = judgeOf(project);
    expect(judge.decide(subject(join(project.folder, 'a.json'), 'yours'))).toBe('pending');
    expect(judge.problem).toContain('trust.json');
    judge.save();
    expect(readTrustStore(home).isDamaged).toBe(true);
  });

  test('in a damaged file approves nothing, and is not overwritten', async () => {
    const project = createProject();
    const file = project.write('a.json', {});
    const home = join(project.homeFolder, '.switchboard');
    mkdirSync(home);
    writeFileSync(join(home, 'trust.json'), '{"form":1,');
    const judge = judgeOf(project);
    expect(judge.decide(subject(file, 'foreign'))).toBe('pending');
    await expect(recordDecisions(home, judge.judged, 'approved')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    expect(readTrustStore(home).isDamaged).toBe(true);
    rmSync(join(home, 'trust.json'));
    await recordDecisions(home, judge.judged, 'approved');
    expect(judgeOf(project).decide(subject(file, 'foreign'))).toBe('approved');
  });
});
