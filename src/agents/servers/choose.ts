// Which servers one agent gets: those that it brings along, those that it names, and those that have
// the tools it names; or, where that is not to be limited, all.
import type { AgentSettings } from '../../config/config.ts';
import type { Agent } from '../agent.ts';
import type { Candidate, Candidates } from './candidate.ts';
import { enabledToolsOf } from './enabled-tools.ts';
import { explainLack, explainUnproven } from './explain.ts';
import { askAll, type ToolsOf } from './inquiry.ts';
import { offerTo } from './offer.ts';
import { type Case, type Given, giveByTools } from './proof.ts';
import { type NamedTools, readWanted } from './wanted.ts';

export interface ChooseOptions {
  readonly settings: AgentSettings;
  readonly available: Candidates;
  readonly toolsOf: ToolsOf;
  /** Every server that is given is asked for its tools, also where nothing hangs on it. */
  readonly isTried?: boolean | undefined;
}

interface ChosenServer {
  readonly server: Candidate;
  /** The only tools of it that the agent may use; undefined for all. */
  readonly enabledTools: readonly string[] | undefined;
}

export interface Choice {
  readonly servers: readonly ChosenServer[];
  /** Sentences that name the agent's file. */
  readonly warnings: readonly string[];
  /** What the agent goes without because something is wrong at the moment: sentences of their own. */
  readonly lacks: readonly string[];
}

export async function chooseServers(agent: Agent, options: ChooseOptions): Promise<Choice> {
  const { settings, toolsOf } = options;
  const offer = offerTo(agent, options.available);
  const wanted = readWanted(agent, offer);
  const warnings = [...wanted.warnings];
  const lacks: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const lack = (sentence: string) => void lacks.push(sentence);
  const one: Case = { agent, settings, offer, wanted, toolsOf, warn, lack };
  const given = settings.mcpEnumerate ? await giveByTools(one) : giveByName(one);
  const servers: ChosenServer[] = [];
  for (const server of offer.servers.values()) {
    const { key } = server;
    const bare = given.get(key);
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

/** What is wrong with servers that an agent gets. */
async function tryOut(
  agent: Agent,
  servers: readonly ChosenServer[],
  toolsOf: ToolsOf,
): Promise<string[]> {
  const given = servers.map(({ server }) => server);
  const { answers } = await askAll(given, given.length, toolsOf, { isFresh: true });
  return [...answers].flatMap(([key, answer]) =>
    'problem' in answer ? [explainUnproven(agent, key, answer.problem)] : [],
  );
}

/** Nobody is asked: every server may have a bare tool, so all that are programs are given. */
function giveByName({ settings, offer, wanted }: Case): Given {
  const isAll = !settings.mcpLimitReferenced || wanted.bare.length > 0;
  const servers = [...offer.servers.values()].filter(
    ({ key, cmd }) =>
      offer.embedded.has(key) || wanted.named.has(key) || (isAll && cmd !== undefined),
  );
  return new Map(servers.map(({ key }) => [key, wanted.bare]));
}

/** The tools that the agent names of a server; undefined where it names none, or any. */
function filterOf(
  named: NamedTools | undefined,
  bare: readonly string[],
): readonly string[] | undefined {
  const tools = [...new Set([...(named?.tools ?? []), ...bare])];
  return named?.isAny || tools.length === 0 ? undefined : tools;
}

/** Undefined stands for all. */
function inBoth(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  return one && other ? one.filter((tool) => other.includes(tool)) : (one ?? other);
}
