// The servers one agent can get, and the tools it names, sorted by whether it names a server.
import type { Agent, ToolReference } from '../agent.ts';
import type { BindRules } from './bind.ts';
import { type Candidate, type Candidates, EVERYTHING, plainKey } from './candidate.ts';
import { explainMissingServer } from './explain.ts';

/** The agent's own servers, and those available to all. */
export interface Offer {
  /** By key, the agent's own first. */
  readonly servers: ReadonlyMap<string, Candidate>;
  /** The keys of the agent's own servers, which it always gets. */
  readonly embedded: ReadonlySet<string>;
  readonly leftOut: ReadonlyMap<string, string>;
}

export function offerTo(agent: Agent, available: Candidates, bind: BindRules): Offer {
  const shared = new Map(available.servers.map((server) => [server.key, server]));
  const servers = new Map<string, Candidate>();
  const leftOut = new Map(available.leftOut);
  for (const server of agent.servers.values()) {
    // An injected server only fills a gap: the user's own one of that name takes precedence.
    const own = server.isInjected ? shared.get(server.key) : undefined;
    const bound = own ?? bind({ ...server, expose: EVERYTHING, isOwn: false });
    if (typeof bound === 'string') leftOut.set(server.key, bound);
    else servers.set(server.key, bound);
  }
  for (const [key, server] of shared) if (!servers.has(key)) servers.set(key, server);
  const embedded = [...agent.servers.keys()].filter((key) => servers.has(key));
  return { servers, embedded: new Set(embedded), leftOut };
}

/** The tools of one server that an agent names. */
export interface NamedTools {
  readonly tools: ReadonlySet<string>;
  /** It wants the whole server, no matter which tools that has. */
  readonly isAny: boolean;
}

export interface WantedTools {
  /** By the key of an existing server. */
  readonly named: ReadonlyMap<string, NamedTools>;
  /** Tools named without a server. */
  readonly bare: readonly string[];
  /** About missing servers. */
  readonly warnings: readonly string[];
}

/** VS Code's own tools, which no server provides. */
const VSCODE_PLACEHOLDERS = new Set([
  'usages',
  'runTasks',
  'notebooks',
  'extensions',
  'vscodeAPI',
  'problems',
  'changes',
  'testFailure',
  'openSimpleBrowser',
]);

export function readWanted(agent: Agent, offer: Offer): WantedTools {
  const named = new Map<string, { tools: Set<string>; isAny: boolean }>();
  const bare = new Set<string>();
  const missing = new Set<string>();
  const nameTool = (key: string, tool: string | undefined): void => {
    const before = named.get(key) ?? { tools: new Set(), isAny: false };
    named.set(key, before);
    if (tool === undefined) before.isAny = true;
    else before.tools.add(tool);
  };
  for (const reference of agent.tools) {
    const tool = particularTool(reference);
    if (reference.server !== undefined) {
      const key = findKey(reference.server, offer);
      if (key === undefined) missing.add(reference.server);
      else nameTool(key, tool);
    } else if (tool === undefined) {
      for (const { key, cmd } of offer.servers.values()) {
        if (cmd !== undefined) nameTool(key, undefined);
      }
    } else if (agent.kind !== 'vscode' || !VSCODE_PLACEHOLDERS.has(tool)) {
      bare.add(tool);
    }
  }
  const warnings = [...missing].map((server) => explainMissingServer(agent, server, offer));
  return { named, bare: [...bare], warnings };
}

/** `server::server` means the whole server, no matter what its tools are called. */
function particularTool({ server, tool }: ToolReference): string | undefined {
  return tool === '*' || tool === server ? undefined : tool;
}

/** Some programs write `_` for characters that tool names can't have. */
function findKey(name: string, { servers }: Offer): string | undefined {
  if (servers.has(name)) return name;
  const alike = [...servers.keys()].filter((key) => plainKey(key) === plainKey(name));
  return alike.length === 1 ? alike[0] : undefined;
}
