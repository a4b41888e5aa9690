// What is said about servers that an agent does not get, or gets without proof.
import { nearest } from '../../base/text.ts';
import type { Agent } from '../agent.ts';
import type { Candidate } from './candidate.ts';
import type { Answer } from './inquiry.ts';
import type { Offer } from './offer.ts';
import { plainKey } from './plain-key.ts';

export function explainDropped({ file }: Agent, key: string, reason: string): string {
  return `${file}: it does not get the server "${key}". ${reason}`;
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

/** No server has a bare tool, as far as they have told. Of those that have not, one may have it. */
export function explainNobody(
  { file }: Agent,
  tool: string,
  answers: ReadonlyMap<string, Answer>,
  { servers }: Offer,
): string {
  const silent = [...answers].flatMap(([key, answer]) =>
    'problem' in answer ? [{ key, ...answer }] : [],
  );
  const known = [...answers.values()].flatMap((answer) => ('tools' in answer ? answer.tools : []));
  const hint = howToWrite(tool, servers) + didYouMean(tool, new Set(known));
  if (silent.length === 0) return `${file}: no server has the tool "${tool}".${hint}`;
  const asks = silent.some(({ isUnasked }) => isUnasked) ? '; switchboard agents --check asks' : '';
  const others = ` Not known are the tools of ${listOf(silent.map(({ key }) => key))}.`;
  const reason = asks === '' ? ` ${silent[0]?.problem}` : '';
  return `${file}: it is not known which server has the tool "${tool}"${asks}.${hint}${others}${reason}`;
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

function listOf(keys: readonly string[]): string {
  const shown = keys.slice(0, MOST_NAMES).map((key) => `"${key}"`);
  const more = keys.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
