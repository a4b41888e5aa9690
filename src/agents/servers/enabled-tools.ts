// The tools of a server that an agent may use: those that the server's owner lets anybody use, and of
// these, where that is wanted, those that the agent names.
import { isExposed } from '../../config/server/expose.ts';
import type { Candidate } from './candidate.ts';
import { type Answer, ask, type ToolsOf } from './inquiry.ts';

type Enabled =
  | { readonly tools: readonly string[] | undefined }
  /** It cannot be given to the agent. */
  | { readonly problem: string };

export async function enabledToolsOf(
  server: Candidate,
  filter: readonly string[] | undefined,
  toolsOf: ToolsOf,
): Promise<Enabled> {
  const { origin, expose } = server;
  const { allow, deny } = expose;
  if (allow === undefined && deny === undefined) return { tools: filter };
  const allowed = filter
    ? { tools: filter.filter((tool) => isExposed(tool, expose)) }
    : await exposedTools(server, toolsOf);
  if ('problem' in allowed) {
    return {
      problem: `Not all of its tools may be used (${origin}), and which there are is not known. ${allowed.problem}`,
    };
  }
  return allowed.tools.length > 0
    ? allowed
    : {
        problem: `None of its tools may be used (${origin}).`,
      };
}

/** Patterns are of use only with the list that they are about; names speak for themselves. */
async function exposedTools(server: Candidate, toolsOf: ToolsOf): Promise<Answer> {
  const { allow } = server.expose;
  const answer = await ask(server, toolsOf);
  if ('tools' in answer || !allow || allow.some((name) => name.includes('*'))) return answer;
  return { tools: allow.filter((tool) => isExposed(tool, server.expose)) };
}
