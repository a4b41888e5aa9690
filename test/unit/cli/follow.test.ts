// Following a log file that is replaced, emptied, or not there yet.
import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { followFile } from '../../../src/cli/status/follow.ts';
import { createProject } from '../../support/project.ts';

function follow(file: string, position = 0) {
  const end = new Cancellation();
  let text = '';
  const done = followFile(file, position, end, (more) => {
    text += more;
  });
  const stop = (): Promise<void> => {
    end.cancel(new Error('enough'));
    return done;
  };
  onTestFinished(stop);
  return { text: () => text, stop };
}

const createFile = () => join(createProject().dir, 'kid.log');

test('begins at a position, and goes on with the file that replaces a full one', async () => {
  const file = createFile();
  writeFileSync(file, 'old\nnew\n');
  const { text, stop } = follow(file, 4);
  await expect.poll(text).toBe('new\n');
  appendFileSync(file, 'late\n');
  renameSync(file, `${file}.1`);
  appendFileSync(`${file}.1`, 'latest\n');
  writeFileSync(file, 'next ü\n');
  await expect.poll(text).toBe('new\nlate\nlatest\nnext ü\n');
  await stop();
});

test('goes on with a file that was copied and emptied', async () => {
  const file = createFile();
  writeFileSync(file, 'one\n');
  const { text } = follow(file);
  await expect.poll(text).toBe('one\n');
  appendFileSync(file, 'two\n');
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
  appendFileSync(file, '3\n');
  await expect.poll(text).toMatch(/3\n$/);
  expect(text()).toBe('one\ntwo\n3\n');
});

test('waits for a file that is not there yet', async () => {
  const file = createFile();
  const { text, stop } = follow(file);
  writeFileSync(file, 'first\n');
  await expect.poll(text).toBe('first\n');
  await stop();
});
