// The real Codex, whose model is one of our own on loopback, in a project of a test's own.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { enginePlace } from '../../scripts/engine/place.ts';
import { createCodexEngine } from '../../src/agents/codex/engine.ts';
import type { Engine } from '../../src/agents/engine.ts';
import type { AgentSettings } from '../../src/config/config.ts';
import { agentSettings } from './agent-settings.ts';
import { keepingLog } from './agents.ts';
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

export interface RealEngineOptions {
  readonly script: readonly ModelAnswer[];
  readonly settings?: Partial<AgentSettings>;
  readonly env?: Record<string, string>;
  /** More of the user's config.toml: keys of its own, and tables (BASE_URL is our model's address). */
  readonly keys?: string;
  readonly tables?: string;
  /** Whether the provider that is used is the engine's default one, at our model's address. */
  readonly isOpenai?: boolean;
}

export async function realEngine(options: RealEngineOptions): Promise<RealEngine> {
  const binary = enginePlace();
  if (binary === undefined) throw new Error('Fetch the engine first: npm run test:engine');
  const model = await startModelServer(options.script);
  onTestFinished(() => model.close());
  const project = createProject();
  const codexHome = join(project.dir, 'home', '.codex');
  const cwd = join(project.dir, 'work');
  for (const folder of [codexHome, cwd]) mkdirSync(folder, { recursive: true });
  project.write('home/.codex/models.json', { models: modelList(binary) });
  project.write('home/.codex/config.toml', userConfig(model.url, codexHome, options));
  const log = keepingLog();
  const processes: number[] = [];
  const engine = createCodexEngine({
    settings: agentSettings({ codexBin: binary, ...options.settings }),
    env: { ...project.env, ...options.env },
    log,
    mark: { SWITCHBOARD_RUN: 'some-run' },
    onProcess: (pid) => processes.push(pid),
    project: project.dir,
    home: join(project.dir, '.switchboard'),
  });
  return { engine, binary, model, project, codexHome, cwd, log, processes };
}

/** What the user of the engine has told it: which model there is, and where. */
function userConfig(url: string, codexHome: string, options: RealEngineOptions): string {
  const { keys = '', tables = '', isOpenai = false } = options;
  return [
    isOpenai ? `openai_base_url = "${url}"` : 'model_provider = "loopback"',
    'model = "plain-model"',
    `model_catalog_json = "${join(codexHome, 'models.json')}"`,
    keys,
    '[model_providers.loopback]',
    'name = "loopback"',
    `base_url = "${url}"`,
    'wire_api = "responses"',
    'requires_openai_auth = false',
    'supports_websockets = false',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    tables.replaceAll('BASE_URL', url),
  ].join('\n');
}

let models: Record<string, unknown>[] = [];

/** The engine's models, and one that is given its tools one by one, where a script can call them. */
function modelList(binary: string): Record<string, unknown>[] {
  if (models.length > 0) return models;
  const text = execFileSync(binary, ['debug', 'models', '--bundled'], {
    env: { ...process.env, CODEX_HOME: mkTemp() },
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 << 20,
  }).toString();
  models = (JSON.parse(text) as { models: Record<string, unknown>[] }).models;
  const like = models.find((model) => model['tool_mode'] === undefined);
  models.push({ ...like, slug: 'plain-model', supports_search_tool: false, upgrade: null });
  return models;
}

function mkTemp(): string {
  return createProject().dir;
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
