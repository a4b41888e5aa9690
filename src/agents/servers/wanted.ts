// What an agent names, sorted by whether it says which server it means, and by whether there is one.
import type { Agent, ToolReference } from '../agent.ts';
import { explainMissingServer } from './explain.ts';
import type { Offer } from './offer.ts';
import { plainKey } from './plain-key.ts';

/** What an agent names of one server. */
export interface NamedTools {
  readonly tools: ReadonlySet<string>;
  /** It wants any tool of the server: all, or whichever there are. */
  readonly isAny: boolean;
}

export interface Wanted {
  /** By the key of the server that is there. */
  readonly named: ReadonlyMap<string, NamedTools>;
  /** Tools of whichever server has them. */
  readonly bare: readonly string[];
  /** About servers that are not there. */
  readonly warnings: readonly string[];
}

/** Names for what VS Code does itself. No server is meant by them. */
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

export function readWanted(agent: Agent, offer: Offer): Wanted {
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

/** `server::server` is how an agent says that it wants the server, whatever its tools are called. */
function particularTool({ server, tool }: ToolReference): string | undefined {
  return tool === '*' || tool === server ? undefined : tool;
}

/** Some programs write names with `_` for what tool names cannot have. */
function findKey(name: string, { servers }: Offer): string | undefined {
  if (servers.has(name)) return name;
  const alike = [...servers.keys()].filter((key) => plainKey(key) === plainKey(name));
  return alike.length === 1 ? alike[0] : undefined;
}
