// What the program can say and do stands in the documentation, and nothing stands there that it
// cannot.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/base/errors.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { commandNames } from '../support/every-command.ts';
import { ROOT } from '../support/project.ts';

const doc = (name: string) => readFileSync(join(ROOT, 'docs', name), 'utf8');

test('docs/errors.md has every error code with its exit status, and no other', () => {
  const rows = [...doc('errors.md').matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)];
  const documented = Object.fromEntries(
    rows.map(([, code, exit]) => [code, { exit: Number(exit) }]),
  );
  expect(documented).toEqual(ERRORS);
});

function helpOf(words: readonly string[]): string {
  const program = buildProgram(() => async () => {});
  const command = words.reduce<Command>((above, word) => {
    const below = above.commands.find((one) => one.name() === word);
    if (!below) throw new Error(`There is no command "${words.join(' ')}".`);
    return below;
  }, program);
  let help = '';
  command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
  return help.trim();
}

/** Engines run `agent-server`, not people. */
const SHOWN = commandNames().filter((name) => name !== 'agent-server');

test.each(SHOWN)('docs/cli.md shows the help of `switchboard %s`', (name) => {
  expect(doc('cli.md')).toContain(helpOf(name.split(' ').filter(Boolean)));
});

test('Claude Code is registered for all projects, wherever the command is shown', () => {
  const pages = ['README.md', 'docs', 'skill', 'install.sh', 'examples', 'src/cli'].flatMap(
    (path) => textsBelow(join(ROOT, path)),
  );
  const commands = pages.flatMap((text) => text.match(/claude mcp (?:add|remove)\b[^`\n]*/g) ?? []);
  expect(commands.length).toBeGreaterThan(4);
  expect(commands.filter((command) => !/ (?:-s|--scope) user\b/.test(command))).toEqual([]);
});

function textsBelow(path: string): string[] {
  if (statSync(path).isFile()) return [readFileSync(path, 'utf8')];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

describe('what is said to have been measured', () => {
  const measured = doc('performance.md').split('## Results')[1] ?? '';

  test('docs/showing.md has the tokens that docs/performance.md has', () => {
    const [, table = ''] =
      /^\| shown as \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(doc('showing.md')) ?? [];
    const claimed = Object.fromEntries(
      table
        .trim()
        .split('\n')
        .map((line) => line.split('|').slice(1, -1))
        .map(([how = '', ...figures]) => [how.trim(), figures.map((figure) => figure.trim())]),
    );
    expect(claimed).toEqual({
      '`direct`': [tokensOf(7, 'direct'), /all tools ([\d,]+) tokens/.exec(measured)?.[1]],
      '`suite`': [tokensOf(7, 'suites'), tokensOf(9, 'suites')],
      '`flip`, none switched on': [tokensOf(7, 'flip, none on'), tokensOf(9, 'flip, none on')],
      '`flip`, the filesystem server switched on': [
        tokensOf(7, 'filesystem on'),
        tokensOf(9, 'filesystem on'),
      ],
      '`off`': ['0', '0'],
    });
  });

  test.each(['README.md', 'docs/showing.md'])('%s names no other number of tokens', (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    expect(figuresOf(text)).not.toEqual([]);
    expect(figuresOf(measured)).toEqual(expect.arrayContaining(figuresOf(text)));
  });

  function figuresOf(text: string): string[] {
    return text.match(/\b\d{1,3}(?:,\d{3})+\b/g) ?? [];
  }

  /** What a row of the results says, by its number and words that stand in it. */
  function tokensOf(row: number, words: string): string | undefined {
    const line = measured
      .split('\n')
      .find(
        (text) =>
          text.trimStart().startsWith(`${row} `) &&
          text.includes(words) &&
          text.includes(' tokens'),
      );
    return /([\d,]+) tokens/.exec(line ?? '')?.[1];
  }
});
