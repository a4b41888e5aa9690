// An engine in the test's own project, run by the scripted program, whose records can be read.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createCodexEngine } from '../../src/agents/codex/engine.ts';
import type { Engine } from '../../src/agents/engine.ts';
import type { AgentSettings } from '../../src/config/config.ts';
import { agentSettings } from './agent-settings.ts';
import { keepingLog } from './agents.ts';
import { wholeLines } from './lines.ts';
import { createProject, FIXTURES, type Project } from './project.ts';

export const SCRIPTED_CODEX = join(FIXTURES, 'engine', 'scripted-codex.mjs');

interface ReceivedMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
}

/** The scripted program's notes about itself. */
export interface EngineRecord {
  readonly argv?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly pid?: number;
  readonly started?: number;
  readonly received?: ReceivedMessage;
  /** The raw line. */
  readonly line?: string;
}

export interface ScriptedEngine {
  readonly engine: Engine;
  readonly project: Project;
  readonly cwd: string;
  readonly log: ReturnType<typeof keepingLog>;
  readonly processes: number[];
  readonly records: () => EngineRecord[];
  /** The parameters of the last message of a method. */
  readonly told: (method: string) => Record<string, unknown>;
}

/** The scripted program's notes so far. */
export function readRecords(file: string): EngineRecord[] {
  return wholeLines(file).map((line) => JSON.parse(line) as EngineRecord);
}

export interface ScriptedEngineOptions {
  readonly settings?: Partial<AgentSettings>;
  readonly env?: Record<string, string>;
  readonly initializeMs?: number;
}

export function scriptedEngine(options: ScriptedEngineOptions = {}): ScriptedEngine {
  const project = createProject();
  const cwd = join(project.dir, 'work');
  mkdirSync(cwd);
  const file = join(project.dir, 'record.jsonl');
  const env = { ...project.env, SCRIPTED_CODEX_RECORD: file, ...options.env };
  const log = keepingLog();
  const processes: number[] = [];
  const engine = createCodexEngine({
    settings: () => agentSettings({ codexBin: SCRIPTED_CODEX, ...options.settings }),
    env,
    log,
    mark: { SWITCHBOARD_RUN: 'some-run' },
    onProcess: (pid) => processes.push(pid),
    onLitter: () => {},
    project: project.dir,
    home: join(project.dir, '.switchboard'),
    homeFolder: project.env['HOME'] ?? '',
    initializeMs: options.initializeMs,
  });
  const records = () => readRecords(file);
  const told = (method: string): Record<string, unknown> => {
    const found = records().findLast(({ received }) => received?.method === method);
    if (!found?.received?.params) throw new Error(`The engine was not told ${method}.`);
    return found.received.params;
  };
  return { engine, project, cwd, log, processes, records, told };
}
