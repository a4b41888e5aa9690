// Which servers one agent gets: its own, those it names, and those that have the tools it names; or, if
// the settings don't limit it, all of them. And which of their tools it may use.
import { SwitchboardError } from '../../base/errors.ts';
import type { AgentSettings } from '../../config/config.ts';
import { isExposed } from '../../config/server/expose.ts';
import type { Agent } from '../agent.ts';
import { type BindRules, unbound } from './bind.ts';
import type { Candidate, Candidates } from './candidate.ts';
import { explainLack, explainUnproven } from './explain.ts';
import {
  askServer,
  askServers,
  type Grants,
  grantByTools,
  type ServerCase,
  type ToolsAnswer,
  type ToolsOf,
} from './proof.ts';
import { type NamedTools, offerTo, readWanted } from './wanted.ts';

export interface ChooseOptions {
  readonly settings: AgentSettings;
  readonly available: Candidates;
  readonly toolsOf: ToolsOf;
  /** Applies the configuration's rules to a server the agent declares. */
  readonly bind?: BindRules | undefined;
  /** Ask every server the agent gets for its tools, even if nothing depends on it. */
  readonly isTried?: boolean | undefined;
}

export interface ChosenServer {
  readonly server: Candidate;
  /** The only tools the agent may use; undefined for all. */
  readonly enabledTools: readonly string[] | undefined;
}

export interface ServerChoice {
  readonly servers: readonly ChosenServer[];
  /** Sentences that name the agent's file. */
  readonly warnings: readonly string[];
  /** Tools and servers that are missing because of a current problem: complete sentences. */
  readonly lacks: readonly string[];
}

export async function chooseServers(agent: Agent, options: ChooseOptions): Promise<ServerChoice> {
  const { settings, toolsOf } = options;
  const offer = offerTo(agent, options.available, options.bind ?? unbound);
  const wanted = readWanted(agent, offer);
  const warnings = [...wanted.warnings];
  const lacks: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const lack = (sentence: string) => void lacks.push(sentence);
  for (const { key, isRequired = false } of agent.servers.values()) {
    const reason = offer.servers.has(key) ? undefined : offer.leftOut.get(key);
    if (reason === undefined) continue;
    if (isRequired) throw new SwitchboardError('TOOL_NOT_ALLOWED', reason);
    lack(explainLack(key, reason));
  }
  const one: ServerCase = { agent, settings, offer, wanted, toolsOf, warn, lack };
  const granted = settings.mcpEnumerate ? await grantByTools(one) : grantByName(one);
  const servers: ChosenServer[] = [];
  for (const server of offer.servers.values()) {
    const { key } = server;
    const bare = granted.get(key);
    if (!bare) continue;
    const named = settings.mcpToolFilter ? filterOf(wanted.named.get(key), bare) : undefined;
    const filter = inBoth(named, server.enabledTools);
    const enabled = await enabledToolsOf(server, filter, toolsOf);
    if ('problem' in enabled) lack(explainLack(key, enabled.problem));
    else servers.push({ server, enabledTools: enabled.tools });
  }
  if (options.isTried) warnings.push(...(await tryOut(agent, servers, toolsOf)));
  return { servers, warnings: [...new Set(warnings)], lacks: [...new Set(lacks)] };
}

/** Starts the agent's servers, and reports those that fail. */
async function tryOut(
  agent: Agent,
  servers: readonly ChosenServer[],
  toolsOf: ToolsOf,
): Promise<string[]> {
  const candidates = servers.map(({ server }) => server);
  const { answers } = await askServers(candidates, candidates.length, toolsOf, { isFresh: true });
  return [...answers].flatMap(([key, answer]) =>
    'problem' in answer ? [explainUnproven(agent, key, answer.problem)] : [],
  );
}

/** Asks no server. Any of them may have a bare tool, so it grants all that are programs. */
function grantByName({ settings, offer, wanted }: ServerCase): Grants {
  const isAll = !settings.mcpLimitReferenced || wanted.bare.length > 0;
  const servers = [...offer.servers.values()].filter(
    ({ key, cmd }) =>
      offer.embedded.has(key) || wanted.named.has(key) || (isAll && cmd !== undefined),
  );
  return new Map(servers.map(({ key }) => [key, wanted.bare]));
}

/** The tools of a server that the agent names; undefined for all. */
function filterOf(
  named: NamedTools | undefined,
  bare: readonly string[],
): readonly string[] | undefined {
  const tools = [...new Set([...(named?.tools ?? []), ...bare])];
  return named?.isAny || tools.length === 0 ? undefined : tools;
}

/** Undefined means all. */
function inBoth(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  return one && other ? one.filter((tool) => other.includes(tool)) : (one ?? other);
}

const NOT_ASKED =
  ' Agents get only tools that permissions allow without asking: switchboard permissions explain shows which rule applies.';

type EnabledTools =
  | { readonly tools: readonly string[] | undefined }
  /** The agent can't get the server. */
  | { readonly problem: string };

/** The tools the server's owner exposes and, if there is a filter, the agent names. */
async function enabledToolsOf(
  server: Candidate,
  filter: readonly string[] | undefined,
  toolsOf: ToolsOf,
): Promise<EnabledTools> {
  const { origin, expose, rules } = server;
  const { allow, deny } = expose;
  if (allow === undefined && deny === undefined && !rules) return { tools: filter };
  const allowed =
    filter && !rules
      ? { tools: filter.filter((tool) => isExposed(tool, expose)) }
      : narrow(await exposedTools(server, toolsOf), filter);
  if ('problem' in allowed) {
    return {
      problem: `Only some of its tools are exposed (${origin}), and its tool list is unknown. ${allowed.problem}`,
    };
  }
  return allowed.tools.length > 0
    ? allowed
    : {
        problem: `None of its tools are ${rules ? 'allowed' : 'exposed'} (${origin}).${rules ? NOT_ASKED : ''}`,
      };
}

function narrow(answer: ToolsAnswer, filter: readonly string[] | undefined): ToolsAnswer {
  if (!filter || !('tools' in answer)) return answer;
  return { tools: answer.tools.filter((tool) => filter.includes(tool)) };
}

/** Patterns and permissions need the server's tool list; plain names don't. */
async function exposedTools(server: Candidate, toolsOf: ToolsOf): Promise<ToolsAnswer> {
  const { allow } = server.expose;
  const answer = await askServer(server, toolsOf);
  if ('tools' in answer || server.rules || !allow || allow.some((name) => name.includes('*')))
    return answer;
  return { tools: allow.filter((tool) => isExposed(tool, server.expose)) };
}
