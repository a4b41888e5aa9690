// `switchboard call`: arguments typed by the schema, advice where they were wrong, a server's questions and
// its progress on a terminal.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { processesWith } from '../support/processes.ts';
import { createProject, PROGRAM } from '../support/project.ts';
import { testServer } from '../support/servers.ts';
import { runOnTerminal, type TerminalOptions } from '../support/terminal.ts';

const PARAMETERS =
  '(count: integer, level?: "low" | "high" = "low", tags?: string[], point?: {x?: number})';

function createTalkingProject() {
  const project = createProject();
  // The folder is on its command line, so that it can be found.
  const talks = { ...testServer('talks', project.dir), expose: { deny: ['denied'] } };
  project.write('switchboard.config.json', {
    mcpServers: { talks, 'talks.again': testServer('talks'), mock: testServer('toolbox') },
  });
  return project;
}

const call = (...words: string[]) => runSwitchboard(createTalkingProject(), ['call', ...words]);

test.each([
  [['talks.echo', 'count=3', 'level=high'], '{"count":3,"level":"high"}'],
  [['talks', 'echo', 'count=3', 'tags=a', 'tags=b'], '{"count":3,"tags":["a","b"]}'],
  [['talks.echo', 'count=3', 'point={"x": 1}'], '{"count":3,"point":{"x":1}}'],
  [['talks.echo', 'count:="three"'], '{"count":"three"}'],
  [['talks.echo', '{"count": 3}'], '{"count":3}'],
  [['talks', 'echo', '{"count": 3}'], '{"count":3}'],
  [['talks.a.dotted.name', 'count=1'], '{"count":1}'],
  [['talks.again.echo', 'count=1'], '{"count":1}'],
  [['mock.echo', 'a=1', 'b=tea'], '{"a":1,"b":"tea"}'],
])('%j', async (words, text) => {
  expect(await call(...words)).toEqual({ status: 0, stdout: `${text}\n`, stderr: '' });
});

test('sends numbers as typed', async () => {
  const project = createProject();
  const file = join(project.dir, 'messages');
  project.write('switchboard.config.json', {
    mcpServers: { rec: testServer('recording', file, '{"content":[]}') },
  });
  const { status } = await runSwitchboard(project, [
    'call',
    'rec.other',
    'n=1.0',
    'm=9007199254740993',
  ]);
  expect(status).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('"arguments":{"n":1.0,"m":9007199254740993}');
});

describe('explains invalid arguments with the tool’s parameters', () => {
  test.each([
    [['talks.echo', 'count=x'], 'Invalid value for "count": expected integer, got "x".'],
    [['talks.echo', 'cont=1'], 'Unknown parameter: "cont". Did you mean "count"?'],
    [
      ['talks.echo', 'level=medium'],
      'Invalid value for "level": expected "low" | "high", got "medium".',
    ],
  ])('%j before the call', async (words, says) => {
    expect(await call(...words)).toEqual({
      status: 4,
      stdout: '',
      stderr: `switchboard: ${says}\nParameters: echo${PARAMETERS}\n`,
    });
  });

  test('a result that is an error', async () => {
    expect(await call('talks.refuse', '{"cont": 1}')).toEqual({
      status: 4,
      stdout: 'I want another count.\n',
      stderr: `Missing argument: count.\nUnknown parameter: "cont". Did you mean "count"?\nParameters: refuse${PARAMETERS}\n`,
    });
  });

  test('an unrelated error result is left alone', async () => {
    expect(await call('talks.refuse', 'count=1')).toEqual({
      status: 4,
      stdout: 'I want another count.\n',
      stderr: '',
    });
  });

  test('a JSON-RPC error', async () => {
    const { status, stdout, stderr } = await call('talks.fail');
    expect({ status, stdout }).toEqual({ status: 4, stdout: '' });
    expect(stderr).toBe(
      `switchboard: Bad arguments (server "talks", subtool "fail")\nMissing argument: count.\nParameters: fail${PARAMETERS}\n`,
    );
    const json = JSON.parse((await call('talks.fail', 'count=1', '--json')).stderr) as object;
    expect(json).toMatchObject({
      error: {
        code: 'TOOL_FAILED',
        hint: `Parameters: fail${PARAMETERS}`,
        data: { code: -32_602 },
      },
    });
  });
});

test.each([
  [
    ['talks'],
    2,
    'Missing tool name for server "talks".\nList its tools with: switchboard tools talks\n',
  ],
  [['talks', 'count=1'], 2, 'Missing tool name for server "talks".'],
  [['talk.echo'], 2, 'No server is named "talk".\nDid you mean talks'],
  [['talks.ecko', 'count=1'], 4, 'Did you mean "echo"?'],
  [['talks.denied', 'count=1'], 4, "Subtool 'denied' not allowed"],
  [['talks.echo', 'count=1', 'tea'], 2, '"tea" is not key=value or key:=json.'],
  [['talks.visit'], 4, 'Open this first, then try again: https://example.com/in\n'],
])('%j exits with %i', async (words, status, says) => {
  const outcome = await call(...words);
  expect({ ...outcome, stderr: '' }).toEqual({ status, stdout: '', stderr: '' });
  expect(outcome.stderr).toContain(says);
});

describe('a question from the server', () => {
  const FORM = {
    message: 'Who are you?',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Your name' },
        age: { type: 'integer' },
        colour: { type: 'string', enum: ['red', 'green'] },
        news: { type: 'boolean', default: true },
      },
      required: ['name', 'age'],
    },
  };

  function askOnTerminal(question: object, options: Partial<TerminalOptions>) {
    const { dir: cwd, env } = createTalkingProject();
    const command = [process.execPath, PROGRAM, 'call', 'talks.ask', JSON.stringify(question)];
    return runOnTerminal(command, { cwd, env, ...options });
  }

  test('is declined without a terminal, with a message', async () => {
    expect(await call('talks.ask', JSON.stringify(FORM))).toEqual({
      status: 0,
      stdout: '{"action":"decline"}\n',
      stderr: 'Server "talks" asks: Who are you?\nDeclined: there is no terminal to answer on.\n',
    });
  });

  test('is answered field by field', async () => {
    const { status, screen } = await askOnTerminal(FORM, {
      answers: [
        ['Server "talks" asks: Who are you?', ''],
        ['Answer? [Y/n]', '\r'],
        ['Your name: ', 'Ada\r'],
        ['age: ', 'old\r'],
        ['Enter a whole number.', ''],
        ['age: ', '36\r'],
        ['2  green', ''],
        ['colour (optional), 1 to 2: ', '2\r'],
        ['news [y]: ', '\r'],
      ],
    });
    expect(status).toBe(0);
    expect(screen).toContain(
      '{"action":"accept","content":{"name":"Ada","age":36,"colour":"green","news":true}}',
    );
  });

  test.each([
    ['declined', 'n\r', 0, '{"action":"decline"}'],
    ['cancelled with Ctrl-D', '\u0004', 0, '{"action":"cancel"}'],
    ['interrupted with Ctrl-C', '\u0003', 130, 'Interrupted.'],
  ])('is %s', async (_what, typed, status, says) => {
    const outcome = await askOnTerminal(FORM, { answers: [['Answer? [Y/n]', typed]] });
    expect(outcome.status).toBe(status);
    expect(outcome.screen).toContain(says);
  });

  test('about a page to visit shows its URL and opens it', async () => {
    const { dir, env } = createTalkingProject();
    const seen = join(dir, 'seen');
    writeFileSync(join(dir, 'browser'), `#!/bin/sh\necho "$1" > ${seen}\n`, { mode: 0o755 });
    const question = {
      mode: 'url',
      message: 'Sign in.',
      url: 'https://example.com/in?a=1',
      elicitationId: 'e1',
    };
    const command = [process.execPath, PROGRAM, 'call', 'talks.ask', JSON.stringify(question)];
    const { status, screen } = await runOnTerminal(command, {
      cwd: dir,
      env: { ...env, BROWSER: join(dir, 'browser') },
      answers: [
        ['https://example.com/in?a=1', ''],
        ['Open example.com in your browser? [y/N]', 'y\r'],
      ],
    });
    expect(status).toBe(0);
    expect(screen).toContain('{"action":"accept"}');
    await expect
      .poll(() => readFileSync(seen, { encoding: 'utf8', flag: 'a+' }))
      .toBe('https://example.com/in?a=1\n');
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'nowhere'])(
    'about a page at %s is declined',
    async (url) => {
      const { screen } = await askOnTerminal({ mode: 'url', message: 'Go.', url }, {});
      expect(screen).toContain('Declined: not an http or https URL.');
      expect(screen).toContain('{"action":"decline"}');
    },
  );
});

test('shows the server’s progress on a terminal', async () => {
  const { dir: cwd, env } = createTalkingProject();
  const { status, screen } = await runOnTerminal(
    [process.execPath, PROGRAM, 'call', 'talks.work'],
    {
      cwd,
      env,
      keys: (shown) => (shown.includes('(3/10 Reading files)') ? '\u0003' : undefined),
    },
  );
  expect(status).toBe(130);
  expect(processesWith(cwd)).toEqual([]);
  expect(screen).toMatch(/waiting for talks work \d+ s \(3\/10 Reading files\)/);
});
