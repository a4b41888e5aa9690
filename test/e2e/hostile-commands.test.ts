// Every command in a hostile repository, whatever the main file is: nothing of it runs, reaches an address, learns a
// secret or is shown. Only `switchboard trust` shows what is in the files.
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { runSwitchboard } from '../support/command.ts';
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

/** How to run each command, so that it gets as far as it can. */
const COMMANDS: Record<string, readonly string[][]> = {
  '': [['--dry-run'], ['--version']],
  serve: [['serve']],
  tools: [['tools'], ['tools', 'eager'], ['tools', 'remote', 'x']],
  call: [
    ['call', 'eager.click'],
    ['call', 'remote.click'],
    ['call', 'expands.click'],
  ],
  show: [
    ['show'],
    ['show', 'eager'],
    ['show', 'eager', 'direct'],
    ['show', 'flip', '--start', 'eager', '--user'],
  ],
  assistant: [
    ['assistant'],
    ['assistant', 'assisted', 'status'],
    ['assistant', 'second', 'on', '--dry-run'],
    ['assistant', 'second', 'on'],
    ['assistant', 'assisted', 'off'],
  ],
  'assistant serve': [
    ['assistant', 'serve', 'assisted'],
    ['assistant', 'serve', '--folder', 'mcps/second', '--tools'],
    ['assistant', 'serve', '--folder', 'mcps/wrapped'],
  ],
  doctor: [['doctor'], ['doctor', 'eager']],
  changes: [['changes'], ['changes', 'eager']],
  'changes accept': [
    ['changes', 'accept'],
    ['changes', 'accept', 'eager'],
  ],
  scan: [['scan'], ['scan', 'eager']],
  trust: [['trust', 'nonsense']],
  status: [['status'], ['status', 'eager']],
  reload: [['reload']],
  agents: [['agents'], ['agents', '--check'], ['agents', 'evil'], ['agents', 'mine', '--check']],
  run: [['run', 'evil', 'go']],
  login: [
    ['login', 'remote', '--no-browser'],
    ['login', 'account', '--no-browser'],
  ],
  logout: [
    ['logout', 'remote'],
    ['logout', 'account'],
  ],
  audit: [['audit'], ['audit', 'verify'], ['audit', 'export']],
  config: [['config']],
  'config check': [['config', 'check']],
  'config print': [['config', 'print']],
  'config schema': [['config', 'schema']],
  permissions: [['permissions']],
  'permissions explain': [
    ['permissions', 'explain', 'eager', 'click'],
    ['permissions', 'explain', 'files', 'click'],
  ],
  secret: [['secret']],
  'secret set': [['secret', 'set', 'stolen']],
  'secret list': [['secret', 'list']],
  'secret rm': [['secret', 'rm', 'other']],
  'secret move': [
    ['secret', 'move', '--dry-run'],
    ['secret', 'move'],
  ],
  skill: [['skill']],
  'skill install': [['skill', 'install', '--no-register']],
  'skill uninstall': [['skill', 'uninstall', '--no-register']],
  import: [['import'], ['import', '.mcp.json', '--dry-run']],
  help: [['help']],
};

function namesBelow(command: Command): string[] {
  return command.commands.flatMap((one) => [
    one.name(),
    ...namesBelow(one).map((name) => `${one.name()} ${name}`),
  ]);
}

test('this covers every command of the program', () => {
  const program = buildProgram(() => async () => {});
  expect(Object.keys(COMMANDS).sort()).toEqual(['', ...namesBelow(program)].sort());
});

const isCore = process.env['PLACES'] === 'core';
/** `npm test` tries the JSON file, and the thorough tests `--json` and all other files. */
const TRIED: readonly (readonly [MainFile, readonly string[]])[] = isCore
  ? [['json', []]]
  : MAIN_FILES.map((main) => [main, main === 'json' ? ['--json'] : []]);

describe.each(TRIED)('commands in a hostile repository (%s %s)', (main, flags) => {
  test('run nothing of it and show none of its text', async () => {
    const project = await hostileProject({ main });
    const host = await RawHost.connect(project);
    for (const args of Object.values(COMMANDS).flat()) {
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
