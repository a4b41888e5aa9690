// Rules follow a server and not only its name: an agent that declares a configured server, or finds it in another
// program's file, gets no more of it than hosts do.
import { type ChildConfig, type Config, isOff } from '../../config/config.ts';
import { combineExpose, foldName } from '../../config/server/expose.ts';
import { type LaunchPlace, launchKey, launchKeyOf } from '../../config/server/same-server.ts';
import { hookFor } from '../../trust/hooks/match.ts';
import type { Candidate, Candidates } from './candidate.ts';

/** The server with the rules that apply to it, or a sentence about why agents can't get it. */
export type BindRules = (server: Candidate) => Candidate | string;

export const unbound: BindRules = (server) => server;

export function createBindRules(
  {
    children,
    permissions,
    project,
    hooks,
  }: Pick<Config, 'children' | 'permissions' | 'project' | 'hooks'>,
  place: LaunchPlace,
): BindRules {
  // An assistant's command is our own program.
  const all = [...children.values()].map((child) => child.behind ?? child);
  const isRestricted = (child: ChildConfig) =>
    isOff(child) || child.rules || child.expose.allow || child.expose.deny;
  if (!permissions && !hooks && !all.some(isRestricted)) return unbound;
  const keys = new Map(all.map((child) => [child, launchKeyOf(child, place)]));
  return (server) => {
    const { key: name, origin } = server;
    const key = launchKey({ ...server, cwd: server.cwd ?? project }, place);
    const same = all.filter((child) => key !== undefined && keys.get(child) === key);
    const named = all.filter((child) => foldName(child.name) === foldName(name));
    const which = `${origin}: Server ${JSON.stringify(name)}`;
    const off = same.find(isOff);
    if (off && same.every(isOff)) {
      return `${which} is the same as server "${off.name}", which is turned off (${off.showBecause}).`;
    }
    const bound = [...new Set([...named, ...same.filter((child) => !isOff(child))])];
    const readOnly = bound.map(({ rules }) => rules?.readOnlyIn).find((file) => file !== undefined);
    const aliases = bound.map((child) => child.name).filter((other) => other !== name);
    const isReplaced = named.some((child) => !same.includes(child));
    const ruled = { name, aliases, isReplaced, readOnlyIn: readOnly };
    const rules = permissions?.rulesFor(ruled);
    if (rules?.refusal) return `${which} is not allowed (${rules.refusal.because}).`;
    // Hooks run for names.
    const hooked = aliases.find((other) => !hookFor(hooks, name) && hookFor(hooks, other));
    if (hooked !== undefined) {
      return `${which} is the same as server "${hooked}", for which hooks run. Use that one instead.`;
    }
    const expose = combineExpose([server.expose, ...bound.map((child) => child.expose)]);
    return { ...server, expose, ...(rules && { rules, ruled }) };
  };
}

export function bindAll(candidates: Candidates, bind: BindRules): Candidates {
  const leftOut = new Map(candidates.leftOut);
  const servers = candidates.servers.flatMap((server) => {
    const bound = bind(server);
    if (typeof bound !== 'string') return [bound];
    leftOut.set(server.key, bound);
    return [];
  });
  return { ...candidates, servers, leftOut };
}
