// Who pays: the engine's own sign-in, or a key of the environment where nobody is signed in.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainAgent, watchedRun } from '../support/agents.ts';
import { eventually } from '../support/processes.ts';
import { realEngine } from '../support/real-engine.ts';

const KEY = 'sk-key-of-the-user-0123456789';
/** A provider that wants a key of its own. */
const OTHER = [
  '[model_providers.other]',
  'name = "other"',
  'env_key = "OTHER_KEY"',
  'wire_api = "responses"',
  'supports_websockets = false',
  'base_url = "BASE_URL"',
].join('\n');

test('an engine that nobody is signed in to fails before the model is asked', async () => {
  const { engine, model, cwd } = await realEngine({
    script: [{ kind: 'says', text: 'done' }],
    isOpenai: true,
  });
  await expect(engine.run(watchedRun(cwd))).rejects.toMatchObject({
    code: 'ENGINE_FAILED',
    message: 'Codex is not signed in.',
    hint: expect.stringContaining('codex login') as string,
  });
  expect(model.requests).toEqual([]);
});

test('a key of the environment is used, shown to nobody and kept nowhere', async () => {
  const { engine, model, cwd, codexHome, processes, log } = await realEngine({
    script: [{ kind: 'hangs' }],
    isOpenai: true,
    env: { OPENAI_API_KEY: KEY },
  });
  const run = watchedRun(cwd);
  const running = engine.run(run);
  running.catch(() => {}); // it is looked at below
  expect(await eventually(() => model.requests.length > 0)).toBe(true);
  expect(model.requests[0]?.authorization).toBe(`Bearer ${KEY}`);
  const listed = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(processes[0])]).toString();
  expect(listed).toContain('app-server');
  expect(listed).not.toContain(KEY);
  const reason = new Error('enough');
  run.cancellation.cancel(reason);
  await expect(running).rejects.toBe(reason);
  expect(existsSync(join(codexHome, 'auth.json'))).toBe(false);
  expect(log.lines.join('\n')).not.toContain(KEY);
});

test('a run has the provider that its agent names, whatever others have', async () => {
  const { engine, model, cwd } = await realEngine({
    script: [{ kind: 'says', text: 'done' }],
    isOpenai: true,
    env: { OTHER_KEY: 'key-of-the-other' },
    tables: OTHER,
  });
  const agents = ['loopback', 'other'].map((provider) => plainAgent({ run: { provider } }));
  const results = await Promise.all(agents.map((agent) => engine.run(watchedRun(cwd, { agent }))));
  expect(results).toEqual([
    { ok: true, output: 'done' },
    { ok: true, output: 'done' },
  ]);
  const keys = model.requests.map(({ authorization = 'none' }) => authorization).sort();
  expect(keys).toEqual(['Bearer key-of-the-other', 'none']);
});

test('a provider without its key fails with the variable that is missing', async () => {
  const { engine, cwd } = await realEngine({
    script: [{ kind: 'says', text: 'done' }],
    tables: OTHER,
  });
  const agent = plainAgent({ run: { provider: 'other' } });
  const { ok, output } = await engine.run(watchedRun(cwd, { agent }));
  expect(ok).toBe(false);
  expect(output).toContain('Missing environment variable: `OTHER_KEY`');
});
