// Sentences about servers an agent doesn't get, or gets without proof.
import { nearest } from '../../base/text.ts';
import type { Agent } from '../agent.ts';
import { type Candidate, plainKey } from './candidate.ts';
import type { ToolsAnswer } from './proof.ts';
import type { Offer } from './wanted.ts';

function explainDropped({ file }: Agent, key: string, reason: string): string {
  return `${file}: The agent does not get server "${key}". ${reason}`;
}

export function explainLack(key: string, reason: string): string {
  return `The agent runs without server "${key}". ${reason}`;
}

export function explainUnproven({ file }: Agent, key: string, reason: string): string {
  return `${file}: Server "${key}" is attached without checking its tools. ${reason}`;
}

export function explainMissingServer(agent: Agent, name: string, offer: Offer): string {
  const [, reason] = [...offer.leftOut].find(([key]) => plainKey(key) === plainKey(name)) ?? [];
  if (reason !== undefined) return explainDropped(agent, name, reason);
  const hint = didYouMean(name, offer.servers.keys());
  return `${agent.file}: Server "${name}" is not configured anywhere.${hint}`;
}

export function explainMissingTool(
  { file }: Agent,
  { key, origin }: Candidate,
  tool: string,
  there: readonly string[],
): string {
  const hint = didYouMean(tool, there);
  return `${file}: Server "${key}" (${origin}) has no usable tool "${tool}".${hint}`;
}

export interface Explained {
  readonly text: string;
  /** Whether a server that didn't respond may have it, so that the next run may succeed. */
  readonly isLack: boolean;
}

/** No server that responded has the bare tool, but one of the others may. */
export function explainNobody(
  { file }: Agent,
  tool: string,
  answers: ReadonlyMap<string, ToolsAnswer>,
  { servers }: Offer,
): Explained {
  const silent = [...answers].flatMap(([key, answer]) =>
    'problem' in answer ? [{ key, ...answer }] : [],
  );
  const known = [...answers.values()].flatMap((answer) => ('tools' in answer ? answer.tools : []));
  const hint = howToWrite(tool, servers) + didYouMean(tool, new Set(known));
  const [first] = silent;
  if (!first) return { text: `${file}: No server has the tool "${tool}".${hint}`, isLack: false };
  const others = quoteAll(silent.map(({ key }) => key));
  if (silent.some(({ isUnasked }) => isUnasked)) {
    const text = `${file}: Switchboard doesn't know yet which server has the tool "${tool}". It hasn't asked ${others}. Run: switchboard agents --check.${hint}`;
    return { text, isLack: false };
  }
  const problems = silent.slice(0, MOST_PROBLEMS).map(({ problem }) => problem);
  const owner = silent.length === 1 ? first.key : '<server>';
  const text = [
    `The agent runs without the tool "${tool}". No server that responded has it, and ${others} didn't respond.`,
    ...problems,
    `If you know its server, write "${owner}::${tool}".`,
  ];
  return { text: text.join(' ') + hint, isLack: true };
}

/** For a name in another program's syntax, or the name of a server. */
function howToWrite(tool: string, servers: Offer['servers']): string {
  if (servers.has(tool)) return ` For all tools of the server "${tool}", write "${tool}::*".`;
  const [, server, name] = /^(.+)\/(.+)$/.exec(tool) ?? [];
  return name === undefined
    ? ''
    : ` For the tool "${name}" of server "${server}", write "${server}::${name}".`;
}

export function explainSeveral(
  { file }: Agent,
  tool: string,
  keys: readonly string[],
  fallback: 'none' | 'all',
): string {
  return `${file}: Several servers have the tool "${tool}": ${quoteAll(keys)}. The agent gets ${fallback} of them. Write "${keys[0]}::${tool}" to choose one.`;
}

export function explainNotAsked(
  { file }: Agent,
  keys: readonly string[],
  mostServers: number,
): string {
  return `${file}: Not asked for their tools, because the limit is ${mostServers} servers: ${quoteAll(keys)}. Raise AGENTS_MCP_MAX_SERVERS, or name a server with each tool.`;
}

function didYouMean(word: string, names: Iterable<string>): string {
  const near = nearest(word, names);
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

const MOST_NAMES = 10;
const MOST_PROBLEMS = 2;

function quoteAll(keys: readonly string[]): string {
  const shown = keys.slice(0, MOST_NAMES).map((key) => `"${key}"`);
  const more = keys.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
