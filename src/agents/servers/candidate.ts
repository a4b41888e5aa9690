// The servers agents can get, wherever they are declared, before an agent's own selection.
import { resolve } from 'node:path';
import type { Expose } from '../../config/config.ts';
import { expandHome } from '../../config/files/globs.ts';
import type { RuledServer, ServerRules } from '../../config/permission-rules.ts';
import { withoutVariables } from '../../config/server/expand.ts';
import type { AgentServer } from '../agent.ts';

export interface Candidate extends AgentServer {
  /** The tools its declaration allows anyone to use. */
  readonly expose: Expose;
  /** The permissions that apply to it. Agents can't ask, so they get only what is allowed. */
  readonly rules?: ServerRules | undefined;
  /** What those were found by, unless it's one of Switchboard's own servers. */
  readonly ruled?: RuledServer | undefined;
  /** This Switchboard also has it, under the same key, so the pool knows it. */
  readonly isOwn: boolean;
}

export interface Candidates {
  /** One per key, highest precedence first. */
  readonly servers: readonly Candidate[];
  /** Servers agents can't get: key → a sentence about why. */
  readonly leftOut: ReadonlyMap<string, string>;
  /** Problems with the files: sentences that name them. */
  readonly warnings: readonly string[];
}

export const EVERYTHING: Expose = { allow: undefined, deny: undefined };

/** What `${workspaceFolder}` and `~` expand to. */
export interface ServerFolders {
  readonly project: string;
  readonly homeFolder: string;
}

/** If several servers have the same key, the first is used. */
export function mergeCandidates(...highestFirst: readonly Candidates[]): Candidates {
  const servers = new Map<string, Candidate>();
  const leftOut = new Map<string, string>();
  for (const group of highestFirst) {
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
    warnings: highestFirst.flatMap(({ warnings }) => warnings),
  };
}

/** Absolute, unless it has a variable: that is expanded later, so the path itself must not look like one. */
export function serverFolder(cwd: string, { project, homeFolder }: ServerFolders): string {
  if (cwd.includes('${')) return cwd;
  return withoutVariables(resolve(project, expandHome(cwd, homeFolder)));
}

/** A key in the form that tool names allow: engines accept no others, and some programs write keys this way. */
export function plainKey(key: string): string {
  return key.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

/** The plain key, numbered if taken. */
export function distinctKey(key: string, taken: { has(key: string): boolean }): string {
  const plain = plainKey(key);
  let distinct = plain;
  for (let number = 2; taken.has(distinct); number++) distinct = `${plain}_${number}`;
  return distinct;
}
