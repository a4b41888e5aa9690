// The hooks of the user's file, and after them those of the project's file, which get here only if the user has approved
// them.
import { dirname, isAbsolute, resolve } from 'node:path';
import type { ChildConfig, HookConfig, HookSettings } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { expandHome } from '../files/globs.ts';
import type { Layer } from '../files/layers.ts';
import type { Places } from '../files/places.ts';
import type { ConfigFile } from '../schema/schema.ts';

/** Undefined if there are none. `environment` is what programs of a project inherit. */
export function resolveHooks(
  layers: readonly Layer[],
  places: Places,
  environment: ChildConfig['environment'],
): HookSettings | undefined {
  const isUsers = ({ file }: Layer): boolean => file === places.userFile;
  const ordered = [...layers.filter(isUsers), ...layers.filter((layer) => !isUsers(layer))];
  const hooksIn = (event: keyof HookSettings): HookConfig[] =>
    ordered.flatMap((layer) => {
      const { file, config } = layer;
      const project = isUsers(layer) ? {} : { ofProject: { file, environment } };
      const written = config.hooks?.[event] ?? [];
      return written.map((hook) =>
        Object.assign(resolveHook(hook, dirname(file), places), project),
      );
    });
  const hooks = { beforeCall: hooksIn('beforeCall'), afterCall: hooksIn('afterCall') };
  return hooks.beforeCall.length + hooks.afterCall.length === 0 ? undefined : hooks;
}

type WrittenHook = NonNullable<NonNullable<ConfigFile['hooks']>['beforeCall']>[number];

/** Relative to its file: in a project, another program could have the name of one of the user's hooks. */
function resolveHook(written: WrittenHook, cwd: string, { homeFolder }: Places): HookConfig {
  const { args = [], tools = ['*'], timeoutMs = DEFAULTS.hookMs } = written;
  const command = expandHome(written.command, homeFolder);
  const isPath = isAbsolute(command) || /[/\\]/.test(command);
  return { command: isPath ? resolve(cwd, command) : command, args, cwd, tools, timeoutMs };
}
