import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent, ListedAgent } from '../../../src/agents/agent.ts';
import type { EngineEvent, EngineResult, EngineRun } from '../../../src/agents/engine.ts';
import { type Equipment, Runs } from '../../../src/agents/runs.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { AgentSettings } from '../../../src/config/config.ts';
import { agentSettings } from '../../support/agent-settings.ts';

const LISTED: ListedAgent = {
  kind: 'codex',
  dialect: 'switchboard-toml',
  file: '/nowhere/p/.agents/one.toml',
  name: 'One',
  safeName: 'one',
  toolName: 'agent_one',
  description: 'Does one thing',
  tags: [],
};
const AGENT: Agent = {
  ...LISTED,
  instructions: undefined,
  run: {},
  tools: [],
  servers: new Map(),
  warnings: [],
  limits: [],
};
const FOLDER = mkdtempSync(join(tmpdir(), 'switchboard-runs-'));
const TASK = { task: 'do it', cwd: FOLDER };

interface Told {
  readonly settings?: Partial<AgentSettings>;
  readonly engine?: (run: EngineRun) => Promise<EngineResult>;
  readonly load?: () => Promise<Agent>;
  readonly equipment?: Partial<Equipment>;
}

function createRuns({ settings, engine, load, equipment }: Told = {}) {
  const logged: string[] = [];
  const note = (line: string) => void logged.push(line);
  const log = { debug: note, info: note, warn: note, error: note, child: () => {} };
  const seen: EngineRun[] = [];
  const runs = new Runs({
    settings: () => agentSettings(settings),
    load: load ?? (async () => AGENT),
    equip: async () => ({ servers: [], warnings: [], lacks: [], ...equipment }),
    engine: async () => ({
      locate: () => '/bin/engine',
      run: async (run) => {
        seen.push(run);
        return engine ? engine(run) : { ok: true, output: `did: ${run.task}` };
      },
    }),
    log,
  });
  const run = (args: Record<string, unknown>, cancellation = new Cancellation()) => {
    const events: EngineEvent[] = [];
    const onEvent = (event: EngineEvent) => void events.push(event);
    const result = runs.run(LISTED, args, { cancellation, onEvent, caller: undefined });
    return { result, events };
  };
  return { runs, run, seen, logged };
}

/** An engine that works until it is called off. */
const endless = (run: EngineRun): Promise<EngineResult> =>
  new Promise((_resolve, reject) => {
    run.onEvent({ kind: 'message', text: 'First.' });
    run.onEvent({ kind: 'text', text: 'Sec' });
    run.onEvent({ kind: 'text', text: 'ond' });
    run.cancellation.listen(() => reject(run.cancellation.reason));
  });

test('returns the engine’s result for the task and the folder', async () => {
  const { run, seen } = createRuns();
  expect(await run(TASK).result).toEqual({ ok: true, output: 'did: do it' });
  expect(seen).toMatchObject([
    { task: 'do it', cwd: FOLDER, environment: { SWITCHBOARD_DEPTH: '1' } },
  ]);
});

test.each([
  [{ cwd: FOLDER }, "missing required 'task' string"],
  [{ task: '  ', cwd: FOLDER }, "missing required 'task' string"],
  [{ task: 7, cwd: FOLDER }, "missing required 'task' string"],
  [{ task: 'x' }, "missing required 'cwd' string"],
  [{ task: 'x', cwd: '' }, "missing required 'cwd' string"],
  [{ task: 'x', cwd: '.' }, "invalid 'cwd': got '.', expected an absolute path"],
  [{ task: 'x', cwd: 'a/b' }, "invalid 'cwd': got 'a/b', expected an absolute path"],
  [{ task: 'x', cwd: '/nowhere/at/all' }, "invalid 'cwd': there is no folder '/nowhere/at/all'"],
  [{ task: 'x', cwd: `${FOLDER}\0` }, "invalid 'cwd': got"],
])('%j is refused without asking the engine', async (args, sentence) => {
  const { run, seen, logged } = createRuns();
  const result = await run(args).result;
  expect(result.ok).toBe(false);
  expect(result.output).toContain(sentence);
  expect(seen).toEqual([]);
  expect(logged.join('\n')).toContain('agent_one');
});

test.each(['--help', '"quoted" $HOME `id`', 'nul \0 inside', 'x'.repeat(1 << 20)])(
  'a task reaches the engine unchanged',
  async (task) => {
    const { run, seen } = createRuns();
    await run({ task, cwd: FOLDER }).result;
    expect(seen[0]?.task).toBe(task);
  },
);

test('an expected failure is an answer with a hint', async () => {
  const { run, logged } = createRuns({
    engine: async () => {
      throw new SwitchboardError('AGENT_UNKNOWN', 'Nothing there.', { hint: 'Get one.' });
    },
  });
  expect(await run(TASK).result).toEqual({ ok: false, output: 'Nothing there. Get one.' });
  expect(logged).toContain('agent_one: Nothing there. Get one.');
});

test('an unexpected failure is not hidden', async () => {
  const { run } = createRuns({ load: () => Promise.reject(new TypeError('a bug')) });
  await expect(run(TASK).result).rejects.toThrow('a bug');
});

test('a run that takes too long is cancelled, and its output is kept', async () => {
  const { run } = createRuns({ settings: { timeoutMs: 2_000 }, engine: endless });
  const { ok, output } = await run(TASK).result;
  expect(ok).toBe(false);
  expect(output).toContain('after 2 s without finishing. ');
  expect(output).toContain('agents.timeoutMs');
  expect(output).toContain('First.\nSecond');
});

test('the caller gets each note once, even after a timeout', async () => {
  const tell = async ({ onEvent }: EngineRun) => {
    for (const text of ['a is missing.', 'b is missing.', 'a is missing.']) {
      onEvent({ kind: 'note', text });
    }
    return { ok: true, output: 'done' };
  };
  const notes = ['a is missing.', 'b is missing.'];
  const { run, logged } = createRuns({ engine: tell });
  const { result, events } = run(TASK);
  expect(await result).toEqual({ ok: true, output: 'done', notes });
  expect(events.filter(({ kind }) => kind === 'note').map(({ text }) => text)).toEqual(notes);
  expect(logged).toContain('agent_one: a is missing.');
  const late = createRuns({
    settings: { timeoutMs: 50 },
    engine: async (one) => {
      await tell(one);
      return endless(one);
    },
  });
  expect(await late.run(TASK).result).toMatchObject({ ok: false, notes });
});

test('the caller learns what the agent has to do without', async () => {
  const lacks = ['The agent runs without server "slow".'];
  const { run } = createRuns({ equipment: { lacks } });
  expect(await run(TASK).result).toEqual({ ok: true, output: 'did: do it', notes: lacks });
});

test('of a thousand notes, the caller gets the first ones and the count', async () => {
  const { run, logged } = createRuns({
    engine: async ({ onEvent }) => {
      for (let n = 0; n < 1_000; n++) onEvent({ kind: 'note', text: `${n} is missing.` });
      return { ok: true, output: 'done' };
    },
  });
  const { notes = [] } = await run(TASK).result;
  expect(notes).toHaveLength(21);
  expect(notes.at(-1)).toBe('… and 980 more.');
  expect(logged.length).toBeLessThan(100);
});

test('the caller can cancel it', async () => {
  const cancellation = new Cancellation();
  const { run, seen } = createRuns({ engine: endless });
  const { result } = run(TASK, cancellation);
  await expect.poll(() => seen.length).toBe(1);
  cancellation.cancel(new Error('no more'));
  await expect(result).rejects.toThrow('no more');
});

test('closing cancels and awaits running and queued runs', async () => {
  const { runs, run, seen } = createRuns({ settings: { maxRuns: 1 }, engine: endless });
  const started = [run(TASK), run(TASK)];
  const outcomes = Promise.allSettled(started.map(({ result }) => result));
  await expect.poll(() => seen.length).toBe(1);
  await runs[Symbol.asyncDispose]();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(seen).toHaveLength(1);
});

test('runs beyond the limit are queued and report their position', async () => {
  const ends: (() => void)[] = [];
  const { run, seen } = createRuns({
    settings: { maxRuns: 2 },
    engine: () => new Promise((resolve) => ends.push(() => resolve({ ok: true, output: '' }))),
  });
  const all = Array.from({ length: 10 }, () => run(TASK));
  await expect.poll(() => seen.length).toBe(2);
  expect(all[9]?.events).toEqual([{ kind: 'starting', text: 'queued (7 ahead)' }]);
  while (ends.length > 0 || seen.length < 10) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await Promise.all(all.map(({ result }) => result))).every(({ ok }) => ok)).toBe(true);
});

test('running and queued runs can be inspected', async () => {
  const { runs, run, seen } = createRuns({ settings: { maxRuns: 1 }, engine: endless });
  const ended = Promise.allSettled(Array.from({ length: 3 }, () => run(TASK).result));
  await expect.poll(() => seen.length).toBe(1);
  seen[0]?.onEvent({ kind: 'step', text: 'runs: npm test' });
  const one = { agent: 'agent_one', cwd: FOLDER, since: expect.any(String) as string };
  const going = { ...one, state: 'running', before: undefined };
  const waiting = { ...one, state: 'waiting', doing: undefined };
  expect(runs.underWay).toEqual([
    { ...going, doing: 'runs: npm test' },
    { ...waiting, before: 0 },
    { ...waiting, before: 1 },
  ]);
  const [first] = runs.underWay;
  expect(Date.parse(first?.since ?? '')).toBeLessThanOrEqual(Date.now());
  seen[0]?.cancellation.cancel(new Error('enough'));
  await expect.poll(() => seen.length).toBe(2);
  expect(runs.underWay).toEqual([
    { ...going, doing: undefined },
    { ...waiting, before: 0 },
  ]);
  await runs[Symbol.asyncDispose]();
  await ended;
  expect(runs.underWay).toEqual([]);
});

test('a run behind a hundred others is refused', async () => {
  const { runs, run } = createRuns({ settings: { maxRuns: 1 }, engine: endless });
  const all = Array.from({ length: 101 }, () => run(TASK).result);
  const settled = Promise.allSettled(all);
  expect((await run(TASK).result).output).toContain('100 agent runs are already queued');
  await runs[Symbol.asyncDispose]();
  await settled;
});

test('nesting stops at three levels', async () => {
  const { run, seen } = createRuns({ settings: { depth: 3 } });
  const { ok, output } = await run(TASK).result;
  expect(ok).toBe(false);
  expect(output).toContain('nested 3 levels deep');
  expect(seen).toEqual([]);
  const deep = createRuns({ settings: { depth: 2 } });
  await deep.run(TASK).result;
  expect(deep.seen[0]?.environment).toEqual({ SWITCHBOARD_DEPTH: '3' });
});

test('long output is cut with a note', async () => {
  const { run } = createRuns({
    settings: { outputMaxChars: 10 },
    engine: async () => ({ ok: true, output: '0123456789abc' }),
  });
  const { output } = await run(TASK).result;
  expect(output).toMatch(/^0123456789\n\[3 more characters cut off/);
});

test('warnings go to the log and to watchers', async () => {
  const { run, logged } = createRuns({
    load: async () => ({ ...AGENT, warnings: ['odd file'] }),
    equipment: { warnings: ['no such server'] },
  });
  const { result, events } = run(TASK);
  await result;
  expect(logged).toEqual(
    expect.arrayContaining(['agent_one: odd file', 'agent_one: no such server']),
  );
  expect(events.filter(({ kind }) => kind === 'warning')).toHaveLength(2);
});

test('a talkative agent’s output is kept up to the limit, and quickly', async () => {
  const { run } = createRuns({
    settings: { timeoutMs: 2_000, outputMaxChars: 1_000 },
    engine: (engineRun) => {
      for (let count = 0; count < 200_000; count++) {
        engineRun.onEvent({ kind: 'message', text: 'x'.repeat(30) });
      }
      return endless(engineRun);
    },
  });
  const { output } = await run(TASK).result;
  expect(output).toContain('xxx');
  expect(output.length).toBeLessThan(2_000);
});

test('warnings of one run are logged up to a limit', async () => {
  const warnings = Array.from({ length: 5_000 }, (_, index) => `odd ${index}`);
  const { run, logged } = createRuns({ load: async () => ({ ...AGENT, warnings }) });
  await run(TASK).result;
  expect(logged.filter((line) => line.includes('odd'))).toHaveLength(50);
});
