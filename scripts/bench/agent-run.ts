// Row 18: the time an agent run takes beyond what Codex needs for the same task on the command line. The model is
// on loopback and answers at once, so that only these two are measured.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createCodexEngine } from '../../src/agents/codex/engine.ts';
import { agentSettings } from '../../test/support/agent-settings.ts';
import { keepingLog, watchedRun } from '../../test/support/agents.ts';
import { PLAIN_MODEL, writeEngineHome } from '../../test/support/engine-home.ts';
import { startModelServer } from '../../test/support/model-server.ts';
import { locate, programOf } from '../programs/programs.ts';
import { median, takeTurns, timeOf } from './measure.ts';
import type { Bench, Row } from './row.ts';

export async function measureAgentRun({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  const program = programOf('codex');
  const binary = locate(program);
  if (binary === undefined) {
    progress(`agents: skipped, Codex ${program.version} isn't cached (npm run test:engine)`);
    return [];
  }
  progress('running an agent');
  const model = await startModelServer([{ kind: 'says', text: 'done' }]);
  const cwd = join(workspace.dir, 'agent');
  mkdirSync(cwd);
  const folder = join(workspace.dir, 'codex');
  writeEngineHome({ binary, folder, url: model.url });
  const env = { ...workspace.script().env, CODEX_HOME: folder };
  const engine = createCodexEngine({
    settings: () => agentSettings({ codexBin: binary }),
    env,
    log: keepingLog(),
    mark: {},
    onProcess: () => {},
    onLitter: () => {},
    project: cwd,
    home: join(workspace.dir, 'engine-home'),
    homeFolder: workspace.dir,
  });
  const runAgent = async (): Promise<void> => {
    const { ok, output } = await engine.run(watchedRun(cwd));
    if (!ok || output !== 'done') throw new Error(`The agent failed: ${output}`);
  };
  const exec = ['exec', '--json', '--skip-git-repo-check', '--ephemeral', '-C', cwd];
  const runCodex = async (): Promise<void> => {
    const args = [...exec, '-m', PLAIN_MODEL, 'do it'];
    const codex = spawn(binary, args, { cwd, env, stdio: ['ignore', 'ignore', 'ignore'] });
    const [status] = (await once(codex, 'exit')) as [number | null];
    if (status !== 0) throw new Error(`codex exec ended with status ${status}`);
  };
  try {
    const ms = await takeTurns(
      { agent: () => timeOf(runAgent), codex: () => timeOf(runCodex) },
      { rounds: rounds(21) },
    );
    const [agent, codex] = [median(ms.agent), median(ms.codex)];
    return [
      {
        group: 18,
        what: 'an agent run, overhead over `codex exec`',
        measured: Math.max(0, agent - codex),
        unit: 'ms',
        budget: { most: 100 },
        beside: [`an agent ${agent.toFixed(0)} ms, codex exec ${codex.toFixed(0)} ms`],
      },
    ];
  } finally {
    await model.close();
  }
}
