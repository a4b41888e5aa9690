// What V8 has compiled at one start is kept beside the program for the next one. It is a help and
// nothing more: without it, or with a broken one, the program runs as it does the first time.
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/processes.ts';
import { configWith, createProject, type Project, ROOT } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import { MOCK_CHILD } from '../support/servers.ts';

interface Copy {
  readonly project: Project;
  readonly program: string;
  /** What is kept, by its path. */
  readonly kept: () => string[];
}

/** The program in a folder of its own, in which it has never run. */
function copyProgram(): Copy {
  const project = createProject(configWith({ mock: MOCK_CHILD }));
  const chunks = join(project.dir, 'program/dist/chunks');
  cpSync(join(ROOT, 'package.json'), join(project.dir, 'program/package.json'));
  cpSync(join(ROOT, 'dist'), join(project.dir, 'program/dist'), {
    recursive: true,
    filter: (file) => !/start-\w+\.txt\../.test(file),
  });
  return {
    project,
    program: join(project.dir, 'program/dist/index.js'),
    kept: () =>
      readdirSync(chunks)
        .filter((name) => /^start-\w+\.txt\../.test(name))
        .map((name) => join(chunks, name)),
  };
}

/** Serves until something is kept; gives where. */
async function runUntilKept({ project, program, kept }: Copy): Promise<string> {
  const host = await RawHost.connect(project, { program });
  expect(await host.toolNames()).toEqual(['mock_suite']);
  expect(await eventually(() => kept().length > 0)).toBe(true);
  await endOf(host);
  const [file = ''] = kept();
  expect(kept()).toEqual([file]);
  return file;
}

async function endOf(host: RawHost): Promise<void> {
  host.process.stdin?.end();
  expect(await host.exited).toEqual({ code: 0, signal: null });
  const stderr = await host.lastWords();
  expect({ stderr, impure: host.impure }).toEqual({ stderr: '', impure: [] });
}

test('the next start uses the saved code and leaves it unchanged', async () => {
  const copy = copyProgram();
  const file = await runUntilKept(copy);
  const { ino } = statSync(file);
  const host = await RawHost.connect(copy.project, copy);
  expect(await host.call('mock', 'click', { selector: '#a' })).toMatchObject({
    result: { ok: true, name: 'click' },
  });
  await outlastKeeping(copy);
  expect(statSync(file).ino).toBe(ino);
  await endOf(host);
});

test.each([
  ['nothing', () => Buffer.alloc(0)],
  ['a few bytes', () => Buffer.from('abc')],
  ['text', () => Buffer.from('This is not what a compiler makes.'.repeat(1000))],
  ['the first half', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
  ['one wrong byte', withWrongByte],
  ['zeros from the middle on', (whole: Buffer) => Buffer.from(whole).fill(0, whole.length / 2)],
])('%s in its place is ignored and replaced', async (_, breakIt) => {
  const copy = copyProgram();
  const file = await runUntilKept(copy);
  const whole = readFileSync(file);
  writeFileSync(file, breakIt(whole));
  const { ino } = statSync(file);
  const host = await RawHost.connect(copy.project, copy);
  expect(await host.toolNames()).toEqual(['mock_suite']);
  expect(await eventually(() => statSync(file).ino !== ino)).toBe(true);
  await endOf(host);
  const again = await RawHost.connect(copy.project, copy);
  expect(await again.toolNames()).toEqual(['mock_suite']);
  await endOf(again);
});

const uid = process.getuid?.();
/** Nobody else is in a group with the user's own number. */
const hasOwnGroup = uid !== 0 && uid === process.getgid?.();

type Loosening = [string, (file: string) => void];
const LOOSENINGS: Loosening[] = [['others can write to it', (file) => chmodSync(file, 0o646)]];
if (!hasOwnGroup) LOOSENINGS.push(['its group can write to it', (file) => chmodSync(file, 0o664)]);
// Only root can give a file away.
if (uid === 0) LOOSENINGS.push(['it belongs to somebody else', (file) => chownSync(file, 4242, 0)]);

test.each(LOOSENINGS)('is replaced instead of used if %s', async (_, loosen) => {
  const copy = copyProgram();
  const file = await runUntilKept(copy);
  loosen(file);
  const { ino } = statSync(file);
  const host = await RawHost.connect(copy.project, copy);
  expect(await host.toolNames()).toEqual(['mock_suite']);
  expect(await eventually(() => statSync(file).ino !== ino)).toBe(true);
  await endOf(host);
});

test.each(hasOwnGroup ? [0o757] : [0o775, 0o757])(
  'nothing is saved or used in a folder with mode %o',
  async (mode) => {
    const copy = copyProgram();
    const file = await runUntilKept(copy);
    chmodSync(dirname(file), mode);
    rmSync(file);
    const host = await RawHost.connect(copy.project, copy);
    expect(await host.toolNames()).toEqual(['mock_suite']);
    await outlastKeeping(copy);
    expect(copy.kept()).toEqual([]);
    await endOf(host);
  },
);

test('the program serves silently if nothing can be saved', async () => {
  const copy = copyProgram();
  const file = await runUntilKept(copy);
  const inTheWay = copyProgram();
  mkdirSync(file.replace(copy.project.dir, inTheWay.project.dir));
  const host = await RawHost.connect(inTheWay.project, {
    ...inTheWay,
    env: { RUST_LOG: 'debug' },
  });
  expect(await eventually(() => host.stderr.includes('cannot save compiled code'))).toBe(true);
  expect(await host.toolNames()).toEqual(['mock_suite']);
  // Nothing half written lies beside it.
  expect(inTheWay.kept()).toHaveLength(1);
});

test('concurrent first starts save one complete file', async () => {
  const copy = copyProgram();
  const hosts = await Promise.all(
    Array.from({ length: 4 }, () => RawHost.connect(copy.project, copy)),
  );
  expect(await eventually(() => copy.kept().some((name) => !name.endsWith('.new')))).toBe(true);
  await Promise.all(hosts.map(endOf));
  const [file = ''] = copy.kept();
  expect(copy.kept()).toEqual([file]);
  const { ino } = statSync(file);
  const host = await RawHost.connect(copy.project, copy);
  await outlastKeeping(copy);
  expect(statSync(file).ino).toBe(ino);
  await endOf(host);
});

test('the package does not ship another machine’s code', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    files: string[];
  };
  expect(files).toContain('!dist/chunks/*.txt.*');
});

function withWrongByte(whole: Buffer): Buffer {
  const broken = Buffer.from(whole);
  const middle = broken.length >> 1;
  broken.writeUInt8(broken.readUInt8(middle) ^ 0xff, middle);
  return broken;
}

/** Until a program that was started now would have kept something: another one has. */
async function outlastKeeping(copy: Copy): Promise<void> {
  const other = copyProgram();
  await runUntilKept({ ...other, project: copy.project });
}
