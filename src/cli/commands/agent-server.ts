// `switchboard agent-server`: what an agent's engine starts instead of a server that permissions or hooks apply to.
// Not meant for users.
import {
  GUARDED_SERVER,
  type GuardedServer,
  guardedChild,
  parseGuarded,
} from '../../agents/servers/guard.ts';
import { createLog } from '../../base/log.ts';
import { findFolders } from '../../config/files/places.ts';
import { resolveLogging } from '../../config/settings/logging.ts';
import { Project } from '../../project.ts';
import { keepStdout } from '../serve/serving.ts';
import { explainOnTerminal, leaveStdio, serveStdioHost } from '../serve/stdio-host.ts';
import { onEndSignal } from '../signals.ts';
import { workingFolder } from '../working-folder.ts';
import type { CommandOptions } from './with-switchboard.ts';

export async function serveGuarded(options: CommandOptions): Promise<number> {
  if (explainOnTerminal()) return 0;
  // The server itself doesn't inherit it.
  const { [GUARDED_SERVER]: text, ...environment } = process.env;
  const guarded = parseGuarded(text);
  await serveUntilEngineGoes(guarded, environment, options, keepStdout());
  return leaveStdio();
}

async function serveUntilEngineGoes(
  guarded: GuardedServer,
  environment: NodeJS.ProcessEnv,
  { config: configFile, servers: serversFile, trust }: CommandOptions,
  write: NodeJS.WriteStream['write'],
): Promise<void> {
  const folder = workingFolder();
  const { name } = guarded;
  const settings = resolveLogging(findFolders({ cwd: folder, env: environment }), {
    env: environment,
  });
  // The Switchboard that runs the agent writes the log file.
  const log = createLog({ ...settings, folder: undefined }, process.stderr);
  await using project = await Project.open({
    folder,
    environment,
    configFile,
    serversFile,
    trust,
    adapt: (config) => ({
      ...config,
      children: new Map([[name, guardedChild(guarded, config, folder)]]),
    }),
    log,
  });
  const { switchboard } = project;
  const signalled = new Promise<void>((resolve) => onEndSignal(resolve, 0));
  // Engines list tools only once. If the server doesn't start, it's better to fail than to offer no tools.
  await Promise.race([switchboard.pool.warm(name), signalled]);
  project.endOrphansSoon();
  await serveStdioHost(switchboard, { log, write }, signalled);
}
