// The servers that agents can be given, from wherever they are declared, before anyone has looked
// which of them an agent wants.
import type { Expose } from '../../config/config.ts';
import type { AgentServer } from '../agent.ts';

export interface Candidate extends AgentServer {
  /** Which of its tools may be used at all, by the word of whoever declared it. */
  readonly expose: Expose;
  /** It is behind this Switchboard, too, under its key, and the pool knows it. */
  readonly isOwn: boolean;
}

export interface Candidates {
  /** One for each key, the strongest first. */
  readonly servers: readonly Candidate[];
  /** What cannot be given to an agent, by key, and a sentence about why. */
  readonly leftOut: ReadonlyMap<string, string>;
  /** What was wrong with the files: sentences that name them. */
  readonly warnings: readonly string[];
}

export const EVERYTHING: Expose = { allow: undefined, deny: undefined };

/** What `${workspaceFolder}` and `~` stand for. */
export interface ServerFolders {
  readonly project: string;
  readonly homeFolder: string;
}

/** Puts stronger servers before weaker ones; of two with one key the stronger counts. */
export function mergeCandidates(...strongestFirst: readonly Candidates[]): Candidates {
  const servers = new Map<string, Candidate>();
  const leftOut = new Map<string, string>();
  for (const group of strongestFirst) {
    for (const server of group.servers) {
      if (!servers.has(server.key)) servers.set(server.key, server);
    }
    for (const [key, reason] of group.leftOut) {
      if (!leftOut.has(key)) leftOut.set(key, reason);
    }
  }
  return {
    servers: [...servers.values()],
    leftOut,
    warnings: strongestFirst.flatMap(({ warnings }) => warnings),
  };
}
