// The real Codex, whose model is one of our own on loopback, in a project of a test's own.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { enginePlace } from '../../scripts/engine/place.ts';
import { createCodexEngine } from '../../src/agents/codex/engine.ts';
import type { Engine } from '../../src/agents/engine.ts';
import type { AgentSettings } from '../../src/config/config.ts';
import { agentSettings } from './agent-settings.ts';
import { keepingLog } from './agents.ts';
import { type EngineHome, writeEngineHome } from './engine-home.ts';
import { type ModelAnswer, type ModelServer, startModelServer } from './model-server.ts';
import { createProject, type Project } from './project.ts';

export interface RealEngine {
  readonly engine: Engine;
  readonly binary: string;
  readonly model: ModelServer;
  readonly project: Project;
  readonly codexHome: string;
  readonly cwd: string;
  readonly log: ReturnType<typeof keepingLog>;
  readonly processes: number[];
}

export interface RealEngineOptions extends Pick<EngineHome, 'keys' | 'tables' | 'isOpenai'> {
  readonly script: readonly ModelAnswer[];
  readonly settings?: Partial<AgentSettings>;
  readonly env?: Record<string, string>;
}

export async function realEngine(options: RealEngineOptions): Promise<RealEngine> {
  const binary = enginePlace();
  if (binary === undefined) throw new Error('Fetch the engine first: npm run test:engine');
  const model = await startModelServer(options.script);
  onTestFinished(() => model.close());
  const project = createProject();
  const codexHome = join(project.dir, 'home', '.codex');
  const cwd = join(project.dir, 'work');
  mkdirSync(cwd);
  const { keys, tables, isOpenai } = options;
  writeEngineHome({ binary, folder: codexHome, url: model.url, keys, tables, isOpenai });
  const log = keepingLog();
  const processes: number[] = [];
  const engine = createCodexEngine({
    settings: () => agentSettings({ codexBin: binary, ...options.settings }),
    env: { ...project.env, ...options.env },
    log,
    mark: { SWITCHBOARD_RUN: 'some-run' },
    onProcess: (pid) => processes.push(pid),
    project: project.dir,
    home: join(project.dir, '.switchboard'),
  });
  return { engine, binary, model, project, codexHome, cwd, log, processes };
}

/** What an agent may do where its commands are to run: a machine may not allow what a sandbox needs. */
export const WRITES: 'workspace-write' | 'danger-full-access' = hasSandbox()
  ? 'workspace-write'
  : 'danger-full-access';

export function hasSandbox(): boolean {
  const { status } = spawnSync('unshare', ['--user', '--map-root-user', 'true'], {
    stdio: 'ignore',
  });
  return status === 0;
}
