// Part H of the faults: files that are broken or gone, and programs that share them.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processPlace } from '../../src/base/process-table.ts';
import { type Trial, until, withFaults } from '../support/faults.ts';
import { eventually } from '../support/processes.ts';
import { textOf } from '../support/raw-host.ts';

const childFile = (folder: string) => `.switchboard/mcps/${folder}/.mcp.json`;

const BROKEN = {
  [childFile('cut')]: '{"name": "cut", ',
  [childFile('empty')]: '',
  [childFile('array')]: '[]',
  [childFile('scalar')]: '7',
  [childFile('nul')]: '\u0000\u0000',
  [childFile('nameless')]: { command: 'node' },
  [childFile('wrong-types')]: { name: 'wrong-types', command: { cmd: 42, args: 'x' } },
  [childFile('hostile')]: '{"name": "hostile", "__proto__": {"command": "node"}, "env": {"A": []}}',
  [childFile('folder/.mcp.json')]: 'a folder in the place of the file',
};

test('broken child files are reported and affect no other server', () =>
  withFaults(
    {},
    async (trial) => {
      const { host } = trial;
      const sound = {
        [childFile('evil')]: { name: '../../evil', command: 'node' },
        [childFile('marked')]:
          `\ufeff${JSON.stringify({ name: 'marked', ...trial.entry('marked', {}) })}`,
        [childFile('one')]: { name: 'one', ...trial.entry('one', {}) },
        [childFile('zwo')]: { name: 'one', ...trial.entry('zwo', {}) },
        [childFile('no-command')]: { name: 'no-command' },
      };
      for (const [path, content] of Object.entries(sound)) trial.project.write(path, content);
      const next = await trial.start();

      const list = await next.request('tools/list');
      const tools = list.result?.['tools'] as { name: string }[];
      const names = tools.map(({ name }) => name);
      expect(names.sort()).toEqual(
        [
          'calm_suite',
          '______evil_suite',
          'marked_suite',
          'no-command_suite',
          'one_suite',
          // Their files have a name, so they are listed, and say what is wrong when they are used.
          'wrong-types_suite',
          'hostile_suite',
        ].sort(),
      );
      for (const name of ['wrong-types', 'hostile']) {
        const said = trial.failure(await next.call(name, 'echo'));
        expect(said).toContain(`Server "${name}" has an invalid configuration`);
      }
      expect(textOf(await next.call('one', 'echo', { text: 'sound' }))).toBe('sound');
      expect(textOf(await next.call('marked', 'echo', { text: 'sound' }))).toBe('sound');
      expect(trial.journal('zwo')).toEqual([]); // the first of two with one name is used
      expect(trial.failure(await next.call('no-command', 'echo'))).toContain(
        'has neither a "command" nor a "url"',
      );
      for (const path of Object.keys(BROKEN)) {
        const file = path.replace('/.mcp.json/.mcp.json', '/.mcp.json');
        await until(() => host.stderr.includes(file), `${file} is named`);
      }
      const twice = 'Server "one" is declared twice';
      await until(() => next.stderr.includes(twice), 'it is said that there are two');
    },
    { files: BROKEN },
  ));

test('two programs with the same folder and home do not disturb each other', () =>
  withFaults({ kid: {} }, async (trial) => {
    const hosts = [trial.host, await trial.start()];
    const texts = Array.from({ length: 20 }, (_, n) => `call ${n}`);
    const answers = await Promise.all(
      hosts.flatMap((host) => texts.map((text) => host.call('kid', 'echo', { text }))),
    );

    expect(answers.map(textOf)).toEqual([...texts, ...texts]);
    const lists = await Promise.all(hosts.map((host) => host.introspect('kid')));
    expect(lists[0]?.result).toEqual(lists[1]?.result);
    expect(trial.journal('kid', 'start')).toHaveLength(2); // each has its own
  }));

test.skipIf(!existsSync('/proc/self/fd'))(
  'after twelve crashes no more files are open than before',
  () => {
    const names = ['kid1', 'kid2', 'kid3'];
    return withFaults(Object.fromEntries(names.map((name) => [name, {}])), async (trial) => {
      const { host } = trial;
      const openFiles = () => readdirSync(`/proc/${host.process.pid}/fd`).length;
      for (const name of names) await host.call(name, 'echo');
      // What it opens once, a moment after its start.
      const run = join(trial.project.dir, 'home/.switchboard/run');
      const isOpen = () => readdirSync(run).some((file) => file.endsWith('.endpoint'));
      await until(() => existsSync(run) && isOpen(), 'its control endpoint is open');
      const before = openFiles();

      for (let round = 0; round < 4; round++) {
        for (const name of names) {
          trial.failure(await host.call(name, 'crash'));
          expect(textOf(await host.call(name, 'echo', { text: 'back' }))).toBe('back');
        }
      }

      await eventually(() => openFiles() <= before);
      expect(openFiles()).toBeLessThanOrEqual(before);
    });
  },
);

test('an unwritable home does not prevent servers from working', () =>
  withFaults(
    { kid: {}, logged: { stderr: 'log' } },
    async ({ host }) => {
      for (const name of ['kid', 'logged']) {
        expect(textOf(await host.call(name, 'echo', { text: 'works' }))).toBe('works');
        const print = { before: 'a word\n', to: 'stderr' };
        expect(textOf(await host.call(name, 'print', print))).toBe('printed');
      }
    },
    { files: { 'home/.switchboard': 'a file in the place of the folder' } },
  ));

test('a log folder that disappears costs log lines, not the program', () =>
  withFaults({ kid: { stderr: 'log' } }, async (trial) => {
    const { host, project } = trial;
    const logs = join(project.dir, 'home/.switchboard/logs');
    await logLine(trial, 'the first line');
    await until(() => existsSync(logs), 'it is written');
    rmSync(logs, { recursive: true });
    project.write('home/.switchboard/logs', 'a file in the place of the folder');

    await logLine(trial, 'the second line');

    expect(textOf(await host.call('kid', 'echo', { text: 'works' }))).toBe('works');
  }));

test('odd files among the run notes are harmless, and foreign ones are left alone', () =>
  withFaults(
    { kid: { faults: ['stubborn'] } },
    async (trial) => {
      const { host, project } = trial;
      const pid = textOf(await host.call('kid', 'pid'));
      // A note of a run that is gone, which names a process that is not its own.
      const notes = join(project.dir, 'home/.switchboard/run');
      const note = { start: '0', place: processPlace(), groups: [Number(pid), 1, -1] };
      const stranger = project.write('home/.switchboard/run/99999999-a-stranger', note);
      const foreign = project.write('home/.switchboard/run/99999996-a-foreign', {
        ...note,
        place: 'another machine',
      });
      mkdirSync(join(notes, '99999998-a-folder'));

      const next = await trial.start();
      await until(() => !existsSync(stranger), 'the note is cleared away');
      expect(existsSync(foreign)).toBe(true);

      await trial.askNeighbour(next);
      expect(textOf(await host.call('kid', 'pid'))).toBe(pid);
    },
    {
      files: {
        'home/.switchboard/run/garbage': 'garbage',
        'home/.switchboard/run/-1-x': '0\n1\n',
        'home/.switchboard/run/99999997-a-text': 'one\ntwo\n\n',
      },
    },
  ));

async function logLine({ host }: Trial, line: string): Promise<void> {
  await host.call('kid', 'print', { before: `${line}\n`, to: 'stderr' });
}
