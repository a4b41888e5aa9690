// What the program can say and do stands in the documentation, and nothing stands there that it
// cannot.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/base/errors.ts';
import { PROGRAM, ROOT } from '../support/project.ts';

const doc = (name: string) => readFileSync(join(ROOT, 'docs', name), 'utf8');

test('docs/errors.md has every error code with its exit status, and no other', () => {
  const rows = [...doc('errors.md').matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)];
  const documented = Object.fromEntries(
    rows.map(([, code, exit]) => [code, { exit: Number(exit) }]),
  );
  expect(documented).toEqual(ERRORS);
});

test.each([
  [],
  ['serve'],
  ['tools'],
  ['call'],
  ['show'],
  ['assistant'],
  ['doctor'],
  ['changes'],
  ['changes', 'accept'],
  ['scan'],
  ['status'],
  ['reload'],
  ['login'],
  ['logout'],
  ['audit'],
  ['config'],
  ['config', 'check'],
  ['config', 'print'],
  ['config', 'schema'],
  ['permissions'],
  ['permissions', 'explain'],
  ['assistant'],
  ['assistant', 'serve'],
  ['secret'],
  ['secret', 'set'],
  ['secret', 'list'],
  ['secret', 'rm'],
  ['secret', 'move'],
  ['skill'],
  ['skill', 'install'],
  ['skill', 'uninstall'],
  ['import'],
])('docs/cli.md shows the help of `switchboard %s %s` as it is printed', (...command) => {
  const help = execFileSync(process.execPath, [PROGRAM, ...command.filter(Boolean), '--help'], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  expect(doc('cli.md')).toContain(help.trim());
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
