// What the tests of an agent's servers are made of: agents, candidates, and real servers that are
// started for them.
import { onTestFinished } from 'vitest';
import type { Agent, AgentServer, ToolReference } from '../../../../src/agents/agent.ts';
import {
  type Candidate,
  type Candidates,
  EVERYTHING,
} from '../../../../src/agents/servers/candidate.ts';
import { Catalog } from '../../../../src/pool/catalog.ts';
import { METHOD_NOT_FOUND, RpcError } from '../../../../src/rpc/message.ts';
import { onBug, temporaryFolder } from '../../../support/fake-child.ts';
import { isAlive } from '../../../support/processes.ts';
import type { ServerEntry } from '../../../support/servers.ts';
import { startAlone, startChild } from '../../../support/start-child.ts';

export const AGENT_FILE = '/project/.agents/helper.toml';

/** An agent that names these tools, written as `server::tool` or bare. */
export function agentWith(
  tools: readonly string[],
  { servers = [], ...more }: Partial<Omit<Agent, 'servers'>> & { servers?: AgentServer[] } = {},
): Agent {
  return {
    name: 'Helper',
    description: '',
    tags: [],
    kind: 'codex',
    dialect: 'switchboard-toml',
    file: AGENT_FILE,
    safeName: 'helper',
    toolName: 'agent_helper',
    instructions: undefined,
    run: {},
    tools: tools.map(reference),
    servers: new Map(servers.map((server) => [server.key, server])),
    warnings: [],
    limits: [],
    ...more,
  };
}

function reference(text: string): ToolReference {
  const [first = '', second] = text.split('::');
  return second === undefined
    ? { server: undefined, tool: first, text }
    : { server: first, tool: second, text };
}

export function candidate(key: string, more: Partial<Candidate> = {}): Candidate {
  return {
    key,
    origin: '/project/.mcp.json',
    cmd: 'server',
    args: [],
    env: {},
    cwd: undefined,
    url: undefined,
    headers: {},
    isInjected: false,
    expose: EVERYTHING,
    isOwn: false,
    ...more,
  };
}

export function candidates(...servers: Candidate[]): Candidates {
  return { servers, leftOut: new Map(), warnings: [] };
}

/** A candidate that really can be started. */
export function program(key: string, { command, args }: ServerEntry): Candidate {
  return candidate(key, { cmd: command, args, cwd: temporaryFolder() });
}

/** Starts real servers, notes them, and sees to it that the test has left none. */
export function realServers(env: NodeJS.ProcessEnv = process.env, catalog = openCatalog()) {
  const pids: number[] = [];
  const start = startAlone(catalog, (config, attempt) =>
    startChild(config, {
      ...attempt,
      env,
      mark: {},
      onProcess: (pid) => pids.push(pid),
      onStderr: () => {},
      served: { project: '/project', isShared: false },
      askOutside: () => Promise.reject(new RpcError(METHOD_NOT_FOUND, 'Nobody can be asked.')),
      onBug,
    }),
  );
  onTestFinished(() => {
    const left = pids.filter(isAlive);
    if (left.length > 0) throw new Error(`These processes are left: ${left.join(', ')}.`);
  });
  return { start, pids };
}

export function openCatalog(folder = temporaryFolder()): Catalog {
  const catalog = new Catalog(folder, (problem) => {
    throw new Error(problem);
  });
  onTestFinished(() => catalog.written()); // before its folder is removed
  return catalog;
}
