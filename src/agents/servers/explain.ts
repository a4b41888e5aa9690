// What is said about servers that an agent does not get, or gets without proof.
import { nearest } from '../../base/text.ts';
import type { Agent } from '../agent.ts';
import type { Candidate } from './candidate.ts';
import type { Answer } from './inquiry.ts';
import type { Offer } from './offer.ts';
import { plainKey } from './plain-key.ts';

function explainDropped({ file }: Agent, key: string, reason: string): string {
  return `${file}: it does not get the server "${key}". ${reason}`;
}

/** A server that it would get, if nothing were wrong with it. */
export function explainLack(key: string, reason: string): string {
  return `The agent runs without server "${key}". ${reason}`;
}

export function explainUnproven({ file }: Agent, key: string, reason: string): string {
  return `${file}: it gets the server "${key}" without proof of its tools. ${reason}`;
}

export function explainMissingServer(agent: Agent, name: string, offer: Offer): string {
  const [, reason] = [...offer.leftOut].find(([key]) => plainKey(key) === plainKey(name)) ?? [];
  if (reason !== undefined) return explainDropped(agent, name, reason);
  const hint = didYouMean(name, offer.servers.keys());
  return `${agent.file}: it names the server "${name}", which is not configured anywhere.${hint}`;
}

export function explainMissingTool(
  { file }: Agent,
  { key, origin }: Candidate,
  tool: string,
  there: readonly string[],
): string {
  const hint = didYouMean(tool, there);
  return `${file}: the server "${key}" (${origin}) has no tool "${tool}" that may be used.${hint}`;
}

export interface Explained {
  readonly text: string;
  /** Whether a server that did not answer may have it, so that the next run may be better off. */
  readonly isLack: boolean;
}

/** No server has a bare tool, as far as they have told. Of those that have not, one may have it. */
export function explainNobody(
  { file }: Agent,
  tool: string,
  answers: ReadonlyMap<string, Answer>,
  { servers }: Offer,
): Explained {
  const silent = [...answers].flatMap(([key, answer]) =>
    'problem' in answer ? [{ key, ...answer }] : [],
  );
  const known = [...answers.values()].flatMap((answer) => ('tools' in answer ? answer.tools : []));
  const hint = howToWrite(tool, servers) + didYouMean(tool, new Set(known));
  const [first] = silent;
  if (!first) return { text: `${file}: no server has the tool "${tool}".${hint}`, isLack: false };
  const others = listOf(silent.map(({ key }) => key));
  if (silent.some(({ isUnasked }) => isUnasked)) {
    const text = `${file}: Switchboard does not know which server has the tool "${tool}"; it has not asked ${others}. Run: switchboard agents --check.${hint}`;
    return { text, isLack: false };
  }
  const problems = silent.slice(0, MOST_PROBLEMS).map(({ problem }) => problem);
  const owner = silent.length === 1 ? first.key : '<server>';
  const text = [
    `The agent runs without the tool "${tool}". No server that answered has it; no answer from ${others}.`,
    ...problems,
    `If you know its server, write "${owner}::${tool}".`,
  ];
  return { text: text.join(' ') + hint, isLack: true };
}

/** For a name that is written as other programs write it, or that is a server's. */
function howToWrite(tool: string, servers: Offer['servers']): string {
  if (servers.has(tool)) return ` Write "${tool}::*" for all tools of the server of that name.`;
  const [, server, name] = /^(.+)\/(.+)$/.exec(tool) ?? [];
  return name === undefined
    ? ''
    : ` For the tool "${name}" of the server "${server}" write "${server}::${name}".`;
}

/** Several servers have a bare tool. */
export function explainSeveral(
  { file }: Agent,
  tool: string,
  keys: readonly string[],
  fallback: 'none' | 'all',
): string {
  return `${file}: the tool "${tool}" is one of ${listOf(keys)}. It gets ${fallback} of them; write "${keys[0]}::${tool}" to say which is meant.`;
}

export function explainNotAsked(
  { file }: Agent,
  keys: readonly string[],
  mostServers: number,
): string {
  return `${file}: only ${mostServers} servers are asked for their tools, and these were not: ${listOf(keys)}. Raise AGENTS_MCP_MAX_SERVERS, or name servers along with tools.`;
}

function didYouMean(word: string, names: Iterable<string>): string {
  const near = nearest(word, names);
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

const MOST_NAMES = 10;
const MOST_PROBLEMS = 2;

function listOf(keys: readonly string[]): string {
  const shown = keys.slice(0, MOST_NAMES).map((key) => `"${key}"`);
  const more = keys.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
