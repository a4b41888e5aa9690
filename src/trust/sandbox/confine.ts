// Runs a server in a sandbox: bubblewrap on Linux, sandbox-exec on macOS. If there is none, or it can't do what is
// configured, the server doesn't start.
import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { findOnPath } from '../../base/find-program.ts';
import { pathInside } from '../../base/paths.ts';
import { type GroupCommand, machineKind } from '../../base/process.ts';
import { runProgram } from '../../base/run-program.ts';
import { cleanText } from '../../base/text.ts';
import type { Confine, Confined } from '../../child/start.ts';
import type { Sandbox } from '../../config/config.ts';
import { bubblewrapArgs } from './bubblewrap.ts';
import { prepareCaches, type SandboxPlaces, type SandboxSystem } from './defaults.ts';
import { accessAt, createRules, isAtOrBelow, type PathRule, realPlace } from './rules.ts';
import { seatbeltProfile } from './seatbelt.ts';

export interface ConfineOptions extends Omit<SandboxPlaces, 'system' | 'cwd'> {
  /** The server's name. */
  readonly name: string;
  readonly sandbox: Sandbox;
  /** As `machineKind` returns it. */
  readonly machine?: string | undefined;
  /** Where bubblewrap may be if it isn't on the PATH. */
  readonly usualFolders?: readonly string[] | undefined;
}

const SEATBELT = '/usr/bin/sandbox-exec';
/** Hosts often have a shorter PATH than a terminal. */
const USUAL_FOLDERS = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin'];

export function createConfine(options: ConfineOptions): Confine {
  return (command) => {
    const system = systemOf(options);
    const { name, sandbox, project, home, homeFolder, env } = options;
    if (sandbox.hasDomains) throw explainDomains(options, system);
    const places: SandboxPlaces = { system, project, cwd: command.cwd, home, homeFolder, env };
    const program = system === 'linux' ? findBubblewrap(options) : SEATBELT;
    prepareCaches(command, places);
    const rules = readRules(name, sandbox, places);
    const view: View = { name, sandbox, system, homeFolder: realPlace(homeFolder), rules };
    requireVisible(command, view);
    const args =
      system === 'linux'
        ? bubblewrapArgs({ ...view, cwd: command.cwd, network: sandbox.network })
        : ['-p', seatbeltProfile({ rules, network: sandbox.network }), '--'];
    const wrap = (cmd: string, more: readonly string[]): GroupCommand => ({
      ...command,
      cmd: program,
      args: [...args, cmd, ...more],
    });
    const confined: Confined = {
      command: wrap(command.cmd, command.args),
      explain: (failure) => explainStart(failure, view, wrap(program, ['--version'])),
    };
    return confined;
  };
}

function readRules(name: string, sandbox: Sandbox, places: SandboxPlaces): PathRule[] {
  try {
    return createRules(sandbox, places);
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    const { code, message, hint, cause } = error;
    throw new SwitchboardError(code, `Server "${name}" did not start. ${message}`, {
      hint,
      cause,
      data: { child: name, file: sandbox.origin },
    });
  }
}

/** What a server in its sandbox can see. */
interface View {
  readonly name: string;
  readonly sandbox: Sandbox;
  readonly system: SandboxSystem;
  /** A real path. */
  readonly homeFolder: string;
  readonly rules: readonly PathRule[];
}

function systemOf({ machine = machineKind(), ...options }: ConfineOptions): SandboxSystem {
  if (machine.startsWith('linux-')) return 'linux';
  if (machine.startsWith('darwin-')) return 'darwin';
  const windows = machine.startsWith('win32-');
  throw unavailable(
    options,
    `Switchboard has no sandbox for ${windows ? 'Windows' : 'this operating system'}`,
    windows ? 'Run Switchboard in WSL' : 'Run Switchboard on Linux or macOS',
  );
}

/** Never one from the project, which would decide what it may do. */
function findBubblewrap(options: ConfineOptions): string {
  const { env, project, usualFolders = USUAL_FOLDERS } = options;
  const folders = [...(env['PATH'] ?? '').split(delimiter), ...usualFolders].filter(
    (folder) => folder.startsWith('/') && !isAtOrBelow(project, folder),
  );
  const found = findOnPath('bwrap', { PATH: folders.join(delimiter) });
  if (found !== undefined && pathInside(project, realPlace(found)) === undefined) return found;
  throw unavailable(
    options,
    'bubblewrap (bwrap) is not installed',
    'Install it, for example with: sudo apt install bubblewrap',
  );
}

/** The server would fail with an error that doesn't say why. */
function requireVisible({ cmd, cwd, env }: GroupCommand, view: View): void {
  const { name, rules, sandbox, system } = view;
  const isPath = cmd.includes('/');
  const program = isPath ? resolve(cwd, cmd) : findOnPath(cmd, { PATH: env['PATH'] });
  if (program === undefined || !existsSync(program)) {
    throw Object.assign(new Error(`${cmd} was not found.`), { code: 'ENOENT' });
  }
  const places = [
    ['its working directory (cwd)', cwd],
    ['its program', program],
    ['its program', realPlace(program)],
  ] as const;
  for (const [what, path] of places) {
    const access = accessAt(realPlace(path), rules);
    const isEmpty = access === 'private' && system === 'linux';
    if (access !== 'hidden' && !isEmpty) continue;
    throw new SwitchboardError(
      'CHILD_START_FAILED',
      `Server "${name}" did not start: ${what} ${path} is hidden in its sandbox.`,
      {
        hint: `To show it, add it to "allowRead" in the server's sandbox (${sandbox.origin}).`,
        data: { child: name, path },
      },
    );
  }
}

/** Time for a sandbox that runs nothing. */
const TRIAL_MS = 5_000;

/** A start has failed: because of the sandbox itself, or maybe because of what it hides. */
async function explainStart(failure: unknown, view: View, trial: GroupCommand): Promise<unknown> {
  if (!(failure instanceof SwitchboardError) || failure.code === 'CANCELLED') return failure;
  const problem = view.system === 'linux' ? await findProblem(trial) : undefined;
  if (problem !== undefined) return explainBroken(problem, view);
  const { code, message, hint = '', cause, data } = failure;
  return new SwitchboardError(code, message, {
    hint: `${hint}${hint.includes('\n') ? '\n' : ' '}${describeView(view)}`.trim(),
    cause,
    data: { ...data, sandbox: summarize(view) },
  });
}

/** What bubblewrap says if it can't create the sandbox. */
async function findProblem(trial: GroupCommand): Promise<string | undefined> {
  let output = '';
  const onStderr = (text: string): void => {
    output = (output + text).slice(0, 500);
  };
  try {
    const { status } = await runProgram({ ...trial, onStderr, limitMs: TRIAL_MS });
    if (status === 0) return undefined;
  } catch (error) {
    output ||= String(error);
  }
  return (
    cleanText(output)
      .trim()
      .replace(/^bwrap: /, '') || 'it failed without a message'
  );
}

function explainBroken(problem: string, { name, sandbox }: View): SwitchboardError {
  return unavailable(
    { name, sandbox },
    `bubblewrap can't create one: ${problem.replace(/\.$/, '')}`,
    'Allow unprivileged user namespaces (Ubuntu: add an AppArmor profile for bwrap; containers: see docs/sandbox.md)',
  );
}

function explainDomains(options: ConfineOptions, system: SandboxSystem): SwitchboardError {
  const program = system === 'linux' ? 'bubblewrap' : 'sandbox-exec';
  return unavailable(
    options,
    `${program} can't limit the network to some domains, only turn it off`,
    'Remove "allowedDomains" and "deniedDomains", or set "network" to false',
  );
}

/** `way`: what to do besides removing the sandbox, without a full stop. */
function unavailable(
  { name, sandbox }: Pick<ConfineOptions, 'name' | 'sandbox'>,
  reason: string,
  way: string,
): SwitchboardError {
  return new SwitchboardError(
    'SANDBOX_UNAVAILABLE',
    `Server "${name}" did not start: it must run in a sandbox, but ${reason}.`,
    {
      hint: `${way}. To run the server without a sandbox, set "sandbox" to false in ${sandbox.origin}.`,
      data: { child: name, file: sandbox.origin },
    },
  );
}

function describeView(view: View): string {
  const { hidden, writable, network } = summarize(view);
  const parts = [
    `The server runs in a sandbox. Hidden from it: ${hidden.join(', ') || 'nothing'}.`,
    `It can change only: ${writable.join(', ') || 'nothing'}.`,
    network === 'off' ? 'It has no network.' : '',
    `To allow more, add paths to "allowRead" or "allowWrite" in its sandbox (${view.sandbox.origin}).`,
  ];
  return parts.filter(Boolean).join(' ');
}

/** Only what exists. */
function summarize({ rules, homeFolder, sandbox, system }: View) {
  const list = (wanted: PathRule['access']): string[] =>
    rules
      .filter(({ access, path, isPrefix }) => access === wanted && (isPrefix || existsSync(path)))
      .map(({ path, isPrefix }) => `${shorten(path, homeFolder)}${isPrefix ? '*' : ''}`);
  const own = list('private');
  return {
    hidden: [...list('hidden'), ...(system === 'linux' ? own : [])],
    writable: [...list('write'), ...(system === 'linux' ? [] : own)],
    network: sandbox.network,
  };
}

function shorten(path: string, homeFolder: string): string {
  const inside = pathInside(homeFolder, path);
  return inside === undefined ? path : `~/${inside}`;
}
