// The hidden command `switchboard background`: the process that serves all sessions of a user. Entries start it.
import { existsSync, readFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { isPlainData, type ScriptReport } from '../../background/config-script.ts';
import { openBackgroundControl } from '../../background/control.ts';
import { findMeeting, READY } from '../../background/meeting.ts';
import { ownPlace } from '../../background/place.ts';
import { Background } from '../../background/server.ts';
import { describeBug, SwitchboardError } from '../../base/errors.ts';
import { createLog } from '../../base/log.ts';
import { createBatchedLogFile, createOwnLogStream, logPlaces } from '../../base/log-file.ts';
import { RunNote } from '../../base/orphans.ts';
import { describeSystemError, isSystemError } from '../../base/system-error.ts';
import { VERSION } from '../../base/version.ts';
import { type ConfigScript, runHere } from '../../config/files/files.ts';
import type { UnsavedStart } from '../../load-start.ts';
import { Processes } from '../../pool/processes.ts';
import { sessionParts } from '../serve/linked.ts';
import { keepCompiledSoon, keepStdout } from '../serve/serving.ts';
import { onEndSignal } from '../signals.ts';

/** Set by the program's first file, unless the compiled code of this and its modules is saved already. */
declare const __UNSAVED_START__: UnsavedStart | undefined;

/** Where the entry that starts us waits for an error text, or until we're ready to serve it. */
const REPORT = 3;
const DEFAULT_UMASK = 0o022;

export async function backgroundCommand(operands: readonly string[]): Promise<number> {
  const [first = '', second = ''] = operands;
  return first === 'script' ? runScript() : serveInBackground(first, second);
}

/** `build` is the name of a file that other builds of this program don't have. */
async function serveInBackground(home: string, build: string): Promise<number> {
  // Servers must not depend on which host happened to start us.
  process.umask(DEFAULT_UMASK);
  try {
    setPriority(0);
  } catch {
    // Only an administrator can raise it again.
  }
  process.setMaxListeners(0); // each session has a few
  const { env, argv } = process;
  const logs = logPlaces(home);
  const ownLog = createOwnLogStream(logs.background);
  const log = createLog({ level: 'info', form: 'pretty', folder: undefined }, ownLog);
  const processes = new Processes({
    note: new RunNote(join(home, 'run')),
    isShared: true,
    openLog: (name) =>
      createBatchedLogFile(logs.servers, name, (problem) => log.warn(`${name}: ${problem}`)),
    onBug: (error) => log.error(describeBug(error)),
    onProblem: (problem) => log.debug(problem),
  });
  let background: Background;
  try {
    const meeting = findMeeting(home, env, VERSION);
    if (!meeting) throw new Error(`${home} is too long for a socket's path.`);
    const [, program = ''] = argv;
    background = await Background.open({
      meeting,
      version: VERSION,
      build,
      place: ownPlace(env),
      parts: sessionParts(processes),
      log,
      isInstalled: () => existsSync(join(dirname(program), 'chunks', build)),
    });
  } catch (error) {
    report(`${explain(error, home)}\n`);
    return 1;
  }
  if (report(READY)) serveStarter(background);
  log.info(`started (version ${VERSION}, pid ${process.pid}).`);
  const control = openBackgroundControl(background, { home, log, version: VERSION, processes });
  keepCompiledSoon(log, typeof __UNSAVED_START__ === 'undefined' ? undefined : __UNSAVED_START__);
  onEndSignal(() => void background.stop(), 0);
  await background.ended;
  await processes[Symbol.asyncDispose]();
  await control[Symbol.asyncDispose]();
  log.info('ended.');
  // Timers of sessions that are gone must not keep it running.
  process.exit(0);
}

function explain(error: unknown, home: string): string {
  if (isSystemError(error)) return `${describeSystemError(error, addressOf(error) ?? home)}.`;
  return error instanceof Error ? error.message : String(error);
}

/** Errors about sockets have it instead of a path. */
function addressOf(error: NodeJS.ErrnoException): string | undefined {
  return 'address' in error ? String(error.address) : undefined;
}

/** Returns false if nobody has started us for a session, or the entry is gone. */
function report(text: string): boolean {
  try {
    writeSync(REPORT, text);
    return true;
  } catch {
    process.stderr.write(text);
    return false;
  }
}

/** The entry has no other way to us, and it has said hello before we were ready to read. */
function serveStarter(background: Background): void {
  try {
    background.serveStarter(new Socket({ fd: REPORT, readable: true, writable: true }));
  } catch {
    // started by hand, with something else in its place
  }
}

/** Prints what the configuration script on stdin exports. */
async function runScript(): Promise<number> {
  const write = keepStdout();
  const script = JSON.parse(readFileSync(0, 'utf8')) as ConfigScript;
  let report: ScriptReport;
  try {
    const value = await runHere(script);
    report = value !== undefined && isPlainData(value) ? { value } : { isUnsendable: true };
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    report = { error: { message: error.message, hint: error.hint } };
  }
  await new Promise((resolve) => write(JSON.stringify(report), resolve));
  process.exit(0); // it may have left timers or connections
}
