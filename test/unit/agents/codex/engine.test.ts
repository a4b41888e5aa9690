// Runs of agents, from the task to the result, with a program that does what a script says.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EngineRun } from '../../../../src/agents/engine.ts';
import { SwitchboardError } from '../../../../src/base/errors.ts';
import {
  attachedServer,
  plainAgent,
  type WatchedRun,
  watchedRun,
} from '../../../support/agents.ts';
import { expectOneLine, LINE_BREAKS } from '../../../support/line-breaks.ts';
import { eventually, isAlive } from '../../../support/processes.ts';
import {
  type EngineRecord,
  SCRIPTED_CODEX,
  scriptedEngine,
} from '../../../support/scripted-engine.ts';

const scripted = (script: string): Partial<EngineRun> => ({
  agent: plainAgent({ instructions: `script: ${script}` }),
});

const hasBegun = (run: WatchedRun) =>
  eventually(() => run.events.some(({ kind }) => kind === 'step'));

async function failureOf(running: Promise<unknown>): Promise<SwitchboardError> {
  const error: unknown = await running.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SwitchboardError)) throw new Error('It did not fail as it should.');
  return error;
}

describe('a successful run', () => {
  test('returns the agent’s last message and reports events', async () => {
    const { engine, cwd } = scriptedEngine();
    const run = watchedRun(cwd, scripted('steps'));
    expect(await engine.run(run)).toEqual({ ok: true, output: 'Then that.' });
    expect(run.events).toEqual([
      { kind: 'starting', text: 'starting Some Agent' },
      { kind: 'step', text: 'running: npm test' },
      { kind: 'step', text: `editing ${join(cwd, 'a.txt')}, ${join(cwd, 'b.txt')}` },
      { kind: 'step', text: 'calling memory.create_entities' },
      { kind: 'step', text: 'searching the web for the weather' },
      { kind: 'text', text: 'First ' },
      { kind: 'text', text: 'this.' },
      { kind: 'message', text: 'First this.' },
      { kind: 'text', text: 'Then ' },
      { kind: 'text', text: 'that.' },
      { kind: 'message', text: 'Then that.' },
    ]);
  });

  test('leaves no process, and reports all it started', async () => {
    const { engine, cwd, processes } = scriptedEngine();
    await engine.run(watchedRun(cwd));
    expect(processes).toHaveLength(2); // the one that was asked for its models, and the run's
    expect(processes.filter(isAlive)).toEqual([]);
  });

  test('reports engine warnings and retries', async () => {
    const { engine, cwd } = scriptedEngine();
    const run = watchedRun(cwd, scripted('warns'));
    expect(await engine.run(run)).toEqual({ ok: true, output: 'done all the same' });
    expect(run.events.filter(({ kind }) => kind === 'warning')).toEqual([
      { kind: 'warning', text: 'Something is odd.' },
      { kind: 'warning', text: 'Reconnecting... 1/5 (status 401)' },
    ]);
  });

  test('notes sandbox refusals the agent may not mention', async () => {
    const { engine, cwd } = scriptedEngine();
    const run = watchedRun(cwd, scripted('refused'));
    expect(await engine.run(run)).toEqual({ ok: true, output: 'All is written.' });
    expect(run.events.filter(({ kind }) => kind === 'note').map(({ text }) => text)).toEqual([
      "The read-only sandbox blocked `touch a.txt`: touch: cannot touch 'a.txt': Read-only file system.",
      'The read-only sandbox blocked changes to b.txt.',
    ]);
  });

  test('continues without servers that fail to start, and notes each', async () => {
    const { engine, cwd, told } = scriptedEngine();
    const servers = [
      attachedServer({ key: 'one', cmd: '/nowhere/one' }),
      attachedServer({ cmd: 'memory-server', isRequired: true }),
      attachedServer({ key: 'two', cmd: '/nowhere/two' }),
    ];
    const run = watchedRun(cwd, { servers });
    expect(await engine.run(run)).toEqual({ ok: true, output: 'The task was: do it' });
    const { mcp_servers: given } = told('thread/start')['config'] as Record<string, object>;
    expect(Object.keys(given ?? {})).toEqual(['memory']);
    const why =
      'which failed to start: No such file or directory (os error 2). Run: switchboard agents agent_some_agent --check';
    expect(run.events.filter(({ kind }) => kind === 'note').map(({ text }) => text)).toEqual([
      `The agent ran without server "one", ${why}`,
      `The agent ran without server "two", ${why}`,
    ]);
  });

  test('ignores notifications about another thread or turn', async () => {
    const { engine, cwd } = scriptedEngine();
    const run = watchedRun(cwd, scripted('others-end'));
    expect(await engine.run(run)).toEqual({ ok: true, output: 'mine' });
    expect(run.events.map(({ text }) => text).join()).not.toContain('not mine');
  });

  test('survives an engine that floods its output and stderr', async () => {
    const { engine, cwd } = scriptedEngine();
    expect(await engine.run(watchedRun(cwd, scripted('floods')))).toEqual({
      ok: true,
      output: 'still here',
    });
  });

  test('cuts a 50 MB message with a note, and keeps earlier output', async () => {
    const { engine, cwd } = scriptedEngine({ settings: { outputMaxChars: 100_000 } });
    const { ok, output } = await engine.run(watchedRun(cwd, scripted('huge')));
    expect(ok).toBe(true);
    expect(output.slice(0, 100_001)).toBe(`${'h'.repeat(100_000)}\n`);
    expect(output.slice(100_001)).toBe('[message too long; cut off after 100000 characters]');
  });
});

describe('the engine’s input', () => {
  test.each([
    ['that begins like an option', '--help -c model="x"'],
    ['with quotes and line ends', `it's "so"\n\r\n\\n $(id) \`id\``],
    ['with NUL and other control characters', 'a\u0000b\u001b[31mc\u2028d'],
    ['of a megabyte', 'ä'.repeat(1 << 19)],
    ['that is empty', ''],
  ])('passes a task %s exactly, and not on the command line', async (_what, task) => {
    const { engine, cwd, told, records } = scriptedEngine();
    await engine.run(watchedRun(cwd, { task }));
    expect(told('turn/start')['input']).toEqual([{ type: 'text', text: task, text_elements: [] }]);
    expect(records().flatMap(({ argv = [] }) => argv)).not.toContain(task);
  });

  test('line breaks in a task do not split the message', async () => {
    const { engine, cwd, told, records } = scriptedEngine();
    const task = Object.values(LINE_BREAKS).join(' and ');
    await engine.run(watchedRun(cwd, { task }));
    expect(told('turn/start')['input']).toMatchObject([{ text: task }]);
    for (const { line } of records()) if (line !== undefined) await expectOneLine(line);
  });

  test('half a character, which the engine would not read, is always replaced', async () => {
    const { engine, cwd, told } = scriptedEngine();
    const task = 'half \ud83d, whole 😀, written \\ud83d \\\ud83d';
    const server = attachedServer({ env: { ['\udc00']: 'x\udc00' } });
    expect(await engine.run(watchedRun(cwd, { task, servers: [server] }))).toEqual({
      ok: true,
      output: 'The task was: half \ufffd, whole 😀, written \\ud83d \\\ufffd',
    });
    expect(JSON.stringify(told('thread/start'))).toContain('"\ufffd":"x\ufffd"');
  });

  test('its environment is ours with the mark and the run’s additions, without our secrets', async () => {
    const { engine, cwd, records, project } = scriptedEngine({
      env: {
        SWITCHBOARD_HTTP_TOKEN: 'our-own-token',
        CLAUDE_CODE_OAUTH_TOKEN: 'of another program',
        CODEX_ACCESS_TOKEN: 'its own',
        SOMETHING: 'of the user',
      },
      settings: { codexHome: '/nowhere/codex' },
    });
    await engine.run(watchedRun(cwd));
    const environment = records().find(({ argv }) => argv?.[0] === 'app-server')?.environment;
    expect(environment).toMatchObject({
      SOMETHING: 'of the user',
      HOME: join(project.dir, 'home'),
      CODEX_HOME: '/nowhere/codex',
      SWITCHBOARD_DEPTH: '1',
      SWITCHBOARD_RUN: 'some-run',
    });
    expect(environment).not.toHaveProperty('SWITCHBOARD_HTTP_TOKEN');
    expect(environment).not.toHaveProperty('CLAUDE_CODE_OAUTH_TOKEN');
    expect(environment).toHaveProperty('CODEX_ACCESS_TOKEN');
  });

  test('it starts even without a temporary folder', async () => {
    const { engine, cwd, records } = scriptedEngine({ settings: { codexHome: '/nowhere/codex' } });
    vi.stubEnv('TMPDIR', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await engine.run(watchedRun(cwd))).toMatchObject({ ok: true });
    expect(records().find(({ argv }) => argv?.[0] === 'app-server')?.cwd).toBe('/');
  });

  test('server values go only over stdin', async () => {
    const { engine, cwd, records, told } = scriptedEngine();
    const server = attachedServer({ env: { TOKEN: 'value-of-a-server' } });
    await engine.run(watchedRun(cwd, { servers: [server] }));
    expect(JSON.stringify(told('thread/start'))).toContain('value-of-a-server');
    const visible = records().map(({ argv, environment }) => ({ argv, environment }));
    expect(JSON.stringify(visible)).not.toContain('value-of-a-server');
  });
});

describe('a failed run', () => {
  test('returns the engine’s reason as one readable sentence', async () => {
    const { engine, cwd } = scriptedEngine();
    expect(await engine.run(watchedRun(cwd, scripted('failed')))).toEqual({
      ok: false,
      output: 'unexpected status 500 Internal Server Error: oops',
    });
  });

  test('does not repeat secrets', async () => {
    const { engine, cwd, log } = scriptedEngine({
      env: { SCRIPTED_CODEX_WORDS: 'the token is value-of-a-server' },
    });
    const servers = [attachedServer({ env: { TOKEN: 'value-of-a-server' } })];
    const run = watchedRun(cwd, { ...scripted('failed-with-secret'), servers });
    expect(await engine.run(run)).toEqual({ ok: false, output: 'refused: the token is ***' });
    expect(log.lines.join('\n')).not.toContain('value-of-a-server');
  });

  test('names a required server that did not start, and why', async () => {
    const { engine, cwd } = scriptedEngine();
    const servers = [
      attachedServer({ key: 'other', cmd: '/nowhere/other' }),
      attachedServer({ cmd: '/nowhere/server', isRequired: true }),
    ];
    const run = watchedRun(cwd, { servers });
    expect(await engine.run(run)).toEqual({
      ok: false,
      output:
        'Server "memory", which the agent requires, failed to start: No such file or directory (os error 2).' +
        ' Run: switchboard agents agent_some_agent --check',
    });
    expect(run.events.filter(({ kind }) => kind === 'note')).toEqual([]);
  });

  test('reports an incompatible version at once', async () => {
    const { engine, cwd, processes } = scriptedEngine();
    const { code, text } = await failureOf(engine.run(watchedRun(cwd, scripted('other-version'))));
    expect(code).toBe('ENGINE_FAILED');
    expect(text).toContain('Codex did not return the id of its thread. This version may be');
    expect(text).toContain('SWITCHBOARD_CODEX_BIN');
    expect(processes.filter(isAlive)).toEqual([]);
  });

  test('reports an oversized answer without naming a useless setting', async () => {
    const { engine, cwd } = scriptedEngine();
    const { code, text } = await failureOf(engine.run(watchedRun(cwd, scripted('huge-answer'))));
    expect(code).toBe('ENGINE_FAILED');
    expect(text).toContain("Codex's response to thread/start is larger than 16 MiB.");
    expect(text).not.toContain('messageBytes');
  });

  test('explains a crash; the stack is in the log', async () => {
    const { engine, cwd, log } = scriptedEngine();
    expect(await engine.run(watchedRun(cwd, scripted('crashes')))).toEqual({
      ok: false,
      output: 'Codex exited with code 1 during the run: TypeError: the engine has a bug.',
    });
    const logged = log.lines.filter((line) => line.startsWith('info: codex: '));
    expect(logged.filter((line) => / at go /.test(line)).length).toBeGreaterThan(8);
  });

  test('reports an engine that exits, with its last output', async () => {
    const { engine, cwd, processes } = scriptedEngine();
    expect(await engine.run(watchedRun(cwd, scripted('dies')))).toEqual({
      ok: false,
      output: 'Codex exited with code 3 during the run: The engine says goodbye.',
    });
    expect(processes.filter(isAlive)).toEqual([]);
  });
});

test('a run uses the program that was already located', async () => {
  let codexBin = SCRIPTED_CODEX;
  const settings = {
    get codexBin() {
      return codexBin;
    },
  };
  const { engine, cwd } = scriptedEngine({ settings });
  const program = engine.locate();
  codexBin = '/nowhere/codex';
  expect(await engine.run(watchedRun(cwd, { program }))).toMatchObject({ ok: true });
  expect(() => engine.locate()).toThrow('/nowhere/codex, which does not exist');
});

describe('an engine that does not start', () => {
  test('because it is missing is reported at once, with an install hint', async () => {
    const { engine, cwd } = scriptedEngine({
      settings: { codexBin: undefined },
      env: { PATH: '/nowhere' },
    });
    const { code, text } = await failureOf(engine.run(watchedRun(cwd)));
    expect(code).toBe('ENGINE_MISSING');
    expect(text).toBe(
      'Agents need Codex, which is not installed. Install it with `npm i -g @openai/codex` and sign in with `codex login`. If it is installed elsewhere, set SWITCHBOARD_CODEX_BIN to its path.',
    );
  });

  test('because it exits at once is reported with its reason, secrets masked', async () => {
    const { engine, cwd, processes } = scriptedEngine({
      env: { SCRIPTED_CODEX: 'dies-at-start', SCRIPTED_CODEX_WORDS: 'value-of-a-server is wrong' },
    });
    const servers = [attachedServer({ env: { TOKEN: 'value-of-a-server' } })];
    const { code, message } = await failureOf(engine.run(watchedRun(cwd, { servers })));
    expect({ code, message }).toEqual({
      code: 'ENGINE_FAILED',
      message: 'Codex exited with code 1 on start: Error: *** is wrong.',
    });
    expect(processes.filter(isAlive)).toEqual([]);
  });

  test('because another is creating its folder is started once more', async () => {
    const { engine, cwd, processes } = scriptedEngine({ env: { SCRIPTED_CODEX: 'dies-at-first' } });
    const run = watchedRun(cwd, { task: 'go on' });
    expect(await engine.run(run)).toEqual({ ok: true, output: 'The task was: go on' });
    expect(processes.filter(isAlive)).toEqual([]);
  });

  test('is restarted only once, and not after cancellation', async () => {
    const starts = (records: readonly EngineRecord[]) =>
      records.filter(({ argv }) => argv?.[0] === 'app-server').length;
    const env = { SCRIPTED_CODEX: 'dies-at-start' };
    const first = scriptedEngine({ env });
    await failureOf(first.engine.run(watchedRun(first.cwd)));
    expect(starts(first.records())).toBe(2);
    const second = scriptedEngine({ env });
    const run = watchedRun(second.cwd);
    const running = second.engine.run(run);
    expect(await eventually(() => starts(second.records()) === 1)).toBe(true);
    const reason = new SwitchboardError('CANCELLED', 'enough');
    run.cancellation.cancel(reason);
    await expect(running).rejects.toBe(reason);
    expect(starts(second.records())).toBe(1);
  });

  test.each([
    [
      'may not be executed',
      0o644,
      '#!/bin/sh\n',
      'Codex did not start: the file is not executable.',
    ],
    ['is for another machine', 0o755, '\u007fELF of another machine', 'Codex exited with code '],
    [
      'is a script for what is not there',
      0o755,
      '#!/nowhere/sh\n',
      'Codex did not start: the file, or',
    ],
  ])('because its program %s', async (_what, mode, content, message) => {
    const { project } = scriptedEngine();
    const codexBin = join(project.dir, 'codex');
    writeFileSync(codexBin, content, { mode });
    const { engine, cwd } = scriptedEngine({ settings: { codexBin, builtinsDefault: 'engine' } });
    const failure = await failureOf(engine.run(watchedRun(cwd)));
    expect(failure.code).toBe('ENGINE_FAILED');
    expect(failure.message).toContain(message);
    expect(failure.hint).toContain(codexBin);
  });

  test('because it refuses to initialize is reported briefly', async () => {
    const { engine, cwd } = scriptedEngine({ env: { SCRIPTED_CODEX: 'refuses' } });
    const { code, message } = await failureOf(engine.run(watchedRun(cwd)));
    expect(code).toBe('ENGINE_FAILED');
    expect(message).toMatch(/^Codex refused to start: Refused\. why why /);
    expect(message.length).toBeLessThan(400);
  });

  test('because it does not answer is reported after the limit, and stopped', async () => {
    const { engine, cwd, processes } = scriptedEngine({
      env: { SCRIPTED_CODEX: 'silent' },
      initializeMs: 200,
    });
    const { code, message } = await failureOf(engine.run(watchedRun(cwd)));
    expect({ code, message }).toEqual({
      code: 'ENGINE_FAILED',
      message: 'Codex did not respond within 200 ms.',
    });
    expect(processes.filter(isAlive)).toEqual([]);
  });
});

describe('signing in', () => {
  test('a signed-out engine fails with a hint', async () => {
    const { engine, cwd } = scriptedEngine({ env: { SCRIPTED_CODEX: 'signed-out' } });
    const { code, text } = await failureOf(engine.run(watchedRun(cwd)));
    expect(code).toBe('ENGINE_FAILED');
    expect(text).toBe(
      "Codex is not signed in. Run `codex login`, or set OPENAI_API_KEY in Switchboard's environment.",
    );
  });

  test('an API key in the environment is used for this run only, never stored or shown', async () => {
    const { engine, cwd, records, told } = scriptedEngine({
      env: { SCRIPTED_CODEX: 'signed-out', OPENAI_API_KEY: 'key-of-the-user' },
    });
    expect(await engine.run(watchedRun(cwd))).toMatchObject({ ok: true });
    expect(told('account/login/start')).toEqual({ type: 'apiKey', apiKey: 'key-of-the-user' });
    const words = records().flatMap(({ argv = [] }) => argv);
    expect(words).toContain('cli_auth_credentials_store="ephemeral"');
    expect(words.join(' ')).not.toContain('key-of-the-user');
  });

  test('the user’s sign-in takes precedence over an API key in the environment', async () => {
    const { engine, cwd, project, records } = scriptedEngine({
      env: { OPENAI_API_KEY: 'key-of-the-user' },
    });
    project.write('home/.codex/auth.json', {});
    await engine.run(watchedRun(cwd));
    const methods = records().map(({ received }) => received?.method);
    expect(methods).not.toContain('account/login/start');
    expect(
      records()
        .flatMap(({ argv = [] }) => argv)
        .join(' '),
    ).not.toContain('ephemeral');
  });

  test('if sign-ins are stored elsewhere, a missing file means nothing', async () => {
    const { engine, cwd, project, records } = scriptedEngine({
      env: { OPENAI_API_KEY: 'key-of-the-user' },
    });
    project.write('home/.codex/config.toml', 'cli_auth_credentials_store = "keyring"\n');
    await engine.run(watchedRun(cwd));
    expect(
      records()
        .flatMap(({ argv = [] }) => argv)
        .join(' '),
    ).not.toContain('ephemeral');
  });
});

describe('cancelling a run', () => {
  const reason = new SwitchboardError('CANCELLED', 'enough');

  test('before it starts does nothing', async () => {
    const { engine, cwd, records } = scriptedEngine();
    const run = watchedRun(cwd);
    run.cancellation.cancel(reason);
    await expect(engine.run(run)).rejects.toBe(reason);
    expect(records()).toEqual([]);
  });

  test('interrupts the turn, stops the engine and rejects with the reason', async () => {
    const { engine, cwd, processes, records } = scriptedEngine();
    const run = watchedRun(cwd, scripted('hangs'));
    const running = engine.run(run);
    expect(await hasBegun(run)).toBe(true);
    run.cancellation.cancel(reason);
    await expect(running).rejects.toBe(reason);
    expect(records().map(({ received }) => received?.method)).toContain('turn/interrupt');
    expect(processes.filter(isAlive)).toEqual([]);
  });

  test('stops an engine that ignores it, the end of its input and SIGTERM', async () => {
    const { engine, cwd, processes, records } = scriptedEngine();
    const run = watchedRun(cwd, scripted('deaf'));
    const running = engine.run(run);
    const wasTold = () => records().some(({ received }) => received?.method === 'turn/start');
    expect(await eventually(wasTold)).toBe(true);
    run.cancellation.cancel(reason);
    await expect(running).rejects.toBe(reason);
    expect(processes.filter(isAlive)).toEqual([]);
  });

  test('works before the engine has answered', async () => {
    const { engine, cwd, processes } = scriptedEngine({ env: { SCRIPTED_CODEX: 'silent' } });
    const run = watchedRun(cwd);
    const running = engine.run(run);
    expect(await eventually(() => processes.length === 2)).toBe(true);
    run.cancellation.cancel(reason);
    await expect(running).rejects.toBe(reason);
    expect(processes.filter(isAlive)).toEqual([]);
  });

  test('stops everything the run started in other process groups', async () => {
    const { engine, cwd, records } = scriptedEngine();
    const run = watchedRun(cwd, scripted('leaves-processes'));
    const running = engine.run(run);
    expect(await hasBegun(run)).toBe(true);
    const started = records().find((record) => record.started !== undefined)?.started ?? 0;
    expect(isAlive(started)).toBe(true);
    run.cancellation.cancel(reason);
    await expect(running).rejects.toBe(reason);
    expect(await eventually(() => !isAlive(started))).toBe(true);
  });

  test('removes the sandbox’s empty folders, but only new ones', async () => {
    const { engine, cwd } = scriptedEngine();
    mkdirSync(join(cwd, '.git'));
    const run = watchedRun(cwd, scripted('litters'));
    const running = engine.run(run);
    expect(await hasBegun(run)).toBe(true);
    expect(readdirSync(cwd).sort()).toEqual(['.aws', '.codex', '.git']);
    writeFileSync(join(cwd, '.aws', 'of-somebody'), '');
    run.cancellation.cancel(reason);
    await expect(running).rejects.toBe(reason);
    expect(readdirSync(cwd).sort()).toEqual(['.aws', '.git']);
  });

  test('recognizes a folder by any of its names', async () => {
    const { engine, cwd } = scriptedEngine();
    const link = `${cwd}-too`;
    symlinkSync(cwd, link);
    const [first, second] = [cwd, link].map((folder) => watchedRun(folder, scripted('litters')));
    if (!first || !second) throw new Error('There are two runs.');
    const ends = [];
    for (const run of [first, second]) {
      ends.push(engine.run(run));
      expect(await hasBegun(run)).toBe(true);
    }
    first.cancellation.cancel(reason);
    await expect(ends[0]).rejects.toBe(reason);
    expect(readdirSync(cwd)).not.toEqual([]);
    second.cancellation.cancel(reason);
    await expect(ends[1]).rejects.toBe(reason);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('does not disturb another run in the same folder', async () => {
    const { engine, cwd } = scriptedEngine();
    const [first, second] = [
      watchedRun(cwd, scripted('litters')),
      watchedRun(cwd, scripted('hangs')),
    ];
    const running = [engine.run(second), engine.run(first)];
    expect(await hasBegun(first)).toBe(true);
    first.cancellation.cancel(reason);
    await expect(running[1]).rejects.toBe(reason);
    expect(existsSync(join(cwd, '.codex'))).toBe(true);
    second.cancellation.cancel(reason);
    await expect(running[0]).rejects.toBe(reason);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

test('concurrent runs do not disturb each other', async () => {
  const { engine, cwd, processes } = scriptedEngine();
  const tasks = ['one', 'two', 'three', 'four'];
  const results = await Promise.all(tasks.map((task) => engine.run(watchedRun(cwd, { task }))));
  expect(results).toEqual(tasks.map((task) => ({ ok: true, output: `The task was: ${task}` })));
  expect(processes.filter(isAlive)).toEqual([]);
});

test('only this user can read cached model lists', async () => {
  const { engine, cwd, project } = scriptedEngine();
  await engine.run(watchedRun(cwd));
  const folder = join(project.dir, '.switchboard', 'cache', 'engine');
  const files = readdirSync(folder).map((name) => join(folder, name));
  expect(files).toHaveLength(2);
  for (const file of files) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain('known-model');
  }
});
