// The servers behind this Switchboard, for its agents. What the configuration keeps from hosts it
// keeps from agents, too; and the engine has no part in what only we can do, such as signing in.
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { readSignIn, signInFile } from '../../child/sign-in/token-store.ts';
import type { ChildConfig, Config, Remote } from '../../config/config.ts';
import { expandRemote } from '../../config/server/expand.ts';
import type { Candidate, Candidates } from './candidate.ts';
import { needsProxy } from './listing.ts';

type Shown = Pick<Config, 'children' | 'home'>;

export async function ownServers(
  { children, home }: Shown,
  env: NodeJS.ProcessEnv,
): Promise<Candidates> {
  const servers: Candidate[] = [];
  const leftOut = new Map<string, string>();
  for (const child of children.values()) {
    const reason = await reasonAgainst(child, join(home, 'tokens'), env);
    if (reason === undefined) servers.push(toCandidate(child));
    else leftOut.set(child.name, reason);
  }
  return { servers, leftOut, warnings: [] };
}

async function reasonAgainst(
  child: ChildConfig,
  tokens: string,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const { name, show, showBecause, origin, problem, remote, behind } = child;
  const which = `${origin}: server ${JSON.stringify(name)}`;
  if (show === 'off') return `${which} is switched off (${showBecause}).`;
  if (problem) return problem.text;
  if (behind) return `${which} is spoken to in plain language, through an assistant of the host's.`;
  if (!remote) return undefined;
  if (remote.type !== 'http') return `${which} ${needsProxy(remote.type)}`;
  return (await isSignedIn(child, remote, tokens, env))
    ? `${which} needs a sign-in, which Switchboard has and the engine of agents has not.`
    : undefined;
}

async function isSignedIn(
  child: ChildConfig,
  { oauth }: Remote,
  tokens: string,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  if (oauth) return true;
  try {
    return readSignIn(await signInFile(tokens, expandRemote(child, env).url)) !== 'nothing';
  } catch (error) {
    // A variable is missing, or it is no address: that is told when the server is to be used.
    if (error instanceof SwitchboardError || error instanceof TypeError) return false;
    throw error;
  }
}

function toCandidate({ name, origin, command, remote, cwd, expose }: ChildConfig): Candidate {
  return {
    key: name,
    origin,
    cmd: command?.cmd,
    args: command?.args ?? [],
    env: command?.env ?? {},
    cwd: command && cwd,
    url: remote?.url,
    headers: remote?.headers ?? {},
    isInjected: false,
    expose,
    isOwn: true,
  };
}
