// `switchboard stop [server]` and `switchboard restart [server]`: end the background process, or one server wherever it
// runs. Neither interrupts sessions or calls unless told to.
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { stopOrphans } from '../../base/orphans.ts';
import {
  isAlive,
  isGroupDead,
  killProcess,
  processPlace,
  startTime,
} from '../../base/process-table.ts';
import { onOneLine } from '../../base/text.ts';
import { sleep } from '../../base/time.ts';
import { VERSION } from '../../base/version.ts';
import { findFolders } from '../../config/files/places.ts';
import { askEndpoint, askPrograms, NOT_RESPONDING } from '../../host/control-client.ts';
import { type ControlEndpoint, findEndpoints } from '../../host/endpoints.ts';
import { parseServerStopped, parseStopped, type SessionName } from '../../host/stop-request.ts';
import { unknownChild } from '../../pool/pool.ts';
import { type CommandOptions, loadFor } from '../commands/with-switchboard.ts';
import { count, createOutput, type Output } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';

export interface StopOptions extends CommandOptions {
  readonly force?: boolean | undefined;
  readonly all?: boolean | undefined;
}

type Verb = 'stop' | 'restart';

/** A program that has ended, for the `--json` document. */
interface StoppedProgram {
  readonly pid: number;
  /** Of a background process; undefined for a Switchboard that served alone. */
  readonly version: string | undefined;
  readonly project: string | undefined;
  /** Those that were interrupted. */
  readonly sessions: readonly SessionName[];
}

/** On a busy machine, a healthy process may take a while to answer. */
const LIMIT_MS = 3_000;
/** Stopping a server can take `stopMs` and more. */
const SERVER_LIMIT_MS = 60_000;
/** Sessions get 20 seconds to end. */
const GONE_MS = 30_000;
const LOOK_EVERY_MS = 50;
/** For servers that a killed process leaves behind. */
const ORPHANS_MS = 2_000;

const PAST = { stop: 'Stopped', restart: 'Restarted' } as const;

export async function stopCommand(
  verb: Verb,
  server: string | undefined,
  options: StopOptions,
): Promise<number> {
  const output = createOutput(options);
  const { home } = findFolders({ cwd: workingFolder(), env: process.env });
  return server === undefined
    ? stopPrograms(verb, home, options, output)
    : stopServer(verb, server, home, options, output);
}

async function stopPrograms(
  verb: Verb,
  home: string,
  { force = false, all = false }: StopOptions,
  output: Output,
): Promise<number> {
  const endpoints = await findEndpoints(home);
  const targets = endpoints.filter(({ background }) => all || background === VERSION);
  if (!force) await refuseToCut(verb, targets, all);
  const outcomes = await Promise.all(
    targets.map((target) => stopProgram(verb, target, { home, force })),
  );
  const stopped = outcomes.filter((one) => one !== undefined);
  output.json({ [verb === 'stop' ? 'stopped' : 'restarted']: stopped });
  if (stopped.length === 0) {
    output.line(all ? 'Nothing is running.' : 'No background process is running.');
  }
  for (const program of stopped) printStopped(verb, program, output);
  if (!all && verb === 'stop') printOthers(endpoints, output);
  return 0;
}

/** Throws if sessions would be interrupted. Looks at all programs before the first one is stopped. */
async function refuseToCut(
  verb: Verb,
  targets: readonly ControlEndpoint[],
  all: boolean,
): Promise<void> {
  const answers = await Promise.all(
    targets.map((target) => askEndpoint(target, { method: 'status', limitMs: LIMIT_MS })),
  );
  for (const answer of answers) if (answer?.problem !== undefined) throw failed(answer.endpoint);
  const sessions = answers.flatMap((answer) => (answer ? sessionsIn(answer.value) : []));
  if (sessions.length > 0) throw refused(verb, sessions, all);
}

/** The project of a Switchboard that serves alone is in its report, not in its sessions. */
function sessionsIn(report: unknown): SessionName[] {
  if (!isObject(report) || !Array.isArray(report['sessions'])) return [];
  return report['sessions'].filter(isObject).map((session) => {
    const project = session['project'] ?? report['project'];
    const { client } = session;
    return {
      client: typeof client === 'string' ? client : undefined,
      project: typeof project === 'string' ? project : '',
    };
  });
}

/** Undefined if it's gone already. */
async function stopProgram(
  verb: Verb,
  endpoint: ControlEndpoint,
  { home, force }: { readonly home: string; readonly force: boolean },
): Promise<StoppedProgram | undefined> {
  const params = { force, again: verb === 'restart' };
  const answer = await askEndpoint(endpoint, { method: 'stop', limitMs: LIMIT_MS, params });
  if (!answer) return undefined;
  const { pid, background: version, project } = endpoint;
  const result = parseStopped(answer.value);
  if (result?.isStopped === false) throw refused(verb, result.sessions, version === undefined);
  if (!result) {
    if (!force || answer.problem !== NOT_RESPONDING) throw failed(endpoint, answer.problem);
    await kill(endpoint, home);
  }
  if (!(await isGone(endpoint))) throw failed(endpoint, 'it is still stopping');
  const { sessions = [] } = result ?? {};
  return { pid, version, project: version === undefined ? project : undefined, sessions };
}

/** For a process that can't be asked, such as one that is suspended. */
async function kill(endpoint: ControlEndpoint, home: string): Promise<void> {
  if (endpoint.place !== processPlace() || !isAlive(endpoint.pid)) throw failed(endpoint);
  killProcess(endpoint.pid);
  if (await isGone(endpoint)) await stopOrphans(join(home, 'run'), ORPHANS_MS);
}

async function isGone({ pid, start, place, background }: ControlEndpoint): Promise<boolean> {
  if (place !== processPlace()) return true; // its pid means nothing here
  const end = performance.now() + GONE_MS;
  while (isAlive(pid) && (await startTime(pid)) === start) {
    // A zombie stays in a container whose init doesn't reap it. A background process has a group of its own.
    if (background !== undefined && isGroupDead(pid)) return true;
    if (performance.now() > end) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}

function printStopped(verb: Verb, program: StoppedProgram, output: Output): void {
  const { pid, version, project = '', sessions } = program;
  const what =
    version === undefined
      ? `the Switchboard that served ${onOneLine(project)} alone (pid ${pid})`
      : `the background process (version ${onOneLine(version)}, pid ${pid})`;
  output.line(`${PAST[verb]} ${what}.`);
  if (sessions.length === 0) return;
  output.line(`  Interrupted: ${nameSessions(sessions)}.`);
  if (version === undefined) output.line('  To use Switchboard there again, restart the session.');
  else if (verb === 'stop') {
    output.line("  The host's next request starts a new background process.");
  }
}

/** What `stop` without `--all` leaves alone. */
function printOthers(endpoints: readonly ControlEndpoint[], output: Output): void {
  const others = endpoints.filter(({ background }) => background !== VERSION);
  if (others.length === 0) return;
  const names = others.map(({ background, project }) =>
    background === undefined
      ? `one that serves ${onOneLine(project)} alone`
      : `the background process of version ${onOneLine(background)}`,
  );
  output.line(`Still running: ${names.join(', ')}. To stop everything: switchboard stop --all`);
}

async function stopServer(
  verb: Verb,
  name: string,
  home: string,
  options: StopOptions,
  output: Output,
): Promise<number> {
  const params = { name, force: options.force === true, again: verb === 'restart' };
  const request = { method: 'stop-server', limitMs: SERVER_LIMIT_MS, params };
  const answers = await askPrograms(home, request);
  const results = answers.map(({ value }) => parseServerStopped(value));
  const ended = results.flatMap((result) => result?.ended ?? []);
  const busy = results.flatMap((result) => result?.busy ?? []);
  if (ended.length + busy.length === 0) await checkKnown(name, home, options);
  output.json({ server: name, [verb === 'stop' ? 'stopped' : 'restarted']: ended });
  const shown = onOneLine(name);
  if (ended.length === 0 && busy.length === 0) output.line(`${shown} is not running.`);
  for (const { pid, sessions } of ended) {
    const facts = [...(pid === undefined ? [] : [`pid ${pid}`]), count(sessions, 'session')];
    output.line(`${PAST[verb]} ${shown} (${facts.join(', ')}).`);
  }
  if (busy.length > 0) {
    throw new SwitchboardError(
      'STOP_REFUSED',
      `Server "${shown}" has calls in flight from ${nameSessions(busy)}.`,
      {
        hint: `To ${verb} it anyway: switchboard ${verb} ${shown} --force`,
        data: { sessions: busy },
      },
    );
  }
  for (const [index, { endpoint, problem }] of answers.entries()) {
    if (!results[index]) throw failed(endpoint, problem);
  }
  return 0;
}

/** Throws if no configuration has a server of this name, neither here nor in a running session. */
async function checkKnown(name: string, home: string, options: StopOptions): Promise<void> {
  const config = await loadFor(options);
  if (config.children.has(name)) return;
  const answers = await askPrograms(home, { method: 'status', limitMs: LIMIT_MS });
  const running = answers.flatMap(({ value }) => {
    const children = isObject(value) ? value['children'] : undefined;
    return Array.isArray(children) ? children.filter(isObject).map((child) => child['name']) : [];
  });
  const names = [...config.children.keys(), ...running.filter((one) => typeof one === 'string')];
  if (!names.includes(name)) throw unknownChild(name, [...new Set(names)]);
}

function refused(verb: Verb, sessions: readonly SessionName[], all: boolean): SwitchboardError {
  const isOne = sessions.length === 1;
  const message = `This would interrupt ${count(sessions.length, 'session')}: ${nameSessions(sessions)}.`;
  const flags = all ? '--all --force' : '--force';
  return new SwitchboardError('STOP_REFUSED', message, {
    hint: `Close ${isOne ? 'it' : 'them'}, or run: switchboard ${verb} ${flags}`,
    data: { sessions },
  });
}

function failed({ pid, background }: ControlEndpoint, problem = NOT_RESPONDING): SwitchboardError {
  const what = background === undefined ? 'Switchboard' : 'The background process';
  return new SwitchboardError('STOP_FAILED', `${what} (pid ${pid}) wasn't stopped: ${problem}.`, {
    hint: "To kill it if it doesn't respond, use --force.",
    data: { pid },
  });
}

/** Such as "claude-code in /home/ada/shop, codex in /home/ada/site". */
function nameSessions(sessions: readonly SessionName[]): string {
  const names = sessions.map(
    ({ client, project }) =>
      `${client === undefined ? 'a host' : onOneLine(client)} in ${onOneLine(project)}`,
  );
  return names.join(', ');
}
