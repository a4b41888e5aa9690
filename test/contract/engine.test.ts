// What every engine promises, whichever program it runs. Codex passes it with a scripted app server. A tiny
// engine inside this file passes it too, which shows that agents don't depend on Codex.
import { isAbsolute, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Engine, EngineResult, EngineRun } from '../../src/agents/engine.ts';
import { Runs } from '../../src/agents/runs.ts';
import { Cancellation } from '../../src/base/cancellation.ts';
import { SwitchboardError } from '../../src/base/errors.ts';
import { createMask } from '../../src/base/secrets.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { agentSettings } from '../support/agent-settings.ts';
import { attachedServer, keepingLog, plainAgent, watchedRun } from '../support/agents.ts';
import { FakeCaller } from '../support/fake-caller.ts';
import { temporaryFolder } from '../support/fake-child.ts';
import { eventually, isAlive } from '../support/processes.ts';
import { scriptedEngine } from '../support/scripted-engine.ts';

/** What the engine does with an agent that has this script in its instructions. */
type Script = 'ok' | 'steps' | 'failed' | 'failed-with-secret' | 'dies' | 'hangs' | 'asks-command';

interface EngineSetup {
  readonly engine: Engine;
  readonly cwd: string;
  /** How many runs it has started. */
  readonly started: () => number;
  /** Whether something of a run is left. */
  readonly isBusy: () => boolean;
}

type CreateEngine = (state?: 'missing' | 'broken') => EngineSetup;

const SECRET = 'value-of-a-server';

const scripted = (script: Script, said: Partial<EngineRun> = {}): Partial<EngineRun> => ({
  agent: plainAgent({ instructions: `script: ${script}` }),
  ...said,
});

const approving = (): FakeCaller => {
  const caller = new FakeCaller({ capabilities: { elicitation: { form: {} } } });
  caller.reply = async () => Verbatim.of({ action: 'accept', content: { allow: true } });
  return caller;
};

function describeEngine(name: string, create: CreateEngine): void {
  describe(`${name} keeps the engine contract`, () => {
    test('it knows its name, its program, its models and its files without a run', async () => {
      const { engine, started } = create();
      expect(engine.name).not.toBe('');
      expect(isAbsolute(engine.locate())).toBe(true);
      expect(isAbsolute(engine.serversFile())).toBe(true);
      expect(await engine.configuredProvider()).toBeUndefined();
      expect(Object.values(engine.variables()).every((value) => value !== '')).toBe(true);
      const tokens = engine.models.models.flatMap((entry) => entry.tokens);
      expect(new Set(tokens).size).toBe(tokens.length);
      expect(started()).toBe(0);
    });

    test('a run starts, and ends with the last message', async () => {
      const { engine, cwd, isBusy } = create();
      const run = watchedRun(cwd, { ...scripted('ok'), task: 'it\'s "so"\n$(id)' });
      const result = await engine.run(run);
      expect(result).toEqual({ ok: true, output: 'The task was: it\'s "so"\n$(id)' });
      expect(run.events[0]).toEqual({ kind: 'starting', text: 'starting Some Agent' });
      expect(isBusy()).toBe(false);
    });

    test('steps and messages are reported as they happen', async () => {
      const { engine, cwd } = create();
      const run = watchedRun(cwd, scripted('steps'));
      expect(await engine.run(run)).toEqual({ ok: true, output: 'Then that.' });
      const kinds = run.events.map(({ kind }) => kind);
      expect(kinds.indexOf('step')).toBeGreaterThan(0);
      expect(kinds.indexOf('message')).toBeGreaterThan(kinds.indexOf('step'));
      expect(run.events.at(-1)).toEqual({ kind: 'message', text: 'Then that.' });
    });

    test('a run that fails is a result with the reason, and no exception', async () => {
      const { engine, cwd, isBusy } = create();
      const { ok, output } = await engine.run(watchedRun(cwd, scripted('failed')));
      expect(ok).toBe(false);
      expect(output).toContain('unexpected status 500');
      expect(output).not.toContain('\n');
      expect(isBusy()).toBe(false);
    });

    test('a crash is a result with the reason, and leaves nothing', async () => {
      const { engine, cwd, isBusy } = create();
      const { ok, output } = await engine.run(watchedRun(cwd, scripted('dies')));
      expect(ok).toBe(false);
      expect(output).toContain(engine.name);
      expect(output).toContain('The engine says goodbye.');
      expect(isBusy()).toBe(false);
    });

    test('secrets of servers are masked', async () => {
      const { engine, cwd } = create();
      const servers = [attachedServer({ env: { TOKEN: SECRET } })];
      const run = watchedRun(cwd, scripted('failed-with-secret', { servers }));
      const { output } = await engine.run(run);
      expect(output).toContain('refused: ***');
      expect(JSON.stringify([output, run.events])).not.toContain(SECRET);
    });

    test('a missing engine is ENGINE_MISSING with a hint, before anything starts', async () => {
      const { engine, cwd, started } = create('missing');
      const missing = { code: 'ENGINE_MISSING', hint: expect.stringMatching(/./) as string };
      expect(() => engine.locate()).toThrow(expect.objectContaining(missing));
      await expect(engine.run(watchedRun(cwd))).rejects.toMatchObject(missing);
      expect(await engine.check({ model: 'some-model' })).toEqual([]);
      expect(started()).toBe(0);
    });

    test('an engine that does not start is ENGINE_FAILED, and leaves nothing', async () => {
      const { engine, cwd, isBusy } = create('broken');
      const failure: unknown = await engine.run(watchedRun(cwd)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(SwitchboardError);
      expect(failure).toMatchObject({ code: 'ENGINE_FAILED' });
      expect(isBusy()).toBe(false);
    });

    test('a run cancelled before it begins starts nothing', async () => {
      const { engine, cwd, started } = create();
      const run = watchedRun(cwd, scripted('hangs'));
      const reason = new SwitchboardError('CANCELLED', 'enough');
      run.cancellation.cancel(reason);
      await expect(engine.run(run)).rejects.toBe(reason);
      expect(started()).toBe(0);
    });

    test('a cancelled run rejects with the reason, and leaves nothing', async () => {
      const { engine, cwd, isBusy } = create();
      const run = watchedRun(cwd, scripted('hangs'));
      const running = engine.run(run);
      expect(await eventually(() => run.events.some(({ kind }) => kind === 'step'))).toBe(true);
      expect(isBusy()).toBe(true);
      const reason = new SwitchboardError('CANCELLED', 'enough');
      run.cancellation.cancel(reason);
      await expect(running).rejects.toBe(reason);
      expect(isBusy()).toBe(false);
    });

    test('approval is the caller’s to give, and refused without one', async () => {
      const { engine, cwd } = create();
      const caller = approving();
      const run = watchedRun(cwd, scripted('asks-command', { caller }));
      expect((await engine.run(run)).output).toContain('accept');
      expect(caller.asked).toHaveLength(1);
      expect(caller.asked[0]).toContain('Some Agent');
      const alone = watchedRun(cwd, scripted('asks-command'));
      expect((await engine.run(alone)).output).toContain('decline');
      expect(alone.events).toContainEqual(expect.objectContaining({ kind: 'warning' }));
    });

    test('runs side by side do not disturb each other', async () => {
      const { engine, cwd, isBusy } = create();
      const tasks = ['one', 'two', 'three'];
      const results = await Promise.all(tasks.map((task) => engine.run(watchedRun(cwd, { task }))));
      expect(results).toEqual(tasks.map((task) => ({ ok: true, output: `The task was: ${task}` })));
      expect(isBusy()).toBe(false);
    });

    test('runs beyond the limit are queued, and a cancelled one makes room', async () => {
      const { engine, cwd, started } = create();
      const agent = plainAgent({ instructions: 'script: hangs' });
      const runs = new Runs({
        settings: () => agentSettings({ maxRuns: 1 }),
        load: async ({ name }) => (name === 'first' ? agent : plainAgent()),
        equip: async () => ({ servers: [], warnings: [], lacks: [] }),
        engine: async () => engine,
        log: keepingLog(),
      });
      onTestFinished(() => runs[Symbol.asyncDispose]());
      const start = (runName: string) => {
        const cancellation = new Cancellation();
        const events: string[] = [];
        const options = {
          cancellation,
          onEvent: ({ text }: { text: string }) => void events.push(text),
          caller: undefined,
        };
        const task = { task: runName, cwd };
        const result = runs.run(plainAgent({ name: runName }), task, options);
        result.catch(() => {}); // looked at below
        return { cancellation, events, result };
      };
      const first = start('first');
      const second = start('second');
      expect(await eventually(() => started() === 1)).toBe(true);
      expect(second.events).toEqual(['queued (next in line)']);
      first.cancellation.cancel(new Error('enough'));
      await expect(first.result).rejects.toThrow('enough');
      expect(await second.result).toEqual({ ok: true, output: 'The task was: second' });
    });
  });
}

describeEngine('Codex', (state) => {
  const env = {
    SCRIPTED_CODEX_WORDS: SECRET,
    ...(state === 'broken' && { SCRIPTED_CODEX: 'dies-at-start' }),
    ...(state === 'missing' && { PATH: '/nowhere' }),
  };
  const settings = state === 'missing' ? { codexBin: undefined } : {};
  const { engine, cwd, processes, records } = scriptedEngine({ env, settings });
  const started = () => records().filter(({ argv }) => argv?.[0] === 'app-server').length;
  return { engine, cwd, started, isBusy: () => processes.some(isAlive) };
});

describeEngine('a tiny engine', (state) => {
  const cwd = temporaryFolder();
  const engine = new TinyEngine(cwd, state);
  return { engine, cwd, started: () => engine.started, isBusy: () => engine.running > 0 };
});

/** An engine inside this process, in which the scripts are the agents. */
class TinyEngine implements Engine {
  readonly name = 'Tiny';
  readonly models = {
    models: [{ tokens: ['sonnet', 'gpt-5'], model: 'tiny-1', provider: undefined }],
    providerAliases: {},
    defaultProvider: 'tiny',
  };
  readonly #home: string;
  readonly #state: 'missing' | 'broken' | undefined;
  started = 0;
  running = 0;

  constructor(home: string, state: 'missing' | 'broken' | undefined) {
    this.#home = home;
    this.#state = state;
  }

  locate(): string {
    if (this.#state !== 'missing') return join(this.#home, 'tiny');
    throw new SwitchboardError('ENGINE_MISSING', 'Tiny is not installed.', { hint: 'Install it.' });
  }

  async configuredProvider(): Promise<string | undefined> {
    return undefined;
  }

  async check(): Promise<readonly string[]> {
    return [];
  }

  serversFile(): string {
    return join(this.#home, 'servers.json');
  }

  variables(): Record<string, string> {
    return { TINY_HOME: this.#home };
  }

  async run(run: EngineRun): Promise<EngineResult> {
    this.locate();
    run.cancellation.throwIfCancelled();
    run.onEvent({ kind: 'starting', text: `starting ${run.agent.name}` });
    if (this.#state === 'broken') throw new SwitchboardError('ENGINE_FAILED', 'Tiny is broken.');
    this.started++;
    this.running++;
    try {
      return await run.cancellation.race(this.#play(run));
    } finally {
      this.running--;
    }
  }

  async #play({ agent, task, servers, caller, cancellation, onEvent }: EngineRun) {
    const mask = createMask(servers.flatMap(({ secrets }) => secrets));
    const message = (text: string): EngineResult => {
      onEvent({ kind: 'message', text });
      return { ok: true, output: text };
    };
    switch (/script: (\S+)/.exec(agent.instructions ?? '')?.[1] as Script | undefined) {
      case 'steps':
        onEvent({ kind: 'step', text: 'running: npm test' });
        message('First this.');
        return message('Then that.');
      case 'failed':
        return { ok: false, output: 'unexpected status 500' };
      case 'failed-with-secret':
        return { ok: false, output: mask(`refused: ${SECRET}`) };
      case 'dies':
        return { ok: false, output: `${this.name} crashed: The engine says goodbye.` };
      case 'hangs':
        onEvent({ kind: 'step', text: 'running: sleep 1000' });
        return new Promise<EngineResult>(() => {});
      case 'asks-command': {
        const params = Verbatim.of({ message: `${agent.name} wants to run npm test` });
        const answer = await caller?.ask({ method: 'elicitation/create', params, cancellation });
        if (!answer) onEvent({ kind: 'warning', text: 'not allowed: npm test' });
        return message(answer ? 'accept' : 'decline');
      }
      case 'ok':
      case undefined:
        return message(`The task was: ${task}`);
    }
  }
}
