// The operating system's keychain, through the program that comes with it: `secret-tool` on Linux, `security` on macOS.
// Values are never passed as arguments, which other users can see.
import { runProgram } from '../../base/run-program.ts';
import { withoutCredentials } from '../../child/environment.ts';

export interface Keychain {
  /** For messages. */
  readonly name: string;
  /** Undefined if there is no such entry. Rejects if the keychain can't be used. */
  get(account: string): Promise<string | undefined>;
  /** `value` must not contain spaces or quotes. */
  set(account: string, value: string): Promise<void>;
  remove(account: string): Promise<void>;
}

export interface KeychainOptions {
  /** Such as `linux-x64`. */
  readonly machine: string;
  readonly env: NodeJS.ProcessEnv;
  /** The folder the programs run in. */
  readonly folder: string;
}

const SERVICE = 'switchboard';
/** The user may have to unlock the keychain first. */
const LIMIT_MS = 60_000;

/** Undefined if Switchboard can't use a keychain on this system. */
export function openKeychain(options: KeychainOptions): Keychain | undefined {
  if (options.machine.startsWith('darwin')) return macKeychain(options);
  return options.machine.startsWith('linux') ? secretService(options) : undefined;
}

function secretService(options: KeychainOptions): Keychain {
  const run = (args: readonly string[], input?: string) =>
    runQuietly('secret-tool', args, options, input);
  const entry = (account: string) => ['service', SERVICE, 'account', account];
  return {
    name: 'the desktop keyring (secret-tool)',
    async get(account) {
      const { status, output, complaint } = await run(['lookup', ...entry(account)]);
      if (status === 0 && output !== '') return output;
      // It also exits with 1 if there is no such entry, but then it's silent.
      if (complaint === '') return undefined;
      throw new Error(`secret-tool failed: ${complaint}`);
    },
    async set(account, value) {
      const label = '--label=Switchboard secrets';
      check('secret-tool', await run(['store', label, ...entry(account)], value));
    },
    async remove(account) {
      await run(['clear', ...entry(account)]);
    },
  };
}

/** The exit status of `security` for a missing entry. */
const NOT_FOUND = 44;

function macKeychain(options: KeychainOptions): Keychain {
  const run = (args: readonly string[], input?: string) =>
    runQuietly('security', args, options, input);
  const entry = (account: string) => ['-s', SERVICE, '-a', account];
  return {
    name: 'the macOS keychain',
    async get(account) {
      const found = await run(['find-generic-password', ...entry(account), '-w']);
      if (found.status === NOT_FOUND) return undefined;
      check('security', found);
      return found.output;
    },
    async set(account, value) {
      // Reads the command from stdin: as arguments, the value would be visible to other users.
      const command = ['add-generic-password', '-U', ...entry(account), '-w', value].join(' ');
      check('security', await run(['-i'], `${command}\n`));
    },
    async remove(account) {
      await run(['delete-generic-password', ...entry(account)]);
    },
  };
}

interface Ended {
  readonly status: number | null;
  /** Without the line break at the end. */
  readonly output: string;
  readonly complaint: string;
}

async function runQuietly(
  cmd: string,
  args: readonly string[],
  { env, folder }: KeychainOptions,
  input = '',
): Promise<Ended> {
  let output = '';
  let complaint = '';
  const { status } = await runProgram({
    cmd,
    args,
    cwd: folder,
    env: withoutCredentials(env),
    input,
    limitMs: LIMIT_MS,
    onStdout: (text) => {
      output += text;
    },
    onStderr: (text) => {
      complaint = (complaint + text).slice(-500);
    },
  });
  return { status, output: output.trimEnd(), complaint: complaint.trim() };
}

function check(program: string, { status, complaint }: Ended): void {
  if (status !== 0) throw new Error(`${program} failed: ${complaint || `status ${status}`}`);
}
