// What there is for one agent: the servers that it brings along, over those that are there for all.
import type { Agent } from '../agent.ts';
import { type Candidate, type Candidates, EVERYTHING } from './candidate.ts';

export interface Offer {
  /** By key, the agent's own first. */
  readonly servers: ReadonlyMap<string, Candidate>;
  /** The keys of those that the agent brings along. It gets them whatever it names. */
  readonly embedded: ReadonlySet<string>;
  readonly leftOut: ReadonlyMap<string, string>;
}

export function offerTo(agent: Agent, available: Candidates): Offer {
  const shared = new Map(available.servers.map((server) => [server.key, server]));
  const servers = new Map<string, Candidate>();
  for (const server of agent.servers.values()) {
    // One of ours only fills a gap: the user's own of the same name is what he wants.
    const own = server.isInjected ? shared.get(server.key) : undefined;
    servers.set(server.key, own ?? { ...server, expose: EVERYTHING, isOwn: false });
  }
  for (const [key, server] of shared) if (!servers.has(key)) servers.set(key, server);
  return { servers, embedded: new Set(agent.servers.keys()), leftOut: available.leftOut };
}
