import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { Call } from '../../../src/calls/call.ts';
import { Calls } from '../../../src/calls/calls.ts';
import { callHooks } from '../../../src/calls/hooks.ts';
import { type CallRecord, recordCalls, SessionNumbers } from '../../../src/calls/record.ts';
import type { HookConfig, HookSettings } from '../../../src/config/config.ts';
import { Permissions } from '../../../src/config/server/permissions.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import type { AuditEvent } from '../../../src/trust/audit/events.ts';
import { parseAfter, parseBefore } from '../../../src/trust/hooks/answers.ts';
import type { HookPrograms } from '../../../src/trust/hooks/run-hook.ts';
import { childConfig } from '../../support/child-config.ts';
import { FakeCaller } from '../../support/fake-caller.ts';
import { byName, createFakePool, FakeChild } from '../../support/fake-child.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

const WITHOUT = { PATH: process.env['PATH'] };

const exits = (stdout: object | string, status = 0, stderr = '') => ({
  status,
  stderr,
  stdout: typeof stdout === 'string' ? stdout : JSON.stringify(stdout),
});

const specific = (more: object) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', ...more },
});

describe('the answer of a beforeCall hook', () => {
  test.each([
    ['', {}],
    ['checked\n', {}],
    [{}, {}],
    [{ decision: 'approve' }, {}],
    [specific({ permissionDecision: 'allow' }), {}],
    [{ decision: 'block', reason: 'No.' }, { denied: { reason: 'No.' } }],
    [{ continue: false, stopReason: 'Stop.' }, { denied: { reason: 'Stop.' } }],
    [
      specific({ permissionDecision: 'deny', permissionDecisionReason: 'N\u200bo.' }),
      { denied: { reason: 'No.' } },
    ],
    [{ route: { server: 'a', tool: 'b' } }, { route: { server: 'a', tool: 'b' } }],
  ])('%j is %j', (stdout, answer) => {
    expect(parseBefore(exits(stdout))).toEqual(answer);
  });

  test('exit status 2 denies, with stderr as the reason', () => {
    expect(parseBefore(exits('{"decision":"approve"}', 2, 'Not on Fridays.'))).toEqual({
      denied: { reason: 'Not on Fridays.' },
    });
  });

  test('a request for approval denies', () => {
    const { denied } = parseBefore(exits(specific({ permissionDecision: 'ask' })));
    expect(denied?.reason).toContain('It asked for your approval');
  });

  test('changed arguments keep their numbers as the hook wrote them', () => {
    const stdout = '{"hookSpecificOutput":{"updatedInput":{"id":12345678901234567890, "x":1.0}}}';
    expect(parseBefore(exits(stdout)).input?.text).toBe('{"id":12345678901234567890, "x":1.0}');
  });

  test.each([
    ['{"decision":', 'printed invalid JSON'],
    [{ decision: 'maybe' }, 'returned an unknown decision'],
    [specific({ permissionDecision: 7 }), 'returned an unknown permissionDecision'],
    [specific({ updatedInput: [] }), 'set updatedInput to a non-object'],
    [{ route: { server: 'a' } }, 'returned a route without "server" and "tool"'],
  ])('%j fails: it %s', (stdout, problem) => {
    expect(() => parseBefore(exits(stdout))).toThrow(problem);
  });

  test('any other exit status fails', () => {
    expect(() => parseBefore(exits('', 1))).toThrow('exited with status 1');
  });
});

describe('the answer of an afterCall hook', () => {
  test.each([
    ['', undefined],
    ['done', undefined],
    [{ decision: 'block', reason: 'Look again.' }, 'Look again.'],
    [specific({ additionalContext: 'It is Friday.' }), 'It is Friday.'],
    [{ reason: 'not shown' }, undefined],
  ])('%j is the note %j', (stdout, note) => {
    expect(parseAfter(exits(stdout))).toBe(note);
  });

  test('exit status 2 makes stderr the note', () => {
    expect(parseAfter(exits('', 2, 'Careful.'))).toBe('Careful.');
  });
});

describe('hooks around a call', () => {
  const box = childConfig({ name: 'box' });
  const vault = childConfig({
    name: 'vault',
    expose: { allow: undefined, deny: ['drop'] },
  });
  const gone = childConfig({ name: 'gone', show: 'off' });
  const permissions = new Permissions(
    [{ file: '/home/u.json', isUsers: true, deny: ['safe__echo'] }],
    { users: ['safe'], all: ['box', 'vault', 'safe'] },
    { usersFile: '/home/u.json', home: '/home' },
  );
  const safe = childConfig({ name: 'safe', rules: permissions.rulesFor({ name: 'safe' }) });
  const logging = { level: 'info', form: 'compact', folder: undefined } as const;

  const callTo = (target: string, some: Partial<Call> = {}): Call => ({
    server: box,
    method: 'tools/call',
    target,
    params: Verbatim.fromText('{"id":12345678901234567890}'),
    context: { cancellation: new Cancellation(), caller: new FakeCaller() },
    through: 'suite',
    ...some,
  });

  /** A folder for hooks, like the user's. */
  function hookFolder(): string {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-hooks-')));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  /** A hook that runs this JavaScript with its input as `input`. */
  function hook(body: string, some: Partial<HookConfig> = {}): HookConfig {
    const cwd = hookFolder();
    const read = `const input = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));`;
    const print = 'const print = (value) => process.stdout.write(JSON.stringify(value));';
    writeFileSync(join(cwd, 'hook.cjs'), `${read}\n${print}\n${body}`);
    const command = process.execPath;
    return { command, args: ['hook.cjs'], cwd, tools: ['*'], timeoutMs: 20_000, ...some };
  }

  function openCalls(some: Partial<HookSettings>, more: Partial<HookPrograms> = {}) {
    const hooks = { beforeCall: [], afterCall: [], ...some };
    const child = new FakeChild('echo', 'other');
    const sent: string[] = [];
    child.callTool = async (...[subtool, args]: unknown[]) => {
      sent.push(`${String(subtool)} ${(args as Verbatim).text}`);
      return Verbatim.of({ content: [{ type: 'text', text: 'done' }] });
    };
    const started: string[] = [];
    const { pool } = createFakePool([box, vault, gone, safe], async ({ name }) => {
      started.push(name);
      return child;
    });
    const warnings: string[] = [];
    const log = { ...SILENT_LOG, warn: (line: string) => void warnings.push(line) };
    const programs = () => ({ project: '/project', env: process.env, ...more });
    const settings = { children: byName([box, vault, gone, safe]), logging, hooks, permissions };
    const calls = new Calls(settings, { pool, log, programs });
    return { calls, sent, started, warnings };
  }

  const failureOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'It went well.',
      (error: SwitchboardError) => `${error.code}: ${error.text}`,
    );

  test('without hooks there is no interceptor', () => {
    const parts = { log: SILENT_LOG, audit: undefined, programs: () => ({ project: '', env: {} }) };
    expect(callHooks({ children: byName([box]) }, parts)).toBeUndefined();
  });

  test('a hook gets the call as Claude Code would give it, in the folder of its file', async () => {
    const spy = hook(
      `require('node:fs').writeFileSync('seen.json', JSON.stringify({
        input, cwd: process.cwd(), project: process.env.CLAUDE_PROJECT_DIR }))`,
    );
    const { calls, sent } = openCalls({ beforeCall: [spy], afterCall: [spy] });
    await calls.send(callTo('echo'));
    const seen = readFileSync(join(spy.cwd, 'seen.json'), 'utf8');
    expect(JSON.parse(seen)).toEqual({
      cwd: spy.cwd,
      project: '/project',
      input: {
        session_id: expect.stringMatching(/^[\w-]{36}$/),
        transcript_path: '',
        cwd: '/project',
        permission_mode: 'default',
        hook_event_name: 'PostToolUse',
        tool_name: 'mcp__box__echo',
        tool_use_id: expect.stringMatching(/^[\w-]{36}$/),
        switchboard: { server: 'box', tool: 'echo', host: 'some host' },
        tool_input: { id: expect.any(Number) },
        tool_response: { content: [{ type: 'text', text: 'done' }] },
      },
    });
    expect(sent).toEqual(['echo {"id":12345678901234567890}']);
  });

  test('exit status 2 denies the call, and the model reads stderr', async () => {
    const deny = hook(`console.error('Not on Fridays'); process.exit(2)`);
    const { calls, started } = openCalls({ beforeCall: [deny] });
    expect(await failureOf(calls.send(callTo('echo')))).toBe(
      'HOOK_DENIED: A hook denied the call to subtool "echo" of server "box": Not on Fridays. To change this, edit hooks.beforeCall[0] in your configuration.',
    );
    expect(started).toEqual([]);
  });

  test('a hook can change the arguments', async () => {
    const change = hook(
      `print({ hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { a: 1 } } })`,
    );
    const { calls, sent } = openCalls({ beforeCall: [change] });
    await calls.send(callTo('echo'));
    expect(sent).toEqual(['echo {"a":1}']);
  });

  test('a hook can send the call to another tool', async () => {
    const route = hook(`print({ route: { server: 'vault', tool: 'other' } })`);
    const { calls, sent, started } = openCalls({ beforeCall: [route] });
    await calls.send(callTo('echo'));
    expect(started).toEqual(['vault']);
    expect(sent).toEqual(['other {"id":12345678901234567890}']);
  });

  test('rules hold for the tool a call is sent to', async () => {
    const route = hook(`print({ route: { server: 'vault', tool: 'Drop' } })`);
    const { calls, started } = openCalls({ beforeCall: [route] });
    await expect(calls.send(callTo('echo'))).rejects.toMatchObject({ code: 'TOOL_NOT_ALLOWED' });
    expect(started).toEqual([]);
  });

  test('hooks for the tool a call is sent to run, wherever they are in the list', async () => {
    const guard = hook('process.exit(2)', { tools: ['vault'] });
    const route = hook(`print({ route: { server: 'vault', tool: 'other' } })`);
    const { calls, started } = openCalls({ beforeCall: [guard, route] });
    await expect(calls.send(callTo('echo'))).rejects.toMatchObject({ code: 'HOOK_DENIED' });
    expect(started).toEqual([]);
  });

  describe("a project's hooks", () => {
    const OF_PROJECT = {
      ofProject: { file: '/project/switchboard.config.json', environment: 'inherit' },
    } as const;
    /** Notes every call it sees, and denies those that the user doesn't want. */
    const usersGuard = () =>
      hook(`require('node:fs').appendFileSync('seen', input.tool_name + ' ' + JSON.stringify(input.tool_input) + '\\n');
        if (input.tool_name.endsWith('other') || input.tool_input.path === '/etc/shadow') process.exit(2);`);
    const seenBy = ({ cwd }: HookConfig) =>
      readFileSync(join(cwd, 'seen'), 'utf8').trimEnd().split('\n');

    test("run after the user's, which see the call again if it was changed", async () => {
      const guard = usersGuard();
      const change = hook(
        `print({ hookSpecificOutput: { updatedInput: { ...input.tool_input, team: 'a' } } })`,
        OF_PROJECT,
      );
      const { calls, sent } = openCalls({ beforeCall: [guard, change] });
      await calls.send(callTo('echo', { params: Verbatim.of({ id: 1 }) }));
      expect(sent).toEqual(['echo {"id":1,"team":"a"}']);
      expect(seenBy(guard)).toEqual([
        'mcp__box__echo {"id":1}',
        'mcp__box__echo {"id":1,"team":"a"}',
      ]);
    });

    test.each([
      ['allows it', 'other', '{"path":"/tmp"}', `{ decision: 'approve' }`, 1],
      ['sends it elsewhere', 'other', '{}', `{ route: { server: 'box', tool: 'echo' } }`, 1],
      ['leads to it', 'echo', '{}', `{ route: { server: 'box', tool: 'other' } }`, 2],
      [
        'leads to its arguments',
        'echo',
        '{}',
        `{ hookSpecificOutput: { updatedInput: { path: '/etc/shadow' } } }`,
        2,
      ],
    ])("cannot lift the user's denial if one %s", async (_what, tool, args, answer, times) => {
      const guard = usersGuard();
      const { calls, started } = openCalls({
        beforeCall: [guard, hook(`print(${answer})`, OF_PROJECT)],
      });
      const call = callTo(tool, { params: Verbatim.fromText(args) });
      await expect(calls.send(call)).rejects.toMatchObject({ code: 'HOOK_DENIED' });
      expect(seenBy(guard)).toHaveLength(times);
      expect(started).toEqual([]);
    });

    test('that send a call on and back end: each runs once', async () => {
      const route = (server: string) => `print({ route: { server: '${server}', tool: 'echo' } })`;
      const { calls, sent, started } = openCalls({
        beforeCall: [
          hook(route('vault'), { tools: ['box'] }),
          hook(route('box'), { tools: ['vault'], ...OF_PROJECT }),
        ],
      });
      await calls.send(callTo('echo', { params: Verbatim.of({}) }));
      expect([started, sent]).toEqual([['vault'], ['echo {}']]);
    });

    test.each([
      ['expose', 'vault', 'drop'],
      ['permissions', 'safe', 'echo'],
    ])('cannot send a call past %s', async (_what, server, tool) => {
      const route = hook(`print({ route: { server: '${server}', tool: '${tool}' } })`, OF_PROJECT);
      const { calls, started } = openCalls({ beforeCall: [route] });
      await expect(calls.send(callTo('echo'))).rejects.toMatchObject({ code: 'TOOL_NOT_ALLOWED' });
      expect(started).toEqual([]);
    });

    test('are named with their file, and numbered as in it', async () => {
      const { calls } = openCalls({
        beforeCall: [hook(''), hook('process.exit(2)', OF_PROJECT)],
      });
      expect(await failureOf(calls.send(callTo('echo')))).toBe(
        'HOOK_DENIED: A hook denied the call to subtool "echo" of server "box". To change this, edit hooks.beforeCall[0] in /project/switchboard.config.json.',
      );
    });

    test.each([
      ['inherit', ['PATH', 'OTHER', 'CLAUDE_PROJECT_DIR', 'MARK']],
      ['minimal', ['PATH', 'CLAUDE_PROJECT_DIR', 'MARK']],
    ] as const)('get the variables servers get (%s)', async (environment, names) => {
      const note = `require('node:fs').writeFileSync('seen', Object.keys(process.env).join('\\n'))`;
      const spy = hook(note, { ofProject: { ...OF_PROJECT.ofProject, environment } });
      const env = {
        ...WITHOUT,
        OTHER: '1',
        SWITCHBOARD_HTTP_TOKEN: '1',
        CLAUDE_CODE_OAUTH_TOKEN: '1',
      };
      const { calls } = openCalls({ beforeCall: [spy] }, { env, mark: { MARK: '1' } });
      await calls.send(callTo('echo'));
      expect(new Set(seenBy(spy))).toEqual(new Set(names));
    });
  });

  test.each(['volt', 'gone'])('a call cannot be sent to server %s', async (server) => {
    const route = hook(`print({ route: { server: '${server}', tool: 'other' } })`);
    const { calls } = openCalls({ beforeCall: [route] });
    expect(await failureOf(calls.send(callTo('echo')))).toContain(
      `HOOK_DENIED: hooks.beforeCall[0] (${process.execPath.split('/').at(-1)}) sent the call to server "${server}", which isn't available.`,
    );
  });

  test.each<[string, () => HookConfig, string]>([
    ['exits with an error', () => hook('process.exit(1)'), 'exited with status 1'],
    ['prints invalid JSON', () => hook(`process.stdout.write('{')`), 'printed invalid JSON'],
    ['is killed', () => hook(`process.kill(process.pid, 'SIGKILL')`), 'was killed (SIGKILL)'],
    [
      'takes too long',
      () => hook('setInterval(() => {}, 1000)', { timeoutMs: 300 }),
      'took longer than 300 ms',
    ],
    [
      'does not exist',
      () => hook('', { command: '/no/such/program' }),
      'could not be started (program)',
    ],
  ])('a beforeCall hook that %s denies the call', async (_what, create, problem) => {
    const { calls, started, warnings } = openCalls({ beforeCall: [create()] });
    const failure = await failureOf(calls.send(callTo('echo')));
    expect(failure).toContain(
      'HOOK_FAILED: The call to subtool "echo" of server "box" was refused',
    );
    expect(failure).toContain(`${problem}.`);
    expect(warnings).toEqual([expect.stringContaining(problem)]);
    expect(started).toEqual([]);
  });

  test('an afterCall hook that fails is ignored and logged', async () => {
    const broken = hook(`console.error('oh dear'); process.exit(1)`);
    const { calls, warnings } = openCalls({ afterCall: [broken] });
    const { value } = await calls.send(callTo('echo'));
    expect(value).toEqual({ content: [{ type: 'text', text: 'done' }] });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^hooks\.afterCall\[0\] .* exited with status 1\. Its stderr: oh dear$/,
      ),
    ]);
  });

  test('an afterCall hook can add a note', async () => {
    const note = hook(`print({ hookSpecificOutput: { additionalContext: 'Seen.' } })`);
    const { calls } = openCalls({ afterCall: [note] });
    expect((await calls.send(callTo('echo'))).value).toEqual({
      content: [
        { type: 'text', text: 'done' },
        { type: 'text', text: 'Note from a hook: Seen.' },
      ],
    });
  });

  test.each([
    ['box', true],
    ['mcp__box__echo', true],
    ['BOX__e*', true],
    ['*__Echo', true],
    ['vault', false],
    ['box__other', false],
    ['ech*', false],
  ])('a hook for %s runs for box.echo: %s', async (pattern, runs) => {
    const { calls } = openCalls({ beforeCall: [hook('process.exit(2)', { tools: [pattern] })] });
    const failure = await failureOf(calls.send(callTo('echo')));
    expect(failure.startsWith('HOOK_DENIED')).toBe(runs);
  });

  test('other spellings of a tool do not get around its hook', async () => {
    const { calls } = openCalls({
      beforeCall: [hook('process.exit(2)', { tools: ['box__rm_all'] })],
    });
    for (const name of ['rm_all', 'RM-ALL', 'rm all', 'rm\u200b_all']) {
      expect(await failureOf(calls.send(callTo(name)))).toContain('HOOK_DENIED');
    }
  });

  test('a name that is too long to compare does not get around a hook', async () => {
    const { calls } = openCalls({
      beforeCall: [hook('process.exit(2)', { tools: ['vault__other'] })],
    });
    const failure = await failureOf(calls.send(callTo('a-'.repeat(1_000_000))));
    expect(failure).toContain('HOOK_DENIED');
    expect(failure.length).toBeLessThan(500);
  });

  describe('a hook that misbehaves', () => {
    /** A hook that runs this JavaScript, whatever its input. */
    const rawHook = (body: string, some: Partial<HookConfig> = {}): HookConfig => {
      const cwd = hookFolder();
      writeFileSync(join(cwd, 'hook.cjs'), body);
      const command = process.execPath;
      return { command, args: ['hook.cjs'], cwd, tools: ['*'], timeoutMs: 20_000, ...some };
    };
    const huge = Verbatim.of({ text: 'x'.repeat(20_000_000) });
    const endOf = (pid: number) => () => {
      try {
        process.kill(pid, 0);
        return 'runs';
      } catch {
        return 'gone';
      }
    };

    test('by printing without end denies the call, and is stopped', async () => {
      const flood = rawHook(
        `require('node:fs').writeFileSync('pid', String(process.pid)); for (;;) require('node:fs').writeSync(1, 'x'.repeat(65536));`,
      );
      const { calls } = openCalls({ beforeCall: [flood] });
      expect(await failureOf(calls.send(callTo('echo')))).toContain('printed too much.');
      const pid = Number(readFileSync(join(flood.cwd, 'pid'), 'utf8'));
      await expect.poll(endOf(pid)).toBe('gone');
    });

    test('by printing without end on stderr is allowed to, until its time is up', async () => {
      const flood = rawHook(`for (;;) require('node:fs').writeSync(2, 'x'.repeat(65536));`, {
        timeoutMs: 1_000,
      });
      const { calls, warnings } = openCalls({ beforeCall: [flood] });
      expect(await failureOf(calls.send(callTo('echo')))).toContain('took longer than 1000 ms.');
      expect(warnings.join().length).toBeLessThan(2_000);
    });

    test('by ignoring SIGTERM is killed', async () => {
      const stubborn = rawHook(
        `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);
         require('node:fs').writeFileSync('pid', String(process.pid));`,
        { timeoutMs: 2_000 },
      );
      const { calls } = openCalls({ beforeCall: [stubborn] });
      expect(await failureOf(calls.send(callTo('echo')))).toContain('took longer than 2000 ms.');
      const pid = Number(readFileSync(join(stubborn.cwd, 'pid'), 'utf8'));
      await expect.poll(endOf(pid)).toBe('gone');
    });

    test('by exiting before it has read a large call decides nonetheless', async () => {
      const allow = openCalls({ beforeCall: [rawHook('process.exit(0)')] });
      await allow.calls.send(callTo('echo', { params: huge }));
      expect(allow.sent).toHaveLength(1);
      const deny = openCalls({ beforeCall: [rawHook('process.exit(2)')] });
      const failure = await failureOf(deny.calls.send(callTo('echo', { params: huge })));
      expect(failure).toContain('HOOK_DENIED');
    });

    test('by printing invalid UTF-8 cannot break anything', async () => {
      const write = (text: string) =>
        rawHook(`process.stdout.write(Buffer.from(${JSON.stringify(text)}, 'latin1'))`);
      const { calls, sent } = openCalls({ beforeCall: [write('\u00ff\u00fe not JSON')] });
      await calls.send(callTo('echo', { params: Verbatim.of({}) }));
      expect(sent).toEqual(['echo {}']);
      const broken = openCalls({ beforeCall: [write('{"a":\u00ff}')] });
      expect(await failureOf(broken.calls.send(callTo('echo')))).toContain('printed invalid JSON');
    });

    test('by leaving a process that holds its pipes open does not delay the call', async () => {
      const fork = rawHook(
        `const { spawn } = require('node:child_process');
         const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { detached: true, stdio: 'inherit' });
         require('node:fs').writeFileSync('pid', String(child.pid));
         child.unref();`,
      );
      const { calls, sent } = openCalls({ beforeCall: [fork] });
      onTestFinished(() => {
        process.kill(Number(readFileSync(join(fork.cwd, 'pid'), 'utf8')), 'SIGKILL');
      });
      await calls.send(callTo('echo'));
      expect(sent).toHaveLength(1);
    });

    test.each([
      [`{"hookSpecificOutput":{"updatedInput":{"a":DEEP}}}`, 'It went well.'],
      [`{"route":DEEP}`, 'returned a route without "server" and "tool"'],
      [`{"decision":DEEP}`, 'returned an unknown decision'],
    ])('by nesting %s endlessly cannot break anything', async (answer, outcome) => {
      const body = `const deep = '['.repeat(100000) + ']'.repeat(100000);
        require('node:fs').writeSync(1, ${JSON.stringify(answer)}.replace('DEEP', deep));`;
      const { calls } = openCalls({ beforeCall: [rawHook(body)] });
      expect(await failureOf(calls.send(callTo('echo')))).toContain(outcome);
    });
  });

  test('only tool calls have hooks', async () => {
    const { calls } = openCalls({ beforeCall: [hook('process.exit(2)')] });
    const { value } = await calls.send(callTo('p', { method: 'prompts/get' }));
    expect(value).toEqual({ asked: 'prompts/get' });
  });

  test('a call that is cancelled while its hook runs ends at once', async () => {
    const cancellation = new Cancellation();
    const { calls, started } = openCalls({ beforeCall: [hook('setInterval(() => {}, 1000)')] });
    const call = callTo('echo', { context: { cancellation } });
    const failure = failureOf(calls.send(call));
    cancellation.cancel(new SwitchboardError('CANCELLED', 'The host cancelled it.'));
    expect(await failure).toBe('CANCELLED: The host cancelled it.');
    expect(started).toEqual([]);
  });

  test('a denied call is recorded as denied, and decisions are in the audit log', async () => {
    const events: AuditEvent[] = [];
    const audit = {
      note: (event: AuditEvent) => void events.push(event),
      admit: async () => {},
    };
    const programs = () => ({ project: '/project', env: process.env });
    const hooks = {
      beforeCall: [
        hook(`print({ route: { server: 'vault', tool: 'other' } })`, { tools: ['box'] }),
        hook(`console.error('secret reason'); process.exit(2)`, { tools: ['vault'] }),
      ],
      afterCall: [],
    };
    const children = byName([box, vault]);
    const intercept = callHooks({ hooks, children }, { log: SILENT_LOG, audit, programs });
    const records: CallRecord[] = [];
    const send = recordCalls(
      (call) => intercept?.(call, async () => Verbatim.of({})) ?? Promise.reject(new Error()),
      new SessionNumbers(),
      (record) => void records.push(record),
    );
    await failureOf(send(callTo('echo')));
    expect(records).toMatchObject([{ outcome: 'denied' }]);
    expect(events).toMatchObject([
      { type: 'decision', by: 'hook', decision: 'route', server: 'vault', tool: 'other' },
      { type: 'decision', by: 'hook', decision: 'deny', rule: 'hooks.beforeCall[1]' },
    ]);
    expect(JSON.stringify(events)).not.toContain('secret reason');
  });
});
