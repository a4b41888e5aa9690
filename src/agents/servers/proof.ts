// Which servers an agent gets, judged by the tools they actually have. Asks only the relevant servers: those the
// agent names, or all if it names tools without a server.
import { SwitchboardError } from '../../base/errors.ts';
import { excerpt } from '../../base/text.ts';
import type { AgentSettings } from '../../config/config.ts';
import { isExposed } from '../../config/server/expose.ts';
import { RpcError } from '../../rpc/message.ts';
import type { Agent } from '../agent.ts';
import type { Candidate } from './candidate.ts';
import {
  explainLack,
  explainMissingTool,
  explainNobody,
  explainNotAsked,
  explainSeveral,
  explainUnproven,
} from './explain.ts';
import type { Offer, WantedTools } from './wanted.ts';

/** Everything the decision about one agent needs. */
export interface ServerCase {
  readonly agent: Agent;
  readonly settings: AgentSettings;
  readonly offer: Offer;
  readonly wanted: WantedTools;
  readonly toolsOf: ToolsOf;
  readonly warn: (warning: string) => void;
  /** Reports tools and servers that are missing because of a current problem. */
  readonly lack: (sentence: string) => void;
}

/** The servers the agent gets, by key, each with the bare tools it provides. */
export type Grants = ReadonlyMap<string, readonly string[]>;

export async function grantByTools(one: ServerCase): Promise<Grants> {
  const { offer, wanted, settings } = one;
  const answers = await inquire(one);
  const granted = new Map<string, string[]>();
  for (const key of offer.embedded) granted.set(key, []);
  const failed = new Set<string>();
  for (const key of wanted.named.keys()) {
    if (granted.has(key)) continue;
    const verdict = await judgeNamed(key, answers.get(key), one);
    if (verdict === 'granted') granted.set(key, []);
    if (verdict === 'failed') failed.add(key);
  }
  if (settings.mcpLimitReferenced) {
    for (const tool of wanted.bare) grantBare(tool, answers, granted, one);
    return granted;
  }
  for (const { key, cmd } of offer.servers.values()) {
    if (cmd === undefined || granted.has(key) || failed.has(key)) continue;
    const answer = settings.mcpEnumStrict ? answers.get(key) : undefined;
    if (answer && 'problem' in answer) one.lack(explainLack(key, answer.problem));
    else granted.set(key, []);
  }
  return granted;
}

/** Servers the agent names come first. */
async function inquire({ agent, settings, offer, wanted, toolsOf, warn }: ServerCase) {
  const named = [...wanted.named]
    .filter(([key, { isAny }]) => !isAny && !offer.embedded.has(key))
    .flatMap(([key]) => offer.servers.get(key) ?? []);
  const others = [...offer.servers.values()].filter(({ key, cmd }) => {
    if (cmd === undefined) return false;
    if (settings.mcpLimitReferenced) return wanted.bare.length > 0;
    return settings.mcpEnumStrict && !offer.embedded.has(key);
  });
  const most = settings.mcpMaxServers;
  const { answers, notAsked } = await askServers([...named, ...others], most, toolsOf);
  if (notAsked.length > 0) warn(explainNotAsked(agent, notAsked, most));
  return answers;
}

/** `failed`: its tools are unknown, and the agent doesn't get it unproven. */
type Verdict = 'granted' | 'refused' | 'failed';

/** Whether a named server has the tools the agent names. */
async function judgeNamed(
  key: string,
  answer: ToolsAnswer | undefined,
  one: ServerCase,
): Promise<Verdict> {
  const { agent, settings, offer, wanted, toolsOf, warn, lack } = one;
  const server = offer.servers.get(key);
  const named = wanted.named.get(key);
  if (!server || !named || named.isAny) return 'granted';
  const lacking = (there: readonly string[]) =>
    [...named.tools].filter((tool) => !there.includes(tool));
  let known: ToolsAnswer = answer ?? { problem: 'It was not asked for its tools.' };
  // The cached list may be out of date.
  if ('tools' in known && lacking(known.tools).length > 0) {
    known = await askServer(server, toolsOf, { isFresh: true });
  }
  if ('problem' in known) {
    // The engine can't use Switchboard's sign-ins, but may have its own for other servers.
    const isHopeless = server.isOwn && known.needsSignIn === true;
    const isDropped = settings.mcpEnumStrict || isHopeless;
    if (isDropped) lack(explainLack(key, known.problem));
    else warn(explainUnproven(agent, key, known.problem));
    return isDropped ? 'failed' : 'granted';
  }
  const missing = lacking(known.tools);
  for (const tool of missing) warn(explainMissingTool(agent, server, tool, known.tools));
  return missing.length < named.tools.size ? 'granted' : 'refused';
}

/** Grants the one server that has the tool. */
function grantBare(
  tool: string,
  answers: ReadonlyMap<string, ToolsAnswer>,
  granted: Map<string, string[]>,
  { agent, settings, offer, warn, lack }: ServerCase,
): void {
  const having = [...offer.servers.keys()].filter((key) => {
    const answer = answers.get(key);
    return answer && 'tools' in answer && answer.tools.includes(tool);
  });
  // A server the agent gets anyway is the one it means.
  const had = having.filter((key) => granted.has(key));
  if (had.length === 0 && having.length === 0) {
    const { text, isLack } = explainNobody(agent, tool, answers, offer);
    if (isLack) lack(text);
    else warn(text);
  }
  if (had.length === 0 && having.length > 1) {
    warn(explainSeveral(agent, tool, having, settings.mcpEnumFallback));
    if (settings.mcpEnumFallback === 'none') return;
  }
  for (const key of had.length > 0 ? had : having) {
    granted.set(key, [...(granted.get(key) ?? []), tool]);
  }
}

/** Rejects with a SwitchboardError, or with the server's own error. */
export type ToolsOf = (
  server: Candidate,
  options: { readonly isFresh: boolean },
) => Promise<readonly string[]>;

/** The exposed tools, or why they're unknown. */
export type ToolsAnswer = { readonly tools: readonly string[] } | Silence;

interface Silence {
  readonly problem: string;
  readonly needsSignIn?: boolean;
  /** It wasn't asked: only cached answers were wanted. */
  readonly isUnasked?: boolean;
}

const LONGEST_PROBLEM = 400;

export async function askServer(
  server: Candidate,
  toolsOf: ToolsOf,
  { isFresh = false } = {},
): Promise<ToolsAnswer> {
  try {
    const tools = await toolsOf(server, { isFresh });
    return { tools: tools.filter((tool) => isExposed(tool, server.expose)) };
  } catch (error) {
    const isExpected = error instanceof SwitchboardError || error instanceof RpcError;
    if (!isExpected) throw error;
    if (error instanceof RpcError) return { problem: excerpt(error.message, LONGEST_PROBLEM) };
    const { text, code } = error;
    return {
      problem: excerpt(text, LONGEST_PROBLEM),
      needsSignIn: code === 'CHILD_SIGN_IN',
      isUnasked: code === 'SUBTOOL_UNKNOWN',
    };
  }
}

/** Asks the first `most` servers; returns answers by key. */
export async function askServers(
  servers: Iterable<Candidate>,
  most: number,
  toolsOf: ToolsOf,
  { isFresh = false } = {},
): Promise<{ readonly answers: ReadonlyMap<string, ToolsAnswer>; readonly notAsked: string[] }> {
  const all = [...new Set(servers)];
  const asked = all.slice(0, most);
  // Waits for all, even if cancelled, so that none is left running.
  const settled = await Promise.allSettled(
    asked.map((server) => askServer(server, toolsOf, { isFresh })),
  );
  const answers = new Map<string, ToolsAnswer>();
  for (const [index, { key }] of asked.entries()) {
    const outcome = settled[index];
    if (outcome?.status === 'rejected') throw outcome.reason;
    if (outcome) answers.set(key, outcome.value);
  }
  return { answers, notAsked: all.slice(most).map(({ key }) => key) };
}
