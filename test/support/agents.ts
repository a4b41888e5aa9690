// Minimal agents, servers and runs for tests, with overrides.
import type { Agent } from '../../src/agents/agent.ts';
import type { AttachedServer, EngineEvent, EngineRun } from '../../src/agents/engine.ts';
import { Cancellation } from '../../src/base/cancellation.ts';
import type { Log } from '../../src/base/log.ts';

export function plainAgent(said: Partial<Agent> = {}): Agent {
  return {
    name: 'Some Agent',
    description: 'does something',
    tags: [],
    kind: 'codex',
    dialect: 'switchboard-toml',
    file: '/nowhere/agent.toml',
    safeName: 'some_agent',
    toolName: 'agent_some_agent',
    instructions: undefined,
    run: {},
    tools: [],
    servers: new Map(),
    warnings: [],
    limits: [],
    ...said,
  };
}

export function attachedServer(said: Partial<AttachedServer> = {}): AttachedServer {
  return {
    key: 'memory',
    cmd: 'memory-server',
    args: [],
    env: {},
    cwd: undefined,
    url: undefined,
    headers: {},
    enabledTools: undefined,
    secrets: [said.env ?? {}, said.headers ?? {}].flatMap((values) => Object.values(values)),
    ...said,
  };
}

/** A run and its events. */
export interface WatchedRun extends EngineRun {
  readonly cancellation: Cancellation;
  readonly events: EngineEvent[];
}

export function watchedRun(cwd: string, said: Partial<EngineRun> = {}): WatchedRun {
  const events: EngineEvent[] = [];
  return {
    agent: plainAgent(),
    task: 'do it',
    cwd,
    servers: [],
    environment: { SWITCHBOARD_DEPTH: '1' },
    onEvent: (event) => events.push(event),
    caller: undefined,
    events,
    ...said,
    cancellation: said.cancellation ?? new Cancellation(),
  };
}

/** Records its lines, each with its level. */
export function keepingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  return {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (name, line) => void lines.push(`${name}: ${line}`),
  };
}
