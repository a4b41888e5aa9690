// Switchboard's own servers, for its agents. Anything the configuration hides from hosts is also hidden from
// agents, and the engine can't do everything we can, such as signing in.
import { SwitchboardError } from '../../base/errors.ts';
import { readSignIn, signInFile } from '../../child/sign-in/token-store.ts';
import {
  type ChildConfig,
  type Config,
  isOff,
  type Remote,
  tokenFolder,
} from '../../config/config.ts';
import { expandRemote } from '../../config/server/expand.ts';
import type { Candidate, Candidates } from './candidate.ts';
import { needsProxy } from './programs/listing.ts';

type Shown = Pick<Config, 'children' | 'home'>;

export async function ownServers(
  { children, home }: Shown,
  env: NodeJS.ProcessEnv,
): Promise<Candidates> {
  const servers: Candidate[] = [];
  const leftOut = new Map<string, string>();
  for (const child of children.values()) {
    const reason = await reasonAgainst(child, tokenFolder({ home }), env);
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
  const { name, showBecause, origin, problem, remote, behind, rules } = child;
  const which = `${origin}: Server ${JSON.stringify(name)}`;
  if (isOff(child)) return `${which} is turned off (${showBecause}).`;
  if (rules?.refusal) return `${which} is not allowed (${rules.refusal.because}).`;
  if (problem) return problem.text;
  if (behind) return `${which} is behind an assistant, which only hosts can use.`;
  if (!remote) return undefined;
  if (remote.type !== 'http') return `${which} ${needsProxy(remote.type)}`;
  return (await isSignedIn(child, remote, tokens, env))
    ? `${which} requires signing in. Only Switchboard is signed in, not the engine.`
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
    // Encrypted or not: only whether there is one.
    const kept = await readSignIn(await signInFile(tokens, expandRemote(child, env).url));
    return kept !== 'nothing';
  } catch (error) {
    // A missing variable or an invalid URL. Using the server reports it.
    if (error instanceof SwitchboardError || error instanceof TypeError) return false;
    throw error;
  }
}

function toCandidate(child: ChildConfig): Candidate {
  const { name, origin, command, remote, cwd, expose, rules, sandbox } = child;
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
    sandbox,
    ...(rules && { rules }),
    isOwn: true,
  };
}
