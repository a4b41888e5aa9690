// Which servers an agent gets by what they really have. Only those are asked that something hangs on:
// those that the agent names, and all where it names tools without saying whose they are.
import type { AgentSettings } from '../../config/config.ts';
import type { Agent } from '../agent.ts';
import {
  explainLack,
  explainMissingTool,
  explainNobody,
  explainNotAsked,
  explainSeveral,
  explainUnproven,
} from './explain.ts';
import { type Answer, ask, askAll, type ToolsOf } from './inquiry.ts';
import type { Offer } from './offer.ts';
import type { Wanted } from './wanted.ts';

/** What is being decided about one agent. */
export interface Case {
  readonly agent: Agent;
  readonly settings: AgentSettings;
  readonly offer: Offer;
  readonly wanted: Wanted;
  readonly toolsOf: ToolsOf;
  readonly warn: (warning: string) => void;
  /** Says what the agent goes without because something is wrong at the moment. */
  readonly lack: (sentence: string) => void;
}

/** What the agent gets, by key, with the bare tools that it gets each for. */
export type Given = ReadonlyMap<string, readonly string[]>;

export async function giveByTools(one: Case): Promise<Given> {
  const { offer, wanted, settings } = one;
  const answers = await inquire(one);
  const given = new Map<string, string[]>();
  for (const key of offer.embedded) given.set(key, []);
  const failed = new Set<string>();
  for (const key of wanted.named.keys()) {
    if (given.has(key)) continue;
    const verdict = await judgeNamed(key, answers.get(key), one);
    if (verdict === 'given') given.set(key, []);
    if (verdict === 'failed') failed.add(key);
  }
  if (settings.mcpLimitReferenced) {
    for (const tool of wanted.bare) giveBare(tool, answers, given, one);
    return given;
  }
  for (const { key, cmd } of offer.servers.values()) {
    if (cmd === undefined || given.has(key) || failed.has(key)) continue;
    const answer = settings.mcpEnumStrict ? answers.get(key) : undefined;
    if (answer && 'problem' in answer) one.lack(explainLack(key, answer.problem));
    else given.set(key, []);
  }
  return given;
}

/** What an agent names comes first. */
async function inquire({ agent, settings, offer, wanted, toolsOf, warn }: Case) {
  const named = [...wanted.named]
    .filter(([key, { isAny }]) => !isAny && !offer.embedded.has(key))
    .flatMap(([key]) => offer.servers.get(key) ?? []);
  const others = [...offer.servers.values()].filter(({ key, cmd }) => {
    if (cmd === undefined) return false;
    if (settings.mcpLimitReferenced) return wanted.bare.length > 0;
    return settings.mcpEnumStrict && !offer.embedded.has(key);
  });
  const most = settings.mcpMaxServers;
  const { answers, notAsked } = await askAll([...named, ...others], most, toolsOf);
  if (notAsked.length > 0) warn(explainNotAsked(agent, notAsked, most));
  return answers;
}

/** `failed`: what it has is not known, and it is not given without. */
type Verdict = 'given' | 'not-given' | 'failed';

/** Whether a server that the agent names has what it names of it. */
async function judgeNamed(key: string, answer: Answer | undefined, one: Case): Promise<Verdict> {
  const { agent, settings, offer, wanted, toolsOf, warn, lack } = one;
  const server = offer.servers.get(key);
  const named = wanted.named.get(key);
  if (!server || !named || named.isAny) return 'given';
  const lacking = (there: readonly string[]) =>
    [...named.tools].filter((tool) => !there.includes(tool));
  let known: Answer = answer ?? { problem: 'It was not asked for its tools.' };
  // What is remembered may be out of date: the server may have the tool by now.
  if ('tools' in known && lacking(known.tools).length > 0) {
    known = await ask(server, toolsOf, { isFresh: true });
  }
  if ('problem' in known) {
    // The engine has no part in Switchboard's sign-ins, but may have one of its own elsewhere.
    const isHopeless = server.isOwn && known.needsSignIn === true;
    const isDropped = settings.mcpEnumStrict || isHopeless;
    if (isDropped) lack(explainLack(key, known.problem));
    else warn(explainUnproven(agent, key, known.problem));
    return isDropped ? 'failed' : 'given';
  }
  const missing = lacking(known.tools);
  for (const tool of missing) warn(explainMissingTool(agent, server, tool, known.tools));
  return missing.length < named.tools.size ? 'given' : 'not-given';
}

/** Gives the agent the one server that has the tool. */
function giveBare(
  tool: string,
  answers: ReadonlyMap<string, Answer>,
  given: Map<string, string[]>,
  { agent, settings, offer, warn, lack }: Case,
): void {
  const having = [...offer.servers.keys()].filter((key) => {
    const answer = answers.get(key);
    return answer && 'tools' in answer && answer.tools.includes(tool);
  });
  // One that the agent has in any case is the one it means.
  const had = having.filter((key) => given.has(key));
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
    given.set(key, [...(given.get(key) ?? []), tool]);
  }
}
