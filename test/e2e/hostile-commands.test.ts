// Every command in a hostile repository, whatever the main file is: nothing of it runs, reaches an address, learns a
// secret or is shown. Only `switchboard trust` shows what is in the files.
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { commandNames, commandsWith } from '../support/every-command.ts';
import {
  HOSTILE,
  hostileProject,
  MAIN_FILES,
  type MainFile,
  NO_TRACES,
  SECRET,
  tracesOf,
} from '../support/hostile.ts';
import { RawHost } from '../support/raw-host.ts';

const COMMANDS = commandsWith({
  server: 'eager',
  other: 'expands',
  remote: 'remote',
  assisted: 'assisted',
  folder: 'mcps/second',
  agent: 'evil',
});

const MORE = [
  ['tools', 'stream'],
  ['show', 'flip', '--start', 'eager', '--user'],
  ['assistant', 'second', 'on'],
  ['assistant', 'serve', '--folder', 'mcps/wrapped'],
  ['agents', 'mine', '--check'],
  ['permissions', 'explain', 'files', 'click'],
  ['login', 'account', '--no-browser'],
  ['logout', 'account'],
];

test('this covers every command of the program', () => {
  expect(Object.keys(COMMANDS).sort()).toEqual(commandNames().sort());
});

/** Commands that load the configuration in different ways. The others load it like one of these. */
const LOADING = [
  ['tools'],
  ['config', 'check'],
  ['config', 'print'],
  ['doctor'],
  ['status'],
  ['agents'],
  ['run', 'evil', 'do it'],
  ['assistant', 'serve', '--folder', 'mcps/wrapped'],
  ['show', 'flip', '--start', 'eager', '--user'],
];

/** Every command with a main file that is data, with one that is code, and with an invalid one. */
const TRIED: readonly (readonly [MainFile, readonly string[], 'every command' | 'loading'])[] = [
  ['json', ['--json'], 'every command'],
  ...MAIN_FILES.map((main) => {
    const isWhole = ['mjs', 'invalid'].includes(main);
    return [main, [], isWhole ? 'every command' : 'loading'] as const;
  }),
];

describe.each(TRIED)('in a hostile repository (%s %s), %s', (main, flags, which) => {
  test('run none of it and show none of its text', async () => {
    const project = await hostileProject({ main });
    const host = await RawHost.connect(project);
    const commands = which === 'loading' ? LOADING : [...Object.values(COMMANDS).flat(), ...MORE];
    for (const args of commands) {
      const command = [...args, ...flags];
      const { stdout, stderr } = await runSwitchboard(project, command, { input: SECRET });
      const traces = tracesOf(project, stdout + stderr);
      expect({ command, ...traces }).toEqual({ command, ...NO_TRACES });
    }
    const said = host.texts.join('\n') + (await host.lastWords());
    expect(tracesOf(project, said)).toEqual(NO_TRACES);
  });

  test('show it in full if the user asks, and still run nothing', async () => {
    const project = await hostileProject({ main });
    for (const args of [['trust'], ['trust', 'diff'], ['trust', 'list', '--json']]) {
      const { status, stdout } = await runSwitchboard(project, args);
      expect({ args, status }).toEqual({ args, status: 0 });
      expect(stdout).toContain(HOSTILE);
      expect(stdout).not.toContain(SECRET);
      expect(stdout).not.toContain('\u200b');
      expect(tracesOf(project, '')).toEqual(NO_TRACES);
    }
  });
});
