import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isUntouched, wrapperIn } from '../../../src/config/files/assistant-folder.ts';
import {
  isRoleOf,
  templateRole,
  wrapperFile,
  wrapperName,
  wrapperScript,
} from '../../../src/install/assistant-texts.ts';
import { runCommand } from '../../support/command.ts';
import { createProject } from '../../support/project.ts';

test.each([
  ['memory', 'memory-claude-wrapper.mjs'],
  ['my server', 'my_server-claude-wrapper.mjs'],
  ['@me/x', '_me_x-claude-wrapper.mjs'],
  ['../../etc', '__.._etc-claude-wrapper.mjs'],
  ['-rf', '_rf-claude-wrapper.mjs'],
  ['C:\\a', 'C_a-claude-wrapper.mjs'],
  ['größe', 'größe-claude-wrapper.mjs'],
  ['', '_-claude-wrapper.mjs'],
])('the wrapper of %j is one file: %s', (name, file) => {
  expect(wrapperName(name)).toBe(file);
});

test('long names with the same start stay distinct', () => {
  const [a, b] = [wrapperName(`${'x'.repeat(300)}a`), wrapperName(`${'x'.repeat(300)}b`)];
  expect(a).not.toBe(b);
  expect(a.length).toBeLessThan(140);
});

describe('the file that starts the wrapper', () => {
  const original = {
    name: 'memory',
    description: 'notes',
    switchboardDescription: 'Use it.',
    suiteName: 'mem',
    command: { cmd: 'npx', args: ['-y', 'server'], env: { KEY: 'hunter2hunter2' } },
    expose: { deny: ['delete_*'] },
    show: 'direct' as const,
    cwd: 'sub',
  };

  test('shows the host the same, and contains nothing about the command', () => {
    expect(JSON.parse(wrapperFile(original))).toEqual({
      name: 'memory',
      description: 'notes',
      switchboardDescription: 'Use it.',
      suiteName: 'mem',
      show: 'direct',
      command: { cmd: 'node', args: ['memory-claude-wrapper.mjs'] },
      environment: 'inherit',
      rpcTimeoutMs: 150_000,
    });
  });

  test('is recognized by its command', () => {
    expect(wrapperIn(JSON.parse(wrapperFile(original)))).toBe('memory-claude-wrapper.mjs');
    const elsewhere = { cmd: 'node', args: ['../x-claude-wrapper.mjs'] };
    for (const command of ['node', undefined, original.command, elsewhere]) {
      expect(wrapperIn({ name: 'memory', command })).toBeUndefined();
    }
  });
});

describe('the wrapper', () => {
  /** Runs a wrapper in a folder of its own; `runtime` is where it looks first. */
  async function run(runtime: string, name = 'memory') {
    const { dir, env } = createProject();
    mkdirSync(join(dir, 'node_modules'), { recursive: true });
    writeFileSync(join(dir, 'wrapper.mjs'), wrapperScript(name, runtime, 'role'));
    return {
      dir,
      start: () => runCommand(process.execPath, ['wrapper.mjs'], { cwd: dir, env }),
    };
  }

  const RUNTIME = 'export const runAssistant = async ({ folder }) => console.log(folder);\n';

  test('runs the installed runtime with its own folder', async () => {
    const file = createProject().write('a b/assistant.mjs', RUNTIME);
    const wrapper = await run(pathToFileURL(file).href);
    expect(await wrapper.start()).toEqual({ status: 0, stdout: `${wrapper.dir}\n`, stderr: '' });
  });

  test('or that of a package Node finds', async () => {
    const { dir, start } = await run('file:///nowhere/dist/assistant.js');
    const pack = join(dir, 'node_modules/switchboard');
    mkdirSync(pack);
    writeFileSync(join(pack, 'assistant.mjs'), RUNTIME);
    const exports = { './assistant': './assistant.mjs' };
    writeFileSync(join(pack, 'package.json'), JSON.stringify({ name: 'switchboard', exports }));
    expect(await start()).toEqual({ status: 0, stdout: `${dir}\n`, stderr: '' });
  });

  test('or says what to do, even if the package has no runtime', async () => {
    const { dir, start } = await run('file:///nowhere/dist/assistant.js');
    const missing = {
      status: 1,
      stdout: '',
      stderr:
        'The assistant for server "memory" needs Switchboard, which was not found at file:///nowhere/dist/assistant.js. Install Switchboard, then run: switchboard assistant "memory" on\n',
    };
    expect(await start()).toEqual(missing);
    const pack = join(dir, 'node_modules/switchboard');
    mkdirSync(pack);
    writeFileSync(join(pack, 'package.json'), JSON.stringify({ name: 'switchboard', exports: {} }));
    expect(await start()).toEqual(missing);
  });

  test('does not hide a broken runtime', async () => {
    const file = createProject().write('assistant.mjs', 'throw new Error("broken inside");\n');
    const { status, stderr } = await (await run(pathToFileURL(file).href)).start();
    expect(status).toBe(1);
    expect(stderr).toContain('broken inside');
  });

  test('does not run code from a name', async () => {
    const name = 'x\u2028console.log("run");//\n console.log("run"); `${console.log("run")}`"';
    const { start } = await run('file:///nowhere/dist/assistant.js', name);
    expect(await start()).toMatchObject({ status: 1, stdout: '' });
  });

  test('detects changes to itself or the role, except for line ends', () => {
    const script = wrapperScript('memory', 'file:///x/assistant.js', 'a role\n');
    const onWindows = script.replaceAll('\n', '\r\n');
    for (const text of [script, onWindows]) {
      expect(isUntouched(text)).toBe(true);
      expect(isRoleOf(text, 'a role\n')).toBe(true);
      expect(isRoleOf(text, 'a role\r\n')).toBe(true);
      expect(isRoleOf(text, 'another role\n')).toBe(false);
    }
    expect(isUntouched(script.replace('exit(1)', 'exit(2)'))).toBe(false);
    expect(isUntouched(`${script}// mine\n`)).toBe(false);
    expect(isUntouched('console.log(1)')).toBe(false);
    expect(isRoleOf(wrapperScript('memory', 'file:///x', undefined), '')).toBe(false);
  });
});

test('an unknown server’s role has its name and description', () => {
  expect(templateRole('ours', ' the stock of our shops ')).toMatchInlineSnapshot(`
    "You are the assistant for the MCP server "ours". Another model sends you requests in plain language. Carry them
    out with this server's tools.

    What the server is for: the stock of our shops

    - Look at your tools and choose the ones that fit. Call several if needed.
    - Rely only on tool results. Never guess names, IDs or paths: look them up first.
    - Change or delete only what the request explicitly asks for.
    - If a tool fails, read the error, correct the arguments and retry once. If it fails again, report the error.
    - Answer briefly with the facts, names and numbers that were asked for, not how you found them.
    - If the request is too unclear to act on, say what is missing.
    "
  `);
  expect(templateRole('ours', undefined)).not.toContain('What the server is for');
});
