// Opens the project of a session in the background process. The configuration says which variables it needs, and the entry
// is asked only for those.
import { guard } from '../base/guard.ts';
import type { AdjustableLog } from '../base/log.ts';
import type { Project } from '../project.ts';
import { namesFor, SessionEnvironment } from './environment.ts';
import { FRAME } from './frames.ts';
import { type Hello, parseServeArguments } from './hello.ts';
import type { EntryLink } from './link.ts';
import { Refused, type SessionParts } from './session-parts.ts';

/** The entry gives up after five seconds of silence. */
const KEEP_ALIVE_MS = 1_000;

export interface OpenedSession extends AsyncDisposable {
  readonly project: Project;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: AdjustableLog;
}

/** The entry is gone before its session began. */
export class GoneEntry extends Error {
  override readonly name = 'GoneEntry';
}

/** The first configuration was read without a variable that it turned out to depend on. */
class ReadAgain extends Error {
  override readonly name = 'ReadAgain';
}

/** Reading the configuration may take long, for example to run a script. */
export async function openAndKeepAlive(
  link: EntryLink,
  hello: Hello,
  parts: SessionParts,
): Promise<OpenedSession> {
  const keepAlive = guard(
    () => link.stream.destroy(),
    () => link.send(FRAME.log),
  );
  const timer = setInterval(keepAlive, KEEP_ALIVE_MS);
  try {
    return await openSession(link, hello, parts);
  } finally {
    clearInterval(timer);
  }
}

async function openSession(
  link: EntryLink,
  hello: Hello,
  parts: SessionParts,
): Promise<OpenedSession> {
  const options = parseServeArguments(hello.args);
  if (!options) throw new Refused('it needs the whole program.', { isExpected: true });
  const { folder, http } = hello;
  const environment = new SessionEnvironment(hello.variables);
  const isCommand = hello.command !== undefined;
  const log = parts.openLog(folder, environment.variables, link.errors, isCommand);
  let isOpen = false;
  const add = async (names: Parameters<SessionEnvironment['add']>[1]): Promise<boolean> => {
    if (environment.isComplete || names.length === 0) return false;
    const values = await link.askValues(names);
    if (!values) throw new GoneEntry('The entry is gone.');
    return environment.add(values, names);
  };
  const open = (): Promise<Project> =>
    parts.openProject({
      ...options,
      folder,
      environment: environment.variables,
      isCommand,
      http,
      log,
      runScript: async (script) => {
        await add('all'); // it can read anything
        const { errors } = link;
        return parts.runScript(script, { folder, environment: environment.variables, errors });
      },
      check: (config) => {
        if (config.shared === false && !isOpen && parts.canRefuse) {
          throw new Refused('the configuration has "shared": false.', { isExpected: true });
        }
      },
      prepare: async (loaded) => {
        const { missed } = environment;
        const needed = namesFor(loaded);
        const names =
          needed === 'all' || missed === 'all' ? 'all' : [...new Set([...needed, ...missed])];
        const wasMissed = await add(names);
        if (wasMissed && !isOpen) throw new ReadAgain('The environment has changed.');
      },
    });
  if (http) await add('all'); // its settings are there, and servers get a copy without them
  const project = await open().catch((error: unknown) => {
    if (error instanceof ReadAgain) return open();
    throw error;
  });
  isOpen = true;
  return {
    project,
    environment: environment.variables,
    log,
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}
