// What serving a session in the background process needs from the rest of the program, and what it tells about one.
import type { Writable } from 'node:stream';
import type { AdjustableLog } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { ConfigScript, RunScript } from '../config/files/files.ts';
import type { Loaded, Project } from '../project.ts';
import type { ScriptSurroundings } from './config-script.ts';
import type { HttpFlags, Refusal, ServeArguments } from './hello.ts';

/** A session that has to be served by the entry itself. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;

  constructor(reason: string, { isExpected = false, isOver = false } = {}) {
    super(reason);
    this.refusal = { reason, isExpected, isOver };
  }
}

interface SessionProject extends ServeArguments {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether it's for a command, which reports problems itself. */
  readonly isCommand: boolean;
  /** Set if it's for hosts over HTTP. */
  readonly http: HttpFlags | undefined;
  readonly log: AdjustableLog;
  readonly runScript: RunScript;
  /** Called with each configuration before anything else is done with it. */
  readonly check: (config: Config) => void;
  /** Called with each configuration before it is announced and takes effect. */
  readonly prepare: (loaded: Loaded) => Promise<void>;
}

/** Provided by the command line, which knows how a project is served. */
export interface SessionParts {
  readonly openLog: (
    folder: string,
    environment: NodeJS.ProcessEnv,
    stream: Writable,
    isCommand: boolean,
  ) => AdjustableLog;
  readonly openProject: (options: SessionProject) => Promise<Project>;
  /** Listens for the hosts of `switchboard serve --http`. Throws if it can't. */
  readonly openListener: (options: ListenerOptions) => Promise<HttpListener>;
  /** Whether the session can be refused because of its configuration. Its own entry has no choice. */
  readonly canRefuse: boolean;
  /** Runs a configuration script in a process with this environment. */
  readonly runScript: (script: ConfigScript, surroundings: ScriptSurroundings) => Promise<unknown>;
  /** Called with each session that is open. Without it, the session is the only one of its program. */
  readonly onOpen?: (session: ServedSession) => Disposable;
}

interface ListenerOptions {
  readonly project: Project;
  readonly flags: HttpFlags;
  /** The whole environment of `switchboard serve --http`. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: AdjustableLog;
  /** Written to its stderr. */
  readonly say: (text: string) => void;
  /** Whether another background process has listened before. */
  readonly isAgain: boolean;
}

export interface HttpListener extends AsyncDisposable {
  readonly port: number;
}

/** An open session, as the user's other commands see it. */
export interface ServedSession {
  readonly project: Project;
  /** ISO. */
  readonly startedAt: string;
  /** The pid of its entry. */
  readonly entry: number;
  /** Set for a command. Only `serve --http` has hosts. */
  readonly command: string | undefined;
}
