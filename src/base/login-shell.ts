// The variables that the user's login shell exports, as VS Code reads them: the shell prints its environment between
// two markers, because start-up files may print anything. It's the shell of the password entry, which no project can
// change, and it starts in the home folder with the variables a login gives it.
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { basename, isAbsolute } from 'node:path';
import { isObject } from './object.ts';
import { ProgramTimeout, runProgram } from './run-program.ts';
import { formatDuration } from './text.ts';

export interface LoginShellOptions {
  /** The user's shell and home; by default those of the password entry. */
  readonly user?: {
    readonly shell: string | null;
    readonly homedir: string;
    readonly username: string;
  };
  readonly limitMs?: number;
}

/** Start-up files that load version managers take seconds. */
const LIMIT_MS = 10_000;
const MOST_BYTES = 4 << 20;
/** What login programs start with. */
const LOGIN_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';

/** Rejects with the reason if there is no such shell, or it fails or takes too long. */
export async function readLoginEnvironment(
  options: LoginShellOptions = {},
): Promise<NodeJS.ProcessEnv> {
  const { user = userInfo(), limitMs = LIMIT_MS } = options;
  const { shell, homedir, username } = user;
  if (!shell || !isAbsolute(shell)) throw new Error('There is no login shell.');
  const mark = randomUUID();
  let output = '';
  const run = runProgram({
    cmd: shell,
    args: shellArguments(shell, mark),
    cwd: homedir,
    env: {
      HOME: homedir,
      USER: username,
      LOGNAME: username,
      SHELL: shell,
      PATH: LOGIN_PATH,
      TERM: 'dumb',
      // For start-up files that do something slow or interactive.
      SWITCHBOARD_RESOLVING_ENVIRONMENT: '1',
    },
    limitMs,
    onStdout: (text) => {
      output += text;
      if (output.length > MOST_BYTES) throw new Error(`${shell} printed too much.`);
    },
  });
  const { status } = await run.catch((error: unknown) => {
    if (!(error instanceof ProgramTimeout)) throw error;
    throw new Error(`${shell} took longer than ${formatDuration(limitMs)}.`);
  });
  const [, text] = output.split(mark);
  if (text === undefined) throw new Error(`${shell} exited with code ${status} without a result.`);
  return parseVariables(text);
}

/** One command line, which every shell here reads the same way. */
function shellArguments(shell: string, mark: string): string[] {
  const node = process.execPath;
  if (node.includes("'")) throw new Error(`The path ${node} contains a quotation mark.`);
  const command = `'${node}' -p '"${mark}"+JSON.stringify(process.env)+"${mark}"'`;
  // Interactive, because that's where most people set their variables. csh takes no other option beside -l.
  return /^t?csh$/.test(basename(shell)) ? ['-ic', command] : ['-i', '-l', '-c', command];
}

function parseVariables(text: string): NodeJS.ProcessEnv {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error('The login shell printed something else.');
  const { SWITCHBOARD_RESOLVING_ENVIRONMENT: _own, TERM: _term, ...others } = value;
  return Object.fromEntries(
    Object.entries(others).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}
