// Looks up the secrets a server refers to, right before it starts: in the store, in 1Password, or by running a command.
// Programs run without a shell, in the user's home, and have a time limit; their answers are cached for a while.
import { SwitchboardError } from '../../base/errors.ts';
import { ProgramNotStarted, ProgramTimeout, runProgram } from '../../base/run-program.ts';
import { excerpt } from '../../base/text.ts';
import { maskTokens } from '../../base/tokens.ts';
import { withoutCredentials } from '../../child/environment.ts';
import type { ChildConfig } from '../../config/config.ts';
import { type Folders, isUsersFile } from '../../config/files/places.ts';
import { type SecretReference, secretReferences } from '../../config/server/expand.ts';
import type { SecretStore } from './store.ts';
import { splitCommand } from './words.ts';

export interface SecretLookupOptions {
  readonly folders: Folders;
  readonly env: NodeJS.ProcessEnv;
  readonly store: Pick<SecretStore, 'get'>;
  /** Milliseconds until a program must have answered. */
  readonly limitMs?: number;
  /** Milliseconds for which its answer is used. */
  readonly freshMs?: number;
}

/** 1Password may ask the user first. */
const LIMIT_MS = 30_000;
const FRESH_MS = 10 * 60_000;
const MOST_CHARS = 65_536;
const LONGEST_COMPLAINT = 200;

type Referring = Pick<ChildConfig, 'name' | 'origin' | 'command' | 'remote'>;

export class SecretLookup {
  readonly #options: SecretLookupOptions;
  /** Answers of programs by command line. */
  readonly #answers = new Map<string, { readonly at: number; readonly value: Promise<string> }>();

  constructor(options: SecretLookupOptions) {
    this.#options = options;
  }

  /** The environment and the secrets the server refers to, for expanding its strings. Rejects if one isn't available. */
  async variablesFor(server: Referring): Promise<NodeJS.ProcessEnv> {
    const { env } = this.#options;
    const references = secretReferences(server);
    if (references.length === 0) return env;
    for (const reference of references) this.#checkOrigin(reference, server);
    const found = await Promise.all(
      references.map(async (each) => [each.reference, await this.#find(each, server)] as const),
    );
    return { ...env, ...Object.fromEntries(found) };
  }

  /** A command in a project's file would run before anyone has seen it. */
  #checkOrigin({ kind, where }: SecretReference, { name, origin }: Referring): void {
    if (kind !== 'cmd' || isUsersFile(origin, this.#options.folders)) return;
    throw new SwitchboardError(
      'CHILD_NOT_CONFIGURED',
      `Server "${name}" uses \${cmd:…}, which only works in your own configuration files (${where} in ${origin}).`,
      {
        hint: `Declare the server in ${this.#options.folders.home}/switchboard.config.json, or use \${secret:name} and run: switchboard secret set name`,
        data: { child: name, file: origin },
      },
    );
  }

  #find(reference: SecretReference, server: Referring): Promise<string> {
    switch (reference.kind) {
      case 'secret':
        return this.#fromStore(reference, server);
      case 'op':
        return this.#ask(['op', 'read', '--no-newline', reference.target], reference, server);
      case 'cmd':
        return this.#ask(splitCommand(reference.target) ?? [], reference, server);
    }
  }

  async #fromStore({ target, where }: SecretReference, server: Referring): Promise<string> {
    const value = await this.#options.store.get(target);
    if (value !== undefined) return value;
    throw new SwitchboardError(
      'CHILD_NOT_CONFIGURED',
      `Server "${server.name}" needs the secret "${target}", which isn't stored (${where} in ${server.origin}).`,
      {
        hint: `Run: switchboard secret set ${target}`,
        data: { child: server.name, file: server.origin, secret: target },
      },
    );
  }

  async #ask(
    words: readonly string[],
    reference: SecretReference,
    server: Referring,
  ): Promise<string> {
    const [cmd, ...args] = words;
    if (cmd === undefined)
      throw failed(reference, server, 'the command is empty or has an unclosed quote');
    const { freshMs = FRESH_MS } = this.#options;
    const id = JSON.stringify(words);
    const known = this.#answers.get(id);
    if (known && performance.now() - known.at < freshMs) return known.value;
    const value = this.#run(cmd, args, reference, server);
    this.#answers.set(id, { at: performance.now(), value });
    value.catch(() => this.#answers.delete(id)); // the next start tries again
    return value;
  }

  async #run(
    cmd: string,
    args: readonly string[],
    reference: SecretReference,
    server: Referring,
  ): Promise<string> {
    const { env, folders, limitMs = LIMIT_MS } = this.#options;
    let output = '';
    let complaint = '';
    const run = runProgram({
      cmd,
      args,
      cwd: folders.homeFolder,
      env: withoutCredentials(env),
      limitMs,
      onStdout: (text) => {
        output += text;
        if (output.length > MOST_CHARS) throw failed(reference, server, `${cmd} printed too much`);
      },
      onStderr: (text) => {
        complaint = (complaint + text).slice(-4 * LONGEST_COMPLAINT);
      },
    });
    const { status } = await run.catch((error: unknown) => {
      throw explain(error, cmd, limitMs, reference, server);
    });
    const value = output.replace(/(?:\r?\n)+$/, '');
    if (status === 0 && value !== '') return value;
    const words = excerpt(maskTokens(complaint.trim()), LONGEST_COMPLAINT);
    const reason = status === 0 ? 'printed nothing' : `failed (status ${status})`;
    throw failed(reference, server, `${cmd} ${reason}${words === '' ? '' : `: ${words}`}`);
  }
}

function explain(
  error: unknown,
  cmd: string,
  limitMs: number,
  reference: SecretReference,
  server: Referring,
): unknown {
  if (error instanceof ProgramNotStarted) {
    return failed(reference, server, `${cmd} could not be started. Is it installed and on PATH?`);
  }
  if (error instanceof ProgramTimeout) {
    return failed(reference, server, `${cmd} did not finish within ${limitMs} ms`);
  }
  return error;
}

/** Doesn't quote the command line, which may contain a secret. */
function failed(
  { kind, target, where }: SecretReference,
  { name, origin }: Referring,
  reason: string,
): SwitchboardError {
  const what = kind === 'op' ? target : 'the secret from ${cmd:…}';
  return new SwitchboardError(
    'SECRETS_UNAVAILABLE',
    `Server "${name}" can't get ${what} (${where} in ${origin}): ${reason.replace(/\.$/, '')}.`,
    {
      hint:
        kind === 'op'
          ? 'Check that 1Password is unlocked: op whoami'
          : 'Run the command in a terminal to see what is wrong.',
      data: { child: name, file: origin },
    },
  );
}
