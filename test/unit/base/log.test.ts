// The forms of the log, and where its lines go.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLog, type LogSettings } from '../../../src/base/log.ts';
import { createProject } from '../../support/project.ts';

const COMPACT: LogSettings = { level: 'info', form: 'compact', folder: undefined };

/** A log, and what it has written. */
function openLog(settings: Partial<LogSettings> = {}) {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { log: createLog({ ...COMPACT, ...settings }, stream), written: () => text };
}

function setTime(time: string): void {
  vi.useFakeTimers({ now: new Date(time), toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

function sayAll({ log }: ReturnType<typeof openLog>): void {
  log.debug('a detail');
  log.info('hello');
  log.warn('two\nlines');
  log.error('bad \u001b[31mnews\u001b[0m');
  log.child('memory', 'its own "words"');
}

describe('a format', () => {
  test('compact is short, and the default', () => {
    const opened = openLog();
    sayAll(opened);
    expect(opened.written()).toMatchInlineSnapshot(`
      "switchboard: hello
      switchboard: warn: two
        lines
      switchboard: error: bad news
      [memory] its own "words"
      "
    `);
  });

  test('pretty has the time and the level, in columns', () => {
    setTime('2026-03-14T15:09:26.535Z');
    const opened = openLog({ form: 'pretty', level: 'debug' });
    sayAll(opened);
    expect(opened.written()).toMatchInlineSnapshot(`
      "2026-03-14T15:09:26.535Z  DEBUG  switchboard  a detail
      2026-03-14T15:09:26.535Z  INFO   switchboard  hello
      2026-03-14T15:09:26.535Z  WARN   switchboard  two
                                                    lines
      2026-03-14T15:09:26.535Z  ERROR  switchboard  bad news
      2026-03-14T15:09:26.535Z  INFO   [memory]     its own "words"
      "
    `);
  });

  test('json is one object per line', () => {
    setTime('2026-03-14T15:09:26.535Z');
    const opened = openLog({ form: 'json', level: 'debug' });
    sayAll(opened);
    const lines = opened.written().trimEnd().split('\n');
    const timestamp = '2026-03-14T15:09:26.535Z';
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { timestamp, level: 'debug', message: 'a detail' },
      { timestamp, level: 'info', message: 'hello' },
      { timestamp, level: 'warn', message: 'two\nlines' },
      { timestamp, level: 'error', message: 'bad news' },
      { timestamp, level: 'info', server: 'memory', message: 'its own "words"' },
    ]);
  });
});

test('with off nothing is written, not even servers’ output', () => {
  const opened = openLog({ level: 'off' });
  sayAll(opened);
  expect(opened.written()).toBe('');
});

test('adjustments apply from then on, and earlier lines stay', () => {
  const opened = openLog();
  opened.log.debug('not yet');
  opened.log.info('before');
  opened.log.adjust({ ...COMPACT, level: 'debug', form: 'json' });
  opened.log.debug('after');
  const [first = '', second = ''] = opened.written().split('\n');
  expect(first).toBe('switchboard: before');
  expect(JSON.parse(second)).toMatchObject({ level: 'debug', message: 'after' });
});

test('unread lines are dropped and counted', async () => {
  const written: string[] = [];
  let goOn: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString());
      if (written.length === 1) goOn = done;
      else done();
    },
  });
  const log = createLog(COMPACT, stream);
  for (let line = 0; line < 4; line++) log.info('x'.repeat(600_000));
  goOn?.();
  await expect.poll(() => stream.writableLength).toBe(0);
  log.info('again');
  await expect
    .poll(() => written.slice(-2))
    .toEqual([
      'switchboard: 2 log lines dropped because stderr was not read in time.\n',
      'switchboard: again\n',
    ]);
});

describe('with a folder, also writes the log there', () => {
  const filesIn = (folder: string) => readdirSync(folder).sort();

  test('in a private file per day, every line with its time', () => {
    const folder = join(createProject().dir, 'a/b');
    setTime('2026-03-14T23:59:59.000Z');
    const opened = openLog({ folder });
    opened.log.info('late');
    vi.setSystemTime(new Date('2026-03-15T00:00:00.000Z'));
    opened.log.child('memory', 'early');
    opened.log.debug('too small');

    expect(opened.written()).toBe('switchboard: late\n[memory] early\n');
    expect(filesIn(folder)).toEqual(['switchboard.2026-03-14.log', 'switchboard.2026-03-15.log']);
    const [first = '', second = ''] = filesIn(folder).map((name) => join(folder, name));
    expect(readFileSync(first, 'utf8')).toBe('2026-03-14T23:59:59.000Z switchboard: late\n');
    expect(readFileSync(second, 'utf8')).toBe('2026-03-15T00:00:00.000Z [memory] early\n');
    expect(statSync(first).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test('in the same format as on stderr', () => {
    const folder = join(createProject().dir, 'logs');
    const opened = openLog({ folder, form: 'json' });
    opened.log.info('one');
    opened.log.adjust({ level: 'info', form: 'pretty', folder });
    opened.log.info('two');
    const [file = ''] = filesIn(folder);
    expect(readFileSync(join(folder, file), 'utf8')).toBe(opened.written());
  });

  test('and an unwritable folder is one warning', () => {
    const { dir } = createProject();
    mkdirSync(join(dir, 'x'));
    writeFileSync(join(dir, 'x/logs'), 'a file where a folder should be');
    const opened = openLog({ folder: join(dir, 'x/logs') });
    opened.log.info('one');
    opened.log.info('two');
    expect(opened.written().replaceAll(dir, '<project>')).toMatchInlineSnapshot(`
      "switchboard: one
      switchboard: warn: can't write the log to <project>/x/logs: Error: EEXIST: file already exists, mkdir '<project>/x/logs'
      switchboard: two
      "
    `);
  });

  test('from the moment it is set', () => {
    const folder = join(createProject().dir, 'logs');
    const opened = openLog();
    opened.log.info('before');
    opened.log.adjust({ ...COMPACT, folder });
    opened.log.info('after');
    const [file = ''] = filesIn(folder);
    expect(readFileSync(join(folder, file), 'utf8')).toMatch(/^\S+Z switchboard: after\n$/);
    opened.log.adjust(COMPACT);
    opened.log.info('no more');
    expect(readFileSync(join(folder, file), 'utf8')).not.toContain('no more');
    expect(opened.written().trimEnd().split('\n')).toHaveLength(3);
  });
});
