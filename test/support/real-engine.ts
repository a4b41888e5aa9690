// The real Codex with the test's model on loopback, in a project of its own.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createCodexEngine } from '../../src/agents/codex/engine.ts';
import type { Engine } from '../../src/agents/engine.ts';
import type { AgentSettings } from '../../src/config/config.ts';
import { agentSettings } from './agent-settings.ts';
import { keepingLog } from './agents.ts';
import { type EngineProject, type EngineProjectOptions, engineProject } from './engine-project.ts';

export interface RealEngine extends EngineProject {
  readonly engine: Engine;
  readonly log: ReturnType<typeof keepingLog>;
  readonly processes: number[];
}

export interface RealEngineOptions extends EngineProjectOptions {
  readonly settings?: Partial<AgentSettings>;
  readonly env?: Record<string, string>;
}

export async function realEngine(options: RealEngineOptions): Promise<RealEngine> {
  const parts = await engineProject(options);
  const { binary, project } = parts;
  const log = keepingLog();
  const processes: number[] = [];
  const engine = createCodexEngine({
    settings: () => agentSettings({ codexBin: binary, ...options.settings }),
    env: { ...project.env, ...options.env },
    log,
    mark: { SWITCHBOARD_RUN: 'some-run' },
    onProcess: (pid) => processes.push(pid),
    onLitter: () => {},
    project: project.dir,
    home: join(project.dir, '.switchboard'),
    homeFolder: project.env['HOME'] ?? '',
  });
  return { ...parts, engine, log, processes };
}

/** The sandbox for agents whose commands must run: some machines don't allow what a real one needs. */
export const WRITES: 'workspace-write' | 'danger-full-access' = hasSandbox()
  ? 'workspace-write'
  : 'danger-full-access';

export function hasSandbox(): boolean {
  const { status } = spawnSync('unshare', ['--user', '--map-root-user', 'true'], {
    stdio: 'ignore',
  });
  return status === 0;
}
