// A session at the other end of a link: in the background process, or in this one for an entry that can't get another.
import type { Duplex } from 'node:stream';
import { runConfigScript } from '../../background/config-script.ts';
import { FRAME } from '../../background/frames.ts';
import type { Hello, HttpFlags } from '../../background/hello.ts';
import { EntryLink } from '../../background/link.ts';
import { serveSession } from '../../background/serve-session.ts';
import type { SessionParts } from '../../background/session-parts.ts';
import { describeBug } from '../../base/errors.ts';
import { Turns } from '../../base/watch/turns.ts';
import type { Processes } from '../../pool/processes.ts';
import { readHttpSettings } from './http-options.ts';
import { assistantOpener } from './inside-assistant.ts';
import { createCommandLog, createServingLog, openServedProject } from './serving.ts';

/** How a session is served, wherever it is. `processes`: those of all sessions, if there are others. */
export function sessionParts(processes?: Processes): SessionParts {
  const turns = new Turns();
  return {
    canRefuse: processes !== undefined,
    openLog: (folder, environment, stream, isCommand) => {
      const create = isCommand ? createCommandLog : createServingLog;
      return create(folder, environment, stream);
    },
    openProject: async ({ toolsOf, http, ...options }) => {
      if (toolsOf !== undefined) {
        // Lazy: few sessions need it.
        const { openToolsProject } = await import('./tools-project.ts');
        return openToolsProject(toolsOf, { ...options, processes, turns });
      }
      const hosts = { hosts: 'one', asksHosts: !options.isCommand } as const;
      return openServedProject({
        ...options,
        ...(http ? await projectFor(http, options.environment) : hosts),
        processes,
        turns,
        // Those of a session that is alone have a process of their own.
        ...(processes && { assistantOpener }),
      });
    },
    openListener: async ({ flags, environment, ...options }) => {
      const { openHttpListener } = await import('./serve-http.ts');
      return openHttpListener({ ...options, settings: readHttpSettings(flags, environment) });
    },
    runScript: (script, surroundings) => {
      const [, program = ''] = process.argv;
      const command = [process.execPath, program, 'background', 'script'] as const;
      return runConfigScript(command, script, surroundings);
    },
  };
}

/** Lazy: few sessions are for hosts over HTTP. */
async function projectFor(flags: HttpFlags, environment: NodeJS.ProcessEnv) {
  const { httpProject } = await import('./serve-http.ts');
  return httpProject(readHttpSettings(flags, environment));
}

export interface GivenLink {
  readonly stream: Duplex;
  readonly hello: Hello;
}

/** Serves the session of this process's own entry; returns the exit status. */
export async function serveLinked({ stream, hello }: GivenLink): Promise<number> {
  const report = (error: unknown): void => void process.stderr.write(`${describeBug(error)}\n`);
  const link = new EntryLink(stream, report);
  const isServed = await serveSession(link, hello, sessionParts(), NEVER);
  if (isServed) link.send(FRAME.end, Buffer.from([0]));
  stream.end();
  return 0;
}

/** The entry handles signals and passes them on. */
const NEVER = new Promise<void>(() => {});
