// What the skill teaches. It is a text for a model, so this looks for the rules, not for the words.
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SKILL } from '../../../src/install/skill.ts';

const [, frontMatter = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(SKILL) ?? [];
const COMMANDS = [
  'activate',
  'deactivate',
  'status',
  'add',
  'setup',
  'update',
  'uninstall',
  'help',
];

/** What stands below a heading. */
function section(title: string): string {
  const [, text = ''] = body.split(new RegExp(`^## ${title}\n`, 'm'));
  return text.split(/^## /m)[0] ?? '';
}

/** Those words that do not stand in the text behind the one before them. */
function misplaced(text: string, words: readonly string[]): string[] {
  let from = 0;
  return words.filter((word) => {
    const place = text.indexOf(word, from);
    if (place !== -1) from = place;
    return place === -1;
  });
}

test('the front matter describes it, and only the user starts it', () => {
  expect(parse(frontMatter)).toEqual({
    name: 'switchboard',
    description: expect.stringMatching(/^.{20,200}$/),
    'argument-hint': expect.stringContaining('activate <server>'),
    'disable-model-invocation': true,
  });
});

test('fits into a prompt', () => {
  expect(SKILL.length).toBeLessThan(10_000);
});

test('has a section for each command, and otherwise only the rules', () => {
  const titles = [...body.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  expect(titles).toEqual(['Rules', ...COMMANDS]);
  for (const command of COMMANDS) expect(section('help')).toContain(`/switchboard ${command}`);
});

test('reads the subcommand; none means help, an unknown one has a fixed answer', () => {
  expect(body).toContain('/switchboard $ARGUMENTS');
  expect(body).toContain('| none | same as `help` |');
  expect(body).toContain('Unknown command "<word>". Type /switchboard help.');
});

test('nothing but the arguments would be expanded or run by Claude Code', () => {
  expect(body.replace('$ARGUMENTS', '')).not.toMatch(/\$ARGUMENTS|\$\d|!`/);
});

describe('the rules', () => {
  test('names are matched here, because the gateway accepts only exact names', () => {
    const words = [
      'exact names only',
      '`gateway_status`',
      'ignoring case',
      '1. one is equal',
      '2. otherwise exactly one contains it',
      '3. several contain it: ask',
      '4. none does',
      'Servers: <all names>',
    ];
    expect(misplaced(section('Rules'), words)).toEqual([]);
  });

  test('questions have a fallback, and nothing is destroyed without one', () => {
    const words = ['AskUserQuestion', 'plain text', 'overwritten, removed or uninstalled'];
    expect(misplaced(section('Rules'), words)).toEqual([]);
  });
});

describe('the commands', () => {
  test('activate checks the state before it calls the gateway', () => {
    const words = ['No argument', 'already active', 'warming', 'error', 'gateway_activate'];
    expect(misplaced(section('activate'), words)).toEqual([]);
  });

  test('so does deactivate', () => {
    const words = ['No argument', 'not active', 'gateway_deactivate'];
    expect(misplaced(section('deactivate'), words)).toEqual([]);
  });

  test('add checks its input, asks before it overwrites, then reloads', () => {
    const words = [
      'Usage: /switchboard add <alias> -- <command> [args]',
      'letters, digits and hyphens',
      '`servers.json`',
      'switchboard import -',
      'ask whether to overwrite',
      '`--force`',
      'switchboard reload',
    ];
    expect(misplaced(section('add'), words)).toEqual([]);
  });

  test('setup compares by command, writes before it removes, and continues after a failure', () => {
    const words = [
      '.claude.json',
      '--dry-run',
      'by command and arguments, not by name',
      'Switchboard itself',
      'multi-select',
      'Write `servers.json` first',
      'claude mcp remove',
      'warn and continue',
      'switchboard reload',
    ];
    expect(misplaced(section('setup'), words)).toEqual([]);
  });

  test('uninstall offers to restore the servers, shows what it removes, and asks', () => {
    const words = [
      'move them back',
      'claude mcp add-json',
      'skill uninstall --dry-run',
      '`servers.json` stays. Ask whether',
      'If the user agrees, run `switchboard skill uninstall`',
    ];
    expect(misplaced(section('uninstall'), words)).toEqual([]);
  });

  test('update does not touch the servers', () => {
    expect(section('update')).toContain('`servers.json` is not touched');
    expect(section('update')).toContain('CHANGELOG.md');
  });
});
