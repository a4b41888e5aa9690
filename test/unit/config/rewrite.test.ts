import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rewriteFile } from '../../../src/config/change/rewrite.ts';

function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-rewrite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = mkdtempSync(join(tmpdir(), 'switchboard-rewrite-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(folder, 'file.json');
  const backups = join(home, 'backups');
  const rewrite = (edit: (text: string | undefined) => string | Promise<string>) =>
    rewriteFile(file, async (text) => edit(text), { home, mode: 0o600 });
  const read = () => readFileSync(file, 'utf8');
  return { folder, file, home, backups, rewrite, read };
}

test('a missing file is created, and an unchanged one is not touched', async () => {
  const { folder, backups, rewrite, read } = createFolder();
  expect(await rewrite((text) => `${text}`)).toEqual({ isChanged: true, backup: undefined });
  expect(read()).toBe('undefined');
  expect(await rewrite((text) => `${text}`)).toEqual({ isChanged: false, backup: undefined });
  expect(readdirSync(folder)).toEqual(['file.json']);
  expect(existsSync(backups)).toBe(false);
});

test('a file can be removed, with a backup, once', async () => {
  const { file, home, backups } = createFolder();
  writeFileSync(file, 'before');
  const remove = () => rewriteFile(file, async () => null, { home, mode: 0o600 });
  const { backup = '', ...rest } = await remove();
  expect(rest).toEqual({ isChanged: true, isRemoved: true });
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(backup, 'utf8')).toBe('before');
  expect(await remove()).toEqual({ isChanged: false, backup: undefined });
  expect(readdirSync(backups)).toHaveLength(1);
});

test('a dry run reports the same and writes nothing', async () => {
  const { file, home, backups, read } = createFolder();
  writeFileSync(file, 'before');
  const rehearse = (after: string | null) =>
    rewriteFile(file, async () => after, { home, mode: 0o600, dryRun: true });
  const backup = expect.stringContaining(backups);
  expect(await rehearse('after')).toEqual({ isChanged: true, backup });
  expect(await rehearse(null)).toEqual({ isChanged: true, isRemoved: true, backup });
  expect(await rehearse('before')).toEqual({ isChanged: false, backup: undefined });
  expect(read()).toBe('before');
  expect(readdirSync(home)).toEqual([]);
});

test('a concurrent change by another program is kept, and ours is refused', async () => {
  const { folder, file, rewrite, read } = createFolder();
  writeFileSync(file, 'before');
  const edited = rewrite((text) => {
    writeFileSync(file, 'by an editor');
    return `${text} and ours`;
  });
  await expect(edited).rejects.toMatchObject({
    code: 'CONFIG_NOT_CHANGED',
    message: `${file} was changed by another program.`,
  });
  expect(read()).toBe('by an editor');
  expect(readdirSync(folder)).toEqual(['file.json']);
});

test.each(['created', 'removed'])('so is a file that is %s meanwhile', async (what) => {
  const { file, rewrite } = createFolder();
  if (what === 'removed') writeFileSync(file, 'before');
  const edited = rewrite(() => {
    if (what === 'removed') rmSync(file);
    else writeFileSync(file, 'by an editor');
    return 'ours';
  });
  await expect(edited).rejects.toThrow('was changed by another program');
  expect(existsSync(file)).toBe(what === 'created');
});

test('a failed edit leaves everything unchanged, and the next one works', async () => {
  const { folder, file, rewrite, read } = createFolder();
  writeFileSync(file, 'before');
  const failed = rewrite(() => {
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect(readdirSync(folder)).toEqual(['file.json']);
  await rewrite(() => 'after');
  expect(read()).toBe('after');
});

test('a second edit waits, and works on the first one’s result', async () => {
  const { rewrite, read } = createFolder();
  const order: string[] = [];
  let second: Promise<unknown> | undefined;
  await rewrite(async (text) => {
    second = rewrite((left) => {
      order.push('second');
      return `${left ?? ''}2`;
    });
    await new Promise((resolve) => setImmediate(resolve)); // it has tried and found us here
    order.push('first');
    return `${text ?? ''}1`;
  });
  await second;
  expect(order).toEqual(['first', 'second']);
  expect(read()).toBe('12');
});

test('other files next to it, with any name, lock no one out', async () => {
  const { folder, file, rewrite, read } = createFolder();
  for (const name of [`${file}.new`, `${file}.lock`]) writeFileSync(name, '');
  await rewrite(() => 'ours');
  expect(read()).toBe('ours');
  expect(readdirSync(folder)).toEqual(['file.json', 'file.json.lock', 'file.json.new']);
});

test('a program killed while holding the lock does not lock out the next', async () => {
  const { file, home, read, rewrite } = createFolder();
  const module = new URL('../../../src/config/change/rewrite.ts', import.meta.url).href;
  const script = `
    import { rewriteFile } from ${JSON.stringify(module)};
    await rewriteFile(${JSON.stringify(file)}, async () => {
      process.stdout.write('locked');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    }, { home: ${JSON.stringify(home)}, mode: 0o600 });
  `;
  const other = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void other.kill('SIGKILL'));
  expect(String(await once(other.stdout, 'data'))).toBe('locked');
  other.kill('SIGKILL');
  await once(other, 'exit');
  expect(readdirSync(join(home, 'locks'))).toHaveLength(1);
  await rewrite(() => 'ours');
  expect(read()).toBe('ours');
  expect(readdirSync(join(home, 'locks'))).toEqual([]);
});

test('a file that is not UTF-8 is left alone: as text it would lose something', async () => {
  const { file, rewrite } = createFolder();
  const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
  writeFileSync(file, bytes);
  await expect(rewrite(() => '{}')).rejects.toThrow(`${file} is not UTF-8.`);
  expect(readFileSync(file)).toEqual(bytes);
});

test('a link loop is a system error', async () => {
  const { folder, file, rewrite } = createFolder();
  symlinkSync(join(folder, 'other'), file);
  symlinkSync(file, join(folder, 'other'));
  await expect(rewrite(() => '{}')).rejects.toMatchObject({
    code: 'CONFIG_NOT_CHANGED',
    hint: expect.stringContaining('ELOOP'),
  });
});

test('the last twenty versions of a file are kept, and those of other files', async () => {
  const { backups, rewrite } = createFolder();
  await rewrite(() => '0');
  await rewrite(() => '1');
  writeFileSync(join(backups, 'file.json.00000000.of-another-project'), '');
  for (let text = 2; text <= 25; text++) {
    await rewrite(() => `${text}`);
  }
  const kept = readdirSync(backups).filter((name) => !name.startsWith('file.json.00000000.'));
  const texts = kept.sort().map((name) => readFileSync(join(backups, name), 'utf8'));
  expect(texts).toEqual(Array.from({ length: 20 }, (_, index) => `${index + 5}`));
  expect(readdirSync(backups)).toHaveLength(21);
});
