import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import { Audit } from '../../../src/calls/audit.ts';
import type { Call } from '../../../src/calls/call.ts';
import { Calls } from '../../../src/calls/calls.ts';
import type { AuditSettings } from '../../../src/config/config.ts';
import { Permissions } from '../../../src/config/server/permissions.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import type { AuditEvent } from '../../../src/trust/audit/events.ts';
import { fingerprint, shapeOf } from '../../../src/trust/audit/fingerprint.ts';
import { readAudit, verifyAudit } from '../../../src/trust/audit/verify.ts';
import { auditRun, auditStart } from '../../../src/trust/audit/watch.ts';
import { AuditWriter } from '../../../src/trust/audit/writer.ts';
import { childConfig } from '../../support/child-config.ts';
import { FakeCaller } from '../../support/fake-caller.ts';
import {
  byName,
  createFakePool,
  FakeChild,
  temporaryFolder,
  turn,
} from '../../support/fake-child.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

const DAY_MS = 86_400_000;
const SECRET = 'a-value-nobody-may-see';

function settingsIn(folder: string, some: Partial<AuditSettings> = {}): AuditSettings {
  return { folder, required: false, maxFileBytes: 1 << 20, keepDays: 90, ...some };
}

const eventAbout = (tool: string): AuditEvent => ({
  type: 'decision',
  by: 'test',
  decision: 'allow',
  server: 'box',
  tool,
});

/** A log with one line for each of these tools. */
async function writeLog(tools: readonly string[], some: Partial<AuditSettings> = {}) {
  const folder = join(temporaryFolder(), 'audit');
  const writer = await AuditWriter.open(settingsIn(folder, some));
  for (const tool of tools) writer.write(Date.now(), eventAbout(tool));
  writer.close();
  return folder;
}

const logsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
const toolsCalledIn = (folder: string) =>
  [...readAudit(folder)].flatMap(({ target }) => target ?? []);
const toolsIn = (folder: string) => [...readAudit(folder)].flatMap(({ tool }) => tool ?? []);

/** Changes the lines of the only log file. */
function rewrite(folder: string, change: (lines: string[]) => readonly string[]): void {
  const [name = ''] = logsIn(folder);
  const file = join(folder, name);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  writeFileSync(
    file,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

const findings = (folder: string) =>
  verifyAudit(folder).problems.map(({ kind, line }) => [kind, line]);

describe('a log', () => {
  test('that is intact has no problems', async () => {
    const folder = await writeLog(['a', 'b', 'c']);
    expect(verifyAudit(folder)).toEqual({ folder, files: 1, entries: 4, problems: [] });
    expect(toolsIn(folder)).toEqual(['a', 'b', 'c']);
  });

  test('only the user can read it and its key', async () => {
    const folder = await writeLog(['a']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder)).toHaveLength(3);
    for (const name of readdirSync(folder)) {
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
  });

  test('its file is named after the day and the process', async () => {
    const folder = await writeLog([]);
    const day = new Date().toISOString().slice(0, 10);
    expect(logsIn(folder)).toEqual([`${day}-${process.pid}.jsonl`]);
  });

  test('a second log of the same process has a file of its own', async () => {
    const folder = await writeLog(['a']);
    const writer = await AuditWriter.open(settingsIn(folder));
    writer.write(Date.now(), eventAbout('b'));
    writer.close();
    expect(logsIn(folder)).toHaveLength(2);
    expect(verifyAudit(folder).problems).toEqual([]);
  });

  test('two processes that start at once share one key', async () => {
    const folder = join(temporaryFolder(), 'audit');
    const writers = await Promise.all([1, 2, 3].map(() => AuditWriter.open(settingsIn(folder))));
    for (const writer of writers) writer.close();
    expect(verifyAudit(folder)).toMatchObject({ files: 3, problems: [] });
  });

  test('it has the size, the shape and a hash of arguments, but no values', async () => {
    const folder = join(temporaryFolder(), 'audit');
    const writer = await AuditWriter.open(settingsIn(folder));
    const args = Verbatim.of({ path: SECRET, [`/${SECRET}`]: [1, 'x', 2], deep: { a: { b: [] } } });
    writer.write(Date.now(), { ...eventAbout('a'), arguments: args } as AuditEvent);
    writer.close();
    const [name = ''] = logsIn(folder);
    expect(readFileSync(join(folder, name), 'utf8')).not.toContain(SECRET);
    expect([...readAudit(folder)].at(-1)).toMatchObject({
      arguments: {
        bytes: Buffer.byteLength(args.text),
        sha256: fingerprint(args).sha256,
        shape: { path: 'string', '*': ['number', 'string'], deep: { a: { b: 'array' } } },
      },
    });
  });

  test('a shape has limits', () => {
    const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`a${index}`, 1]));
    expect(Object.keys(shapeOf(wide))).toHaveLength(32);
    expect(shapeOf(Array.from({ length: 1_000 }, () => null))).toEqual(['null']);
    expect(shapeOf({ AKIAIOSFODNN7EXAMPLE: 1, 'a@b.example': 2 })).toEqual({ '*': 'number' });
  });
});

describe('a log that was changed', () => {
  test.each<[string, (lines: string[]) => readonly string[], [string, number | undefined][]]>([
    [
      'an edited line',
      (lines) => lines.map((line) => line.replace('"tool":"b"', '"tool":"x"')),
      [['edited', 3]],
    ],
    [
      'a changed time',
      (lines) => lines.map((line, index) => (index === 1 ? line.replace('T', ' ') : line)),
      [['edited', 2]],
    ],
    ['a removed line', (lines) => lines.toSpliced(2, 1), [['removed', 3]]],
    [
      'a removed first line',
      (lines) => lines.slice(1),
      [
        ['removed', 1],
        ['edited', 1],
      ],
    ],
    [
      'two swapped lines',
      (lines) => lines.toSpliced(1, 2, lines[2] ?? '', lines[1] ?? ''),
      [
        ['removed', 2],
        ['moved', 3],
        ['removed', 4],
      ],
    ],
    ['a repeated line', (lines) => lines.toSpliced(2, 0, lines[1] ?? ''), [['moved', 3]]],
    ['a missing end', (lines) => lines.slice(0, -2), [['truncated', undefined]]],
    ['an empty file', () => [], [['truncated', undefined]]],
    [
      'a replaced last line',
      (lines) => [...lines.slice(0, -1), (lines.at(-1) ?? '').replace('"c"', '"x"')],
      [['edited', 4]],
    ],
    ['an added line', (lines) => [...lines, '{"seq":5,"tool":"x"}'], [['unreadable', 5]]],
  ])('%s is found', async (_name, change, problems) => {
    const folder = await writeLog(['a', 'b', 'c']);
    rewrite(folder, change);
    expect(findings(folder)).toEqual(problems);
  });

  test('every single changed byte is found', async () => {
    const folder = await writeLog(['a']);
    const [name = ''] = logsIn(folder);
    const file = join(folder, name);
    const whole = readFileSync(file);
    const missed: number[] = [];
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(file, changed);
      if (verifyAudit(folder).problems.length === 0) missed.push(at);
    }
    expect(missed).toEqual([]);
  });

  test('every truncation is found', async () => {
    const folder = await writeLog(['a']);
    const [name = ''] = logsIn(folder);
    const file = join(folder, name);
    const whole = readFileSync(file);
    const missed: number[] = [];
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(file, whole.subarray(0, length));
      if (verifyAudit(folder).problems.length === 0) missed.push(length);
    }
    expect(missed).toEqual([]);
  });

  test('a truncation hidden by a forged head is found', async () => {
    const folder = await writeLog(['a', 'b', 'c']);
    const [name = ''] = logsIn(folder);
    rewrite(folder, (lines) => lines.slice(0, -1));
    const head = join(folder, name.replace('.jsonl', '.head'));
    const last = [...readAudit(folder)].at(-1);
    const mac = /"mac":"(\w+)"\}\n$/.exec(readFileSync(join(folder, name), 'utf8'))?.[1];
    const before: Record<string, unknown> = JSON.parse(readFileSync(head, 'utf8'));
    writeFileSync(head, JSON.stringify({ ...before, lines: 3, seq: last?.['seq'], mac }));
    expect(findings(folder)).toEqual([['head', undefined]]);
  });

  test('a missing head is found', async () => {
    const folder = await writeLog(['a']);
    const [name = ''] = logsIn(folder);
    rmSync(join(folder, name.replace('.jsonl', '.head')));
    expect(findings(folder)).toEqual([['head', undefined]]);
  });

  test('a missing file is found by its head, and by the file after it', async () => {
    const folder = await writeLog(['a']);
    const [first = ''] = logsIn(folder);
    const writer = await AuditWriter.open(settingsIn(folder));
    writer.close();
    rmSync(join(folder, first));
    expect(findings(folder)).toEqual([['missing', undefined]]);
    rmSync(join(folder, first.replace('.jsonl', '.head')));
    expect(findings(folder)).toEqual([['missing', undefined]]);
  });

  test('without its key it cannot be verified', async () => {
    const folder = await writeLog(['a']);
    rmSync(join(folder, 'key'));
    expect(findings(folder)).toEqual([['key', undefined]]);
    const writer = await AuditWriter.open(settingsIn(folder));
    writer.close();
    expect(findings(folder)).toEqual([['key', undefined]]);
  });

  test('a process that is killed in the middle of a line leaves all others', async () => {
    const folder = await writeLog(['a', 'b']);
    const [name = ''] = logsIn(folder);
    appendFileSync(join(folder, name), '{"v":1,"seq":4,"time":"2026-');
    expect(verifyAudit(folder)).toMatchObject({
      entries: 3,
      problems: [
        {
          kind: 'incomplete',
          line: 4,
          message:
            'The last line is incomplete. The process was killed while writing it, or the file was truncated.',
        },
      ],
    });
    expect(toolsIn(folder)).toEqual(['a', 'b']);
    // The next process has a file of its own, so nothing is written behind the broken line.
    const next = await AuditWriter.open(settingsIn(folder));
    next.write(Date.now(), eventAbout('c'));
    next.close();
    expect(findings(folder)).toEqual([['incomplete', 4]]);
  });

  test('a process that is killed between a line and its head leaves a valid log', async () => {
    const folder = join(temporaryFolder(), 'audit');
    const writer = await AuditWriter.open(settingsIn(folder));
    writer.write(Date.now(), eventAbout('a'));
    const [name = ''] = logsIn(folder);
    const head = join(folder, name.replace('.jsonl', '.head'));
    const early = readFileSync(head);
    writer.write(Date.now(), eventAbout('b'));
    writer.close();
    writeFileSync(head, early);
    expect(verifyAudit(folder)).toMatchObject({ entries: 3, problems: [] });
  });
});

test('a clock that is set back or forward breaks nothing', async () => {
  const folder = join(temporaryFolder(), 'audit');
  const noon = Date.UTC(2026, 10, 16, 12);
  let now = noon;
  const writer = await AuditWriter.open(settingsIn(folder), () => now);
  for (const days of [0, -2, 0, 3, -80, 0]) {
    now = noon + days * DAY_MS;
    writer.write(now, eventAbout(`day${days}`));
  }
  writer.close();
  expect(verifyAudit(folder).problems).toEqual([]);
  // File by file, so in the order of their dates.
  expect(toolsIn(folder)).toEqual(['day-80', 'day-2', 'day0', 'day0', 'day0', 'day3']);
});

test('names that models, hosts and servers choose cannot forge, flood or leak', async () => {
  const folder = join(temporaryFolder(), 'audit');
  const token = `ghp_${'a'.repeat(36)}`;
  const writer = await AuditWriter.open(settingsIn(folder));
  writer.write(0, eventAbout('x"}\n{"v":1,"seq":9,"type":"call"}'));
  writer.write(0, eventAbout('dele\u200bte\u202e'));
  writer.write(0, eventAbout('x'.repeat(10_000_000)));
  writer.write(0, eventAbout(`read ${token}`));
  writer.close();
  expect(verifyAudit(folder)).toMatchObject({ entries: 5, problems: [] });
  expect(toolsIn(folder)).toEqual([
    'x"}\n{"v":1,"seq":9,"type":"call"}',
    String.raw`dele\u200bte\u202e`,
    `${'x'.repeat(500)}…`,
    'read ***',
  ]);
  const [name = ''] = logsIn(folder);
  expect(statSync(join(folder, name)).size).toBeLessThan(5_000);
});

test('arguments that are nested endlessly are noted like others', () => {
  const depth = 100_000;
  const deep = Verbatim.fromText(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
  expect(fingerprint(deep)).toMatchObject({ bytes: 2 * depth + 6, shape: { a: [['array']] } });
});

describe('rotation', () => {
  test('a full file is continued in the next, and so is the chain', async () => {
    const tools = Array.from({ length: 60 }, (_, index) => `tool${index}`);
    const folder = await writeLog(tools, { maxFileBytes: 4_096 });
    expect(logsIn(folder).length).toBeGreaterThan(3);
    expect(verifyAudit(folder).problems).toEqual([]);
    expect(toolsIn(folder)).toEqual(tools);
  });

  test('a file that was removed from the middle is found', async () => {
    const tools = Array.from({ length: 60 }, (_, index) => `tool${index}`);
    const folder = await writeLog(tools, { maxFileBytes: 4_096 });
    const name = logsIn(folder).find((file) => file.endsWith('-2.jsonl')) ?? '';
    rmSync(join(folder, name));
    rmSync(join(folder, name.replace('.jsonl', '.head')));
    expect(verifyAudit(folder).problems).toMatchObject([{ kind: 'missing', file: name }]);
  });

  test('each day has a file of its own', async () => {
    const folder = join(temporaryFolder(), 'audit');
    let now = Date.UTC(2026, 10, 16, 23, 59);
    const writer = await AuditWriter.open(settingsIn(folder), () => now);
    writer.write(now, eventAbout('a'));
    now += 120_000;
    writer.write(now, eventAbout('b'));
    writer.close();
    expect(logsIn(folder)).toEqual([
      `2026-11-16-${process.pid}.jsonl`,
      `2026-11-17-${process.pid}.jsonl`,
    ]);
    expect(verifyAudit(folder).problems).toEqual([]);
  });

  test('files beyond their days are deleted, which the log says', async () => {
    const folder = join(temporaryFolder(), 'audit');
    let now = Date.UTC(2026, 0, 1);
    const first = await AuditWriter.open(settingsIn(folder, { keepDays: 10 }), () => now);
    first.close();
    const [old = ''] = logsIn(folder);
    utimesSync(join(folder, old), new Date(now), new Date(now));
    now += 10 * DAY_MS;
    (await AuditWriter.open(settingsIn(folder, { keepDays: 10 }), () => now)).close();
    expect(logsIn(folder)).toHaveLength(2);
    now += 2 * DAY_MS;
    (await AuditWriter.open(settingsIn(folder, { keepDays: 10 }), () => now)).close();
    expect(logsIn(folder)).not.toContain(old);
    expect(logsIn(folder)).toHaveLength(2);
    expect(verifyAudit(folder).problems).toEqual([]);
    expect([...readAudit(folder)].at(-1)).toMatchObject({ type: 'removed' });
  });
});

describe('calls', () => {
  const box = childConfig({ name: 'box' });
  const logging = { level: 'info', form: 'compact', folder: undefined } as const;
  const callTo = (target: string, some: Partial<Call['context']> = {}): Call => ({
    server: box,
    method: 'tools/call',
    target,
    params: Verbatim.of({ text: SECRET }),
    context: { cancellation: new Cancellation(), ...some },
    through: 'suite',
  });

  function openCalls(audit: AuditSettings | undefined, child = new FakeChild('echo')) {
    const { pool } = createFakePool([box], async () => child);
    const settings = { children: byName([box]), logging, ...(audit && { audit }) };
    const calls = new Calls(settings, { pool, log: SILENT_LOG });
    onTestFinished(() => calls[Symbol.asyncDispose]());
    return { calls, settings };
  }

  test('every call has a line before it is answered', async () => {
    const folder = join(temporaryFolder(), 'audit');
    const { calls } = openCalls(settingsIn(folder));
    await calls.send(callTo('echo', { caller: new FakeCaller() }));
    expect([...readAudit(folder)].at(-1)).toMatchObject({
      type: 'call',
      session: 1,
      host: 'some host',
      server: 'box',
      method: 'tools/call',
      target: 'echo',
      arguments: { shape: { text: 'string' } },
      resultBytes: 50,
      outcome: 'ok',
    });
    await calls.send({ ...callTo('a:1?token=x'), method: 'resources/read' });
    expect([...readAudit(folder)].at(-1)).not.toHaveProperty('target');
    expect(verifyAudit(folder).problems).toEqual([]);
  });

  test('calls that fail, are refused or are cancelled also have a line', async () => {
    const folder = join(temporaryFolder(), 'audit');
    const child = new FakeChild('echo');
    child.callTool = async (subtool) => {
      throw new SwitchboardError(subtool === 'slow' ? 'CHILD_TIMEOUT' : 'CHILD_EXITED', 'No.');
    };
    const { calls } = openCalls(settingsIn(folder), child);
    const cancellation = new Cancellation();
    cancellation.cancel(new Error('Never mind.'));
    await Promise.allSettled([
      calls.send(callTo('slow')),
      calls.send(callTo('gone')),
      calls.send(callTo('late', { cancellation })),
    ]);
    const outcomes = [...readAudit(folder)].flatMap(({ outcome }) => outcome ?? []);
    expect(new Set(outcomes)).toEqual(new Set(['cancelled', 'error', 'timeout']));
    expect(outcomes).toHaveLength(3);
  });

  test('decisions of permissions and expose are noted with their rules and answers', async () => {
    const folder = join(temporaryFolder(), 'audit');
    const permissions = new Permissions(
      [
        {
          file: '/u.json',
          isUsers: true,
          deny: ['box__rm', 'off'],
          ask: ['box__echo', 'box__a:*'],
        },
      ],
      { users: ['box', 'off'], all: ['box', 'off'] },
      { usersFile: join(folder, 'none.json'), home: folder },
    );
    const rulesOf = (name: string) => ({ name, rules: permissions.rulesFor({ name }) });
    const ruled = childConfig({
      ...rulesOf('box'),
      expose: { allow: undefined, deny: ['hidden'] },
    });
    const off = childConfig(rulesOf('off'));
    const { pool } = createFakePool([ruled, off], async () => new FakeChild('echo', 'rm'));
    const children = byName([ruled, off]);
    const settings = { children, logging, permissions, audit: settingsIn(folder) };
    const calls = new Calls(settings, { pool, log: SILENT_LOG });
    onTestFinished(() => calls[Symbol.asyncDispose]());
    const caller = new FakeCaller();
    const ask = async (target: string, answer?: string, more: Partial<Call> = {}) => {
      caller.reply = async () => Verbatim.of({ action: 'accept', content: { answer } });
      await Promise.allSettled([
        calls.send({ ...callTo(target, { caller }), server: ruled, ...more }),
      ]);
    };
    await ask('rm');
    await ask('hidden');
    await ask('x', undefined, { server: off });
    await ask('echo', 'no');
    await ask('echo', undefined, { context: { cancellation: new Cancellation() } });
    await ask('echo', 'once');
    await ask('a:1?token=x', 'once', { method: 'resources/read' });
    await ask('echo', 'session');
    const rule = (list: string, text: string) => `permissions.${list} "${text}" in /u.json`;
    const decisions = [...readAudit(folder)].filter(({ type }) => type === 'decision');
    expect(
      decisions.map(({ by, decision, server, tool, rule: because, answer }) => [
        by,
        decision,
        server,
        tool,
        because,
        answer,
      ]),
    ).toEqual([
      ['permissions', 'deny', 'box', 'rm', rule('deny', 'box__rm'), undefined],
      ['expose', 'deny', 'box', 'hidden', undefined, undefined],
      ['permissions', 'deny', 'off', 'x', rule('deny', 'off'), undefined],
      ['permissions', 'deny', 'box', 'echo', rule('ask', 'box__echo'), 'no'],
      ['permissions', 'deny', 'box', 'echo', rule('ask', 'box__echo'), 'none'],
      ['permissions', 'allow', 'box', 'echo', rule('ask', 'box__echo'), 'once'],
      ['permissions', 'allow', 'box', undefined, rule('ask', 'box__a:*'), 'once'],
      ['permissions', 'allow', 'box', 'echo', rule('ask', 'box__echo'), 'session'],
    ]);
    const codes = [...readAudit(folder)].flatMap(({ code }) => code ?? []);
    expect(codes).toEqual(Array.from({ length: 5 }, () => 'TOOL_NOT_ALLOWED'));
    expect(readFileSync(join(folder, logsIn(folder)[0] ?? ''), 'utf8')).not.toContain('token=x');
  });

  test('while it is off, nothing is written and send is the bare function', async () => {
    const { calls } = openCalls(undefined);
    await calls.send(callTo('echo'));
    expect(calls.audit).toBeUndefined();
  });

  test('a reload turns it on and off', async () => {
    const folder = join(temporaryFolder(), 'audit');
    const { calls, settings } = openCalls(undefined);
    calls.update({ ...settings, audit: settingsIn(folder) });
    await calls.send(callTo('one'));
    calls.update({ ...settings, audit: settingsIn(folder) });
    await calls.send(callTo('two'));
    calls.update(settings);
    await calls.send(callTo('three'));
    expect(toolsCalledIn(folder)).toEqual(['one', 'two']);
    expect(logsIn(folder)).toHaveLength(1);
  });

  test('a call that is under way while its settings change has a line', async () => {
    const folder = join(temporaryFolder(), 'audit');
    const child = new FakeChild('echo');
    let answer: (result: Verbatim) => void = () => {};
    const { calls, settings } = openCalls(settingsIn(folder), child);
    await calls.send(callTo('first'));
    child.callTool = () => new Promise((resolve) => (answer = resolve));
    const call = calls.send(callTo('slow'));
    await turn();
    calls.update({ ...settings, audit: settingsIn(folder, { keepDays: 1 }) });
    answer(Verbatim.of({ content: [] }));
    await call;
    expect(toolsCalledIn(folder)).toEqual(['first', 'slow']);
    await calls[Symbol.asyncDispose]();
    expect(logsIn(folder)).toHaveLength(2);
    expect(verifyAudit(folder).problems).toEqual([]);
  });

  test('a log that cannot be written is reported once, and calls go on', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const errors: string[] = [];
    const log = { ...SILENT_LOG, error: (line: string) => void errors.push(line) };
    const audit = new Audit(settingsIn(join(file, 'audit')), log);
    const next = async () => Verbatim.of({});
    await audit.intercept(callTo('echo'), next);
    await audit.intercept(callTo('echo'), next);
    expect(errors).toEqual([expect.stringContaining("can't write to the audit log: ")]);
  });

  test('while a required log cannot be written, calls are refused', async () => {
    const root = temporaryFolder();
    const file = join(root, 'file');
    writeFileSync(file, '');
    const folder = join(file, 'audit');
    const audit = new Audit(settingsIn(folder, { required: true }), SILENT_LOG);
    onTestFinished(() => audit[Symbol.asyncDispose]());
    const next = async () => Verbatim.of({ answered: true });
    audit.note(eventAbout('lost'));
    await expect(audit.intercept(callTo('echo'), next)).rejects.toMatchObject({
      code: 'AUDIT_FAILED',
      hint: `Make ${folder} writable, or remove "audit.required".`,
    });
    rmSync(file);
    expect((await audit.intercept(callTo('echo'), next)).value).toEqual({ answered: true });
    expect([...readAudit(folder)].map(({ type, lost }) => [type, lost])).toEqual([
      ['open', undefined],
      ['gap', 1],
    ]);
  });
});

describe('servers and agents', () => {
  const listen = () => {
    const events: AuditEvent[] = [];
    const note = (event: AuditEvent) => void events.push(event);
    return { events, audit: { note, admit: async () => {} } };
  };

  test('a start and the end of the server are noted', async () => {
    const { events, audit } = listen();
    const child = new FakeChild();
    const ends = new Set<Promise<void>>();
    await auditStart('box', async () => child as never, audit, ends);
    expect(ends.size).toBe(1);
    child.end({ kind: 'exited', code: null, signal: 'SIGKILL' });
    await turn();
    expect(ends.size).toBe(0);
    expect(events).toEqual([
      { type: 'start', server: 'box', pid: 4711, ms: expect.any(Number), outcome: 'ok' },
      {
        type: 'stop',
        server: 'box',
        pid: 4711,
        reason: 'exited',
        exitCode: null,
        signal: 'SIGKILL',
      },
    ]);
  });

  test('a failed start is noted with its code', async () => {
    const { events, audit } = listen();
    const start = async (): Promise<never> => {
      throw new SwitchboardError('CHILD_START_FAILED', 'No.');
    };
    await expect(auditStart('box', start, audit, new Set())).rejects.toThrow('No.');
    expect(events).toMatchObject([
      { type: 'start', outcome: 'failed', code: 'CHILD_START_FAILED' },
    ]);
  });

  test('a run is noted with its outcome', async () => {
    const { events, audit } = listen();
    const run = { agent: 'agent_review', host: 'some host', args: { task: SECRET } };
    await auditRun(run, async () => ({ ok: true }), audit);
    await auditRun(run, async () => ({ ok: false }), audit);
    const cancelled = new SwitchboardError('CANCELLED', 'No.');
    await auditRun(run, () => Promise.reject(cancelled), audit).catch(() => {});
    expect(events).toMatchObject([
      { type: 'run', agent: 'agent_review', outcome: 'ok' },
      { outcome: 'error' },
      { outcome: 'cancelled' },
    ]);
  });
});
