import { expect, test } from 'vitest';
import { plainAgent, watchedRun } from '../../../support/agents.ts';
import { scriptedEngine } from '../../../support/scripted-engine.ts';

const scripted = (script: string) => ({ agent: plainAgent({ instructions: `script: ${script}` }) });

test('the output of a run is the last message of the agent', async () => {
  const { engine, cwd } = scriptedEngine();
  const run = watchedRun(cwd, scripted('steps'));
  expect(await engine.run(run)).toEqual({ ok: true, output: 'Then that.' });
});
