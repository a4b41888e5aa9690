// What is said about commands that do not exist.
import { expect, test } from 'vitest';
import { buildProgram } from '../../../src/cli/program.ts';
import { adviceFor } from '../../../src/cli/unknown-command.ts';

const program = buildProgram(() => async () => {});
const COMMANDS = program.commands.map((command) => command.name());
const CONFIG = ['check', 'print', 'schema'];

test.each([
  ['tols', 'Did you mean: switchboard tools'],
  ['log', 'Did you mean: switchboard logs'],
  ['add', expect.stringContaining('switchboard import <file>')],
  ['LIST', expect.stringContaining('switchboard show')],
  ['start', 'Did you mean: switchboard serve'],
  ['remove', expect.stringContaining('switchboard show <server> off')],
  ['logn', 'Did you mean: switchboard login'],
  ['constructor', undefined],
])('%s', (word, advice) => {
  expect(adviceFor([word], COMMANDS)).toEqual(advice);
});

test.each([
  ['chek', 'Did you mean: switchboard config check'],
  ['show', 'Did you mean: switchboard config print'],
  ['logs', undefined],
])('config %s', (word, advice) => {
  expect(adviceFor(['config', word], CONFIG)).toEqual(advice);
});

test('only existing commands are suggested, and none for an existing command', () => {
  const words =
    `add new register list ls servers log tail ps top info monitor start up server daemon
    down kill quit refresh remove rm delete disable off enable activate on init setup install uninstall
    test check health ping verify diagnose debug validate lint exec invoke use tool inspect describe schema find
    search auth signin sign-in connect signout sign-out disconnect ask chat`.split(/\s+/);
  for (const word of words) {
    expect(COMMANDS).not.toContain(word);
    const advice = adviceFor([word], []);
    const suggested = [...(advice ?? '').matchAll(/switchboard ([a-z]+)(?: ([a-z]+))?/g)];
    expect(suggested.length, word).toBeGreaterThan(0);
    for (const [, name, below] of suggested) {
      const command = program.commands.find((one) => one.name() === name);
      expect(command, `${word}: ${name}`).toBeDefined();
      const isOperand = below === undefined || name === 'show';
      const isCommand = command?.commands.some((one) => one.name() === below);
      expect(isOperand || isCommand, `${word}: ${below}`).toBe(true);
    }
  }
});
