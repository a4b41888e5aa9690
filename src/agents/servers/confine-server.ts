// An agent's server in its sandbox. The engine starts it, so it gets the whole command. A sandbox in Switchboard's
// configuration also applies to servers with the same name or command that come from an agent or another program.
import { withVariables } from '../../base/process.ts';
import type { Config } from '../../config/config.ts';
import { type LaunchPlace, launchKey, launchKeyOf } from '../../config/server/same-server.ts';
import { tighten } from '../../config/server/sandbox.ts';
import type { ConfineOptions } from '../../trust/sandbox/confine.ts';
import type { AgentServer } from '../agent.ts';
import type { AttachedServer } from '../engine.ts';

export function bindSandbox<T extends AgentServer>(
  server: T,
  { children, project }: Pick<Config, 'children' | 'project'>,
  place: LaunchPlace,
): T {
  if (server.cmd === undefined) return server;
  const confined = [...children.values()].filter(({ sandbox }) => sandbox);
  if (confined.length === 0) return server;
  const wanted = launchKey({ ...server, cwd: server.cwd ?? project }, place);
  const bound = confined.find(
    (child) => child.name === server.key || launchKeyOf(child, place) === wanted,
  );
  return bound ? { ...server, sandbox: tighten(bound.sandbox, server.sandbox) } : server;
}

/** Throws if there is no sandbox for it. */
export async function confineServer(
  attached: AttachedServer,
  { key, sandbox }: AgentServer,
  options: Omit<ConfineOptions, 'name' | 'sandbox'>,
): Promise<AttachedServer> {
  const { cmd } = attached;
  if (!sandbox || cmd === undefined) return attached;
  // Lazy: most servers have no sandbox.
  const { createConfine } = await import('../../trust/sandbox/confine.ts');
  const cwd = attached.cwd ?? options.project;
  const env = withVariables(options.env, attached.env);
  const { command } = createConfine({ ...options, name: key, sandbox })({
    cmd,
    args: attached.args,
    cwd,
    env,
  });
  return { ...attached, cmd: command.cmd, args: command.args };
}
