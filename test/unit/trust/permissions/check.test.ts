// Permissions on the path of every call, with a server that records what reaches it.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import type { Call } from '../../../../src/calls/call.ts';
import { permissionRules } from '../../../../src/calls/permissions.ts';
import { usableTools } from '../../../../src/calls/usable.ts';
import { Permissions, type PermissionsFile } from '../../../../src/config/server/permissions.ts';
import { Unanswered } from '../../../../src/mcp/questions.ts';
import { METHOD_NOT_FOUND, RpcError } from '../../../../src/rpc/message.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';
import { childConfig } from '../../../support/child-config.ts';
import { FakeCaller } from '../../../support/fake-caller.ts';
import {
  byName,
  callsFor,
  createFakePool,
  FakeChild,
  temporaryFolder,
} from '../../../support/fake-child.ts';
import { variantsOf } from '../../../support/name-variants.ts';
import { SILENT_LOG } from '../../../support/silent-log.ts';

const READ = { name: 'read_file', annotations: { readOnlyHint: true } };
const DELETE = { name: 'delete_file', annotations: { destructiveHint: true } };
const PLAIN = { name: 'plain' };

type Lists = Omit<PermissionsFile, 'file' | 'isUsers'>;

/** A server "box" under the user's permissions, and ways to use it. */
function setUp(lists: Lists, keys: { readonly readOnlyIn?: string } = {}) {
  const home = temporaryFolder();
  const usersFile = join(home, 'switchboard.config.json');
  const names = { users: ['box'], all: ['box'] };
  const file = { ...lists, file: usersFile, isUsers: true };
  const permissions = new Permissions([file], names, { usersFile, home });
  const rules = permissions.rulesFor({ name: 'box', ...keys });
  const box = childConfig({ name: 'box', ...(rules && { rules }) });
  const child = new FakeChild();
  child.tools = [READ, DELETE, PLAIN];
  let starts = 0;
  const { pool } = createFakePool([box], async () => {
    starts++;
    return child;
  });
  const calls = callsFor([box], pool, permissions);
  const caller = new FakeCaller();
  const send = (target: string, more: Partial<Call> = {}, args: Verbatim = Verbatim.of({})) =>
    calls.send({
      server: box,
      method: 'tools/call',
      target,
      params: args,
      context: { cancellation: new Cancellation(), caller },
      through: 'suite',
      ...more,
    });
  const written = () => (existsSync(usersFile) ? readFileSync(usersFile, 'utf8') : undefined);
  const reload = () => {
    const logging = { level: 'info', form: 'compact', folder: undefined } as const;
    calls.update({ children: byName([box]), logging, permissions });
  };
  return {
    send,
    child,
    caller,
    usersFile,
    written,
    starts: () => starts,
    reload,
    pool,
    box,
    rules,
  };
}

const answerWith = (answer: string) => async () =>
  Verbatim.of({ action: 'accept', content: { answer } });
const NOT_ALLOWED = { code: 'TOOL_NOT_ALLOWED' };

test('without rules there is no interceptor', () => {
  const parts = { pool: undefined, log: SILENT_LOG } as never;
  const children = byName([childConfig({ name: 'box' })]);
  expect(permissionRules({ children, permissions: undefined }, parts)).toBeUndefined();
});

describe('deny', () => {
  test('by name refuses without starting the server, and says why', async () => {
    const { send, starts, usersFile } = setUp({ deny: ['box__delete_file'] });
    await expect(send('delete_file')).rejects.toMatchObject({
      ...NOT_ALLOWED,
      message: `Tool "delete_file" of server "box" is not allowed (permissions.deny "box__delete_file" in ${usersFile}).`,
    });
    await expect(send('Delete-File')).rejects.toMatchObject(NOT_ALLOWED);
    expect(starts()).toBe(0);
    await send('read_file');
  });

  test('of the whole server refuses everything, lists included', async () => {
    const { send, starts } = setUp({ deny: ['mcp__box'] });
    for (const method of [
      'tools/call',
      'tools/list',
      'prompts/get',
      'resources/read',
      'tasks/get',
    ]) {
      await expect(send('x', { method })).rejects.toMatchObject(NOT_ALLOWED);
    }
    expect(starts()).toBe(0);
  });

  test('by annotations lists the tools first', async () => {
    const { send, child } = setUp({ deny: ['box__@write'] });
    await send('read_file');
    await expect(send('delete_file')).rejects.toMatchObject(NOT_ALLOWED);
    await expect(send('plain')).rejects.toMatchObject(NOT_ALLOWED);
    expect([child.called, child.lists]).toEqual([['read_file'], 1]);
  });

  test('counts the weaker annotations of a tool that is listed twice', async () => {
    const { send, child } = setUp({ deny: ['@write'] });
    child.tools = [{ ...DELETE, annotations: READ.annotations }, DELETE];
    await expect(send('delete_file')).rejects.toMatchObject(NOT_ALLOWED);
    child.tools.reverse();
    await expect(send('delete_file')).rejects.toMatchObject(NOT_ALLOWED);
  });

  test('applies to prompts, resources and completions', async () => {
    const { send, child } = setUp({ deny: ['box__secret*', 'box__file:///etc/*'] });
    await expect(send('secret_one', { method: 'prompts/get' })).rejects.toMatchObject(NOT_ALLOWED);
    await expect(send('file:///etc/passwd', { method: 'resources/read' })).rejects.toMatchObject(
      NOT_ALLOWED,
    );
    const ref = Verbatim.of({ ref: { type: 'ref/prompt', name: 'secret_one' } });
    const method = 'completion/complete';
    await expect(send('secret_one', { method }, ref)).rejects.toMatchObject(NOT_ALLOWED);
    await send('open', { method: 'prompts/get' });
    await send('file:///tmp/x', { method: 'resources/read' });
    expect(child.asked.map((asked) => asked.split(' ')[0])).toEqual([
      'prompts/get',
      'resources/read',
    ]);
  });
});

test('a name that is too long to compare is refused, and not repeated', async () => {
  const { send, starts } = setUp({ deny: ['box__*delete*'] });
  for (const name of ['a-'.repeat(5_000_000), `${'x'.repeat(10_000)}delete`]) {
    const outcome = await send(name).then(
      () => 'It was called.',
      (error: Error) => error.message,
    );
    expect(outcome).toContain('of server "box" is not allowed (its name is too long).');
    expect(outcome.length).toBeLessThan(500);
  }
  expect(starts()).toBe(0);
});

describe('annotations that grew after first sight', () => {
  /** A server whose tool `send` now claims to be read-only, which the user hasn't accepted. */
  async function withGrownTool(lists: Lists, keys: { readonly readOnlyIn?: string } = {}) {
    const { send, child, pool, box, rules } = setUp(lists, keys);
    child.tools = [READ, { name: 'send', annotations: { readOnlyHint: true } }];
    child.verdict = { ...child.verdict, rights: new Map([['send', {}]]) };
    await pool.warm('box');
    const listed = () => usableTools({ ...box, rules }, pool).map(({ name }) => name);
    const accept = () => {
      child.verdict = { ...child.verdict, rights: new Map() };
      pool.remember(box, child.tools);
    };
    return { send, child, listed, accept };
  }

  test.each<[string, Lists, { readonly readOnlyIn?: string }]>([
    ['allow @read', { default: 'deny', allow: ['box__@read'] }, {}],
    ['deny @write', { deny: ['@write'] }, {}],
    ['deny @destructive', { deny: ['box__@destructive'] }, {}],
    ['readOnly', {}, { readOnlyIn: '/u.json' }],
  ])('do not count for %s, on listing and on calling', async (_rule, lists, keys) => {
    const { send, child, listed, accept } = await withGrownTool(lists, keys);
    expect(listed()).toEqual(['read_file']);
    await expect(send('send')).rejects.toMatchObject(NOT_ALLOWED);
    await send('read_file');
    accept();
    expect(listed()).toEqual(['read_file', 'send']);
    await send('send');
    expect(child.called).toEqual(['read_file', 'send']);
  });
});

test('readOnly permits tools that are marked as read-only, prompts and resources', async () => {
  const { send, child } = setUp({}, { readOnlyIn: '/file' });
  await send('read_file');
  await send('x', { method: 'prompts/get' });
  await send('a:b', { method: 'resources/read' });
  for (const tool of ['delete_file', 'plain', 'other'])
    await expect(send(tool)).rejects.toHaveProperty('code');
  await expect(send('plain')).rejects.toThrow(
    'Tool "plain" of server "box" is not allowed: the server is limited to read-only tools (readOnly in /file).',
  );
  expect(child.called).toEqual(['read_file']);
});

test.each<[string, Lists]>([
  ['a name', { deny: ['box__delete_file'] }],
  ['a pattern', { deny: ['*__delete_*'] }],
  ['annotations', { deny: ['@destructive'] }],
  ['the default', { default: 'deny', allow: ['box__read_file'] }],
  ['ask, without anyone to ask', { ask: ['box__delete_file', 'box__@destructive'] }],
])('no spelling of a name escapes, if it is denied by %s', async (_, lists) => {
  const { send, child, caller } = setUp(lists);
  caller.capabilities = {};
  const variants = [...variantsOf('delete_file'), 'delete_file'];
  expect(variants.length).toBeGreaterThan(1_000);
  const outcomes = await Promise.allSettled(variants.map((name) => send(name)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  await send('read_file');
  // The server accepts any spelling, so nothing may reach it.
  expect(child.called).toEqual(['read_file']);
});

test('nor from expose', async () => {
  const { pool, calls, child } = (() => {
    const server = new FakeChild('delete_file', 'read_file');
    const box = childConfig({ name: 'box', expose: { allow: undefined, deny: ['delete_file'] } });
    const fake = createFakePool([box], async () => server);
    return { ...fake, calls: { box, send: callsFor([box], fake.pool).send }, child: server };
  })();
  const send = (target: string) =>
    calls.send({
      server: calls.box,
      method: 'tools/call',
      target,
      params: Verbatim.of({}),
      context: { cancellation: new Cancellation() },
      through: 'tool',
    });
  const variants = [...variantsOf('delete_file'), 'delete_file'];
  const outcomes = await Promise.allSettled(variants.map(send));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  await send('read_file');
  expect(child.called).toEqual(['read_file']);
  expect(pool.tools('box')).toHaveLength(2);
});

describe('ask', () => {
  const ASK = { ask: ['box__delete_file'] };

  test('shows server, tool and all arguments', async () => {
    const { send, caller, child } = setUp(ASK);
    caller.reply = answerWith('once');
    await send('delete_file', {}, Verbatim.of({ path: 'a\nb\u200b', deep: { n: 1 } }));
    const [asked = ''] = caller.asked;
    const { message, requestedSchema } = JSON.parse(asked.slice(asked.indexOf('{'))) as {
      message: string;
      requestedSchema: unknown;
    };
    expect(message).toBe(
      [
        'Allow this call? Tool "delete_file" of server "box"',
        'Arguments:',
        '{',
        String.raw`  "path": "a\nb\u200b",`,
        '  "deep": {',
        '    "n": 1',
        '  }',
        '}',
      ].join('\n'),
    );
    expect(requestedSchema).toMatchObject({
      properties: { answer: { enum: ['once', 'session', 'always', 'no'] } },
      required: ['answer'],
    });
    expect(child.called).toEqual(['delete_file']);
  });

  test('shows what parsing would hide', async () => {
    const { send, caller } = setUp(ASK);
    caller.reply = answerWith('once');
    await send('delete_file', {}, Verbatim.parse('{"path":"/etc","path":"/tmp", "n": 1.0}'));
    expect(caller.asked[0]).toContain(
      JSON.stringify('{"path":"/etc","path":"/tmp", "n": 1.0}').slice(1, -1),
    );
  });

  test('once asks every time', async () => {
    const { send, caller } = setUp(ASK);
    caller.reply = answerWith('once');
    await send('delete_file');
    await send('delete_file');
    expect(caller.asked).toHaveLength(2);
  });

  test('for the session asks once for each session and tool', async () => {
    const { send, caller, child } = setUp({ ask: ['box__@write'] });
    caller.reply = answerWith('session');
    await send('delete_file');
    await send('delete_file', {}, Verbatim.of({ other: 1 }));
    expect(caller.asked).toHaveLength(1);
    await send('plain');
    expect(caller.asked).toHaveLength(2);
    const other = new FakeCaller();
    other.reply = answerWith('no');
    const context = { cancellation: new Cancellation(), caller: other };
    await expect(send('delete_file', { context })).rejects.toMatchObject(NOT_ALLOWED);
    expect(child.called).toEqual(['delete_file', 'delete_file', 'plain']);
  });

  test('for the session asks again once another program has taken the name', async () => {
    const { send, caller, box } = setUp(ASK);
    caller.reply = answerWith('session');
    await send('delete_file');
    const command = { cmd: 'other', args: [], env: {} };
    await send('delete_file', { server: { ...box, command } });
    expect(caller.asked).toHaveLength(2);
  });

  test("always writes the user's file, which then allows it", async () => {
    const { send, caller, usersFile, written } = setUp(ASK);
    writeFileSync(usersFile, '{\n  // mine\n  "permissions": { "ask": ["box__delete_file"] }\n}\n');
    caller.reply = answerWith('always');
    await send('delete_file');
    expect(written()).toBe(
      '{\n  // mine\n  "permissions": { "ask": ["box__delete_file", "!box__delete_file"], "allow": ["box__delete_file"] }\n}\n',
    );
    const other = new FakeCaller();
    await send('delete_file', { context: { cancellation: new Cancellation(), caller: other } });
    expect([caller.asked.length, other.asked.length]).toEqual([1, 0]);
    const again = setUp({
      ask: ['box__delete_file', '!box__delete_file'],
      allow: ['box__delete_file'],
    });
    await again.send('delete_file');
    expect(again.caller.asked).toEqual([]);
  });

  test('after a reload, only the files count', async () => {
    const { send, caller, reload } = setUp(ASK);
    caller.reply = answerWith('always');
    await send('delete_file');
    reload();
    const other = new FakeCaller();
    other.reply = answerWith('once');
    await send('delete_file', { context: { cancellation: new Cancellation(), caller: other } });
    expect(other.asked).toHaveLength(1);
  });

  test('always creates a private file if there is none', async () => {
    const { send, caller, usersFile, written } = setUp({ default: 'ask' });
    caller.reply = answerWith('always');
    await send('read_file');
    expect(JSON.parse(written() ?? '')).toEqual({ permissions: { allow: ['box__read_file'] } });
    expect(statSync(usersFile).mode & 0o777).toBe(0o600);
  });

  test('always holds for this process even if the file cannot be written', async () => {
    const { send, caller, usersFile, written } = setUp(ASK);
    writeFileSync(usersFile, '{ broken');
    caller.reply = answerWith('always');
    await send('delete_file');
    await send('delete_file');
    expect([caller.asked.length, written()]).toEqual([1, '{ broken']);
  });

  test.each([
    ['declined', { action: 'decline' }],
    ['cancelled', { action: 'cancel' }],
    ['answered with no', { action: 'accept', content: { answer: 'no' } }],
    ['accepted without an answer', { action: 'accept' }],
    ['answered with something else', { action: 'accept', content: { answer: 'ALWAYS' } }],
    ['answered with nonsense', 'yes'],
  ])('refuses if the question is %s', async (_, reply) => {
    const { send, caller, child, written } = setUp(ASK);
    caller.reply = async () => Verbatim.of(reply);
    await expect(send('delete_file')).rejects.toMatchObject({
      ...NOT_ALLOWED,
      message: 'The user did not allow it: Tool "delete_file" of server "box".',
    });
    expect([child.called, written()]).toEqual([[], undefined]);
  });

  test('refuses with the line to add if the host cannot ask', async () => {
    const { send, caller, usersFile } = setUp(ASK);
    caller.capabilities = {};
    const line = `add "permissions": {"ask":["!box__delete_file"],"allow":["box__delete_file"]} to ${usersFile}.`;
    await expect(send('delete_file')).rejects.toMatchObject({
      ...NOT_ALLOWED,
      message: `Tool "delete_file" of server "box" needs the user's approval (permissions.ask "box__delete_file" in ${usersFile}), but this host does not support elicitation.`,
      hint: `The user can allow it permanently: ${line}`,
    });
    const context = { cancellation: new Cancellation() };
    await expect(send('delete_file', { context })).rejects.toMatchObject(NOT_ALLOWED);
    // A nested Switchboard has the capability, but its host doesn't.
    const nested = new FakeCaller();
    nested.reply = async () => Promise.reject(new RpcError(METHOD_NOT_FOUND, 'no'));
    const inner = { cancellation: new Cancellation(), caller: nested };
    await expect(send('delete_file', { context: inner })).rejects.toMatchObject({
      hint: expect.stringContaining(line) as string,
    });
    const silent = new FakeCaller();
    silent.reply = async () => Promise.reject(new Unanswered());
    const late = { cancellation: new Cancellation(), caller: silent };
    await expect(send('delete_file', { context: late })).rejects.toThrow('nobody answered in time');
  });

  test('refuses arguments that cannot be shown completely, without asking', async () => {
    const { send, caller, child } = setUp(ASK);
    await expect(send('delete_file', {}, Verbatim.of({ text: 'x'.repeat(5_000) }))).rejects.toThrow(
      'its arguments are too long to show completely',
    );
    expect([caller.asked, child.called]).toEqual([[], []]);
  });

  test.each([2_000, 100_000])('refuses arguments nested %i levels deep', async (depth) => {
    const { send, caller, child } = setUp(ASK);
    const deep = Verbatim.fromText(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    await expect(send('delete_file', {}, deep)).rejects.toThrow('too long to show');
    expect([caller.asked, child.called]).toEqual([[], []]);
  });

  test('applies to prompts and resources, and a completion needs their approval', async () => {
    const { send, caller, child } = setUp({ ask: ['box'] });
    caller.reply = answerWith('session');
    const ref = Verbatim.of({ ref: { type: 'ref/prompt', name: 'greet' } });
    const complete = () => send('greet', { method: 'completion/complete' }, ref);
    await expect(complete()).rejects.toThrow('cannot ask for it during a completion');
    await send('greet', { method: 'prompts/get' }, Verbatim.of({ name: 'greet' }));
    await complete();
    await send('a:b', { method: 'resources/read' }, Verbatim.of({ uri: 'a:b' }));
    expect(caller.asked).toHaveLength(2);
    expect(caller.asked[1]).toContain('Resource \\"a:b\\" of server \\"box\\"');
    expect(child.asked).toHaveLength(3);
  });

  test('a later round of the same request is not asked about again', async () => {
    const { send, caller, child } = setUp(ASK);
    const inputs = { responses: undefined, state: undefined, isRepeated: true };
    await send('delete_file', { context: { cancellation: new Cancellation(), caller, inputs } });
    expect([caller.asked, child.called]).toEqual([[], ['delete_file']]);
  });

  test('a cancelled call ends the question', async () => {
    const { send, caller, child } = setUp(ASK);
    const cancellation = new Cancellation();
    caller.reply = () => cancellation.race(new Promise<never>(() => {}));
    const sent = send('delete_file', { context: { cancellation, caller } });
    const outcome = sent.catch((error: Error) => error.message);
    await expect.poll(() => caller.asked.length).toBe(1);
    cancellation.cancel(new Error('stop'));
    expect(await outcome).toBe('stop');
    expect(child.called).toEqual([]);
  });
});
