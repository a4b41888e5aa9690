// `switchboard secret set|list|rm|move`: the user's secrets, which configuration files refer to as `${secret:name}`.
import { SwitchboardError } from '../../base/errors.ts';
import { didYouMean, printable } from '../../base/text.ts';
import type { Config } from '../../config/config.ts';
import { findFolders } from '../../config/files/places.ts';
import { findLiteralSecrets, type LiteralSecret } from '../../trust/secrets/literals.ts';
import { moveSecrets } from '../../trust/secrets/move.ts';
import { openSecrets } from '../../trust/secrets/open.ts';
import { isSecretName, type KeptSecret, type SecretStore } from '../../trust/secrets/store.ts';
import { withAudit, withUsersAudit } from '../terminal/audited.ts';
import { askHidden } from '../terminal/hidden-prompt.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { readStdin } from '../terminal/stdin.ts';
import { workingFolder } from '../working-folder.ts';
import { type CommandOptions, loadFor } from './with-switchboard.ts';

interface SecretOptions {
  readonly json?: boolean | undefined;
  /** `--keychain` or `--no-keychain`; undefined for neither. */
  readonly keychain?: boolean | undefined;
}

export async function setSecret(name: string, options: SecretOptions): Promise<number> {
  const output = createOutput(options);
  checkName(name);
  const store = openStore();
  const value = await readValue(name);
  const { keychain } = options;
  const place = keychain === undefined ? undefined : keychain ? 'keychain' : 'file';
  const kept = await withUsersAudit(async (audit) => {
    await audit?.admit();
    const stored = await store.set(name, value, place);
    audit?.note({ type: 'secret', decision: stored.isNew ? 'stored' : 'replaced', name });
    return stored;
  });
  const { isNew, keyPlace } = kept;
  const warning = warningAbout(kept, name, store);
  output.json({ name, isNew, key: keyPlace, file: store.file, ...(warning && { warning }) });
  output.line(
    `${isNew ? 'Stored' : 'Replaced'} the secret "${name}". Refer to it as \${secret:${name}}.`,
  );
  if (!isNew) output.line('Running servers use the old value until they are restarted.');
  if (warning !== undefined && !output.isJson) process.stderr.write(`warning: ${warning}\n`);
  return 0;
}

export async function listSecrets(options: SecretOptions): Promise<number> {
  const output = createOutput(options);
  const store = openStore();
  const secrets = store.list();
  const key = store.keyPlace;
  output.json({ secrets, ...(key && { key, file: store.file }) });
  for (const { name, changedAt } of secrets) {
    output.line(`${name}  ${output.style('dim', `changed ${changedAt.slice(0, 10)}`)}`);
  }
  if (secrets.length === 0)
    output.line('No secrets are stored. Add one: switchboard secret set NAME');
  else output.line(output.style('dim', `${KEY_PLACES[key ?? 'file']} (${store.file})`));
  return 0;
}

const KEY_PLACES = {
  file: 'The key is in a file that only you can read',
  keychain: 'The key is in your keychain',
};

export async function removeSecret(name: string, options: SecretOptions): Promise<number> {
  const output = createOutput(options);
  const store = openStore();
  const isRemoved = await withUsersAudit(async (audit) => {
    await audit?.admit();
    const removed = await store.remove(name);
    if (removed) audit?.note({ type: 'secret', decision: 'removed', name });
    return removed;
  });
  if (!isRemoved) {
    const names = store.list().map((secret) => secret.name);
    throw new SwitchboardError('SECRET_UNKNOWN', `No secret is named "${printable(name)}".`, {
      hint: didYouMean(name, names) || 'List them with: switchboard secret list',
    });
  }
  output.json({ name, removed: true });
  output.line(`Removed the secret "${name}".`);
  return 0;
}

interface MoveSecretsOptions extends CommandOptions {
  readonly dryRun?: boolean | undefined;
}

export async function moveSecretsCommand(options: MoveSecretsOptions): Promise<number> {
  const output = createOutput(options);
  const config = await loadFor({ ...options, assistants: false });
  const literals = findLiteralSecrets(config.children.values());
  await moveAndReport(literals, config, output, options.dryRun);
  return 0;
}

/** Moves secrets to the store and prints the result. */
export async function moveAndReport(
  literals: readonly LiteralSecret[],
  config: Config,
  output: Output,
  dryRun = false,
): Promise<void> {
  const { store } = openSecrets(config, process.env);
  const { moved, backups } = await withAudit(config, async (audit) => {
    if (!dryRun && literals.length > 0) await audit?.admit();
    const result = await moveSecrets(literals, { store, home: config.home, dryRun });
    const names = dryRun ? [] : new Set(result.moved.map(({ name }) => name));
    for (const name of names) audit?.note({ type: 'secret', decision: 'stored', name });
    return result;
  });
  const kept = literals.filter(({ isMovable }) => !isMovable);
  output.json({ dryRun, moved, backups, kept: kept.map(describeLiteral) });
  for (const { server, where, file, name } of moved) {
    const done = dryRun ? 'would move' : 'moved';
    output.line(`${done} ${nameLiteral({ server, where, file })} to \${secret:${name}}`);
  }
  for (const literal of kept) output.line(`left ${nameLiteral(literal)}: move it by hand`);
  if (literals.length === 0) output.line('No secrets were found in the configuration files.');
  for (const backup of backups) {
    output.line(
      `The backup ${backup} still contains the old values. Delete it once everything works.`,
    );
  }
}

/** Describes a secret without its value. */
export function describeLiteral({ server, file, where, kind, isMovable }: LiteralSecret) {
  return { server, file, where, kind, isMovable };
}

export function nameLiteral({
  server,
  where,
  file,
}: Pick<LiteralSecret, 'server' | 'where' | 'file'>): string {
  return `${printable(where)} of server "${printable(server)}" in ${printable(file)}`;
}

function openStore(): SecretStore {
  const { env } = process;
  return openSecrets(findFolders({ cwd: workingFolder(), env }), env).store;
}

function checkName(name: string): void {
  if (isSecretName(name)) return;
  throw new SwitchboardError('USAGE', `"${printable(name)}" is not a valid name for a secret.`, {
    hint: 'Use letters, digits, dots, dashes and underscores, such as github-token.',
  });
}

const HOW_TO_PIPE =
  'Pipe it in, or run the command on a terminal: switchboard secret set NAME < file';

/** Never from the arguments, which other users and the shell's history can see. */
async function readValue(name: string): Promise<string> {
  const typed = process.stdin.isTTY
    ? await askHidden(`Value of ${name} (not shown): `)
    : readStdin('the value', HOW_TO_PIPE);
  if (typed === undefined) throw new SwitchboardError('CANCELLED', 'Nothing was stored.');
  const value = typed.replace(/\r?\n$/, ''); // as `echo` adds one
  if (value !== '') return value;
  throw new SwitchboardError('USAGE', 'The value is empty. Nothing was stored.', {
    hint: HOW_TO_PIPE,
  });
}

function warningAbout(
  { keyPlace, keychainProblem }: KeptSecret,
  name: string,
  { keyFile }: SecretStore,
): string | undefined {
  if (keyPlace === 'keychain') return undefined;
  const where = `The key to your secrets is in ${keyFile}, so any program you run can read them.`;
  return keychainProblem === undefined
    ? `${where} To move the key to your keychain, run: switchboard secret set ${name} --keychain`
    : `${where} ${keychainProblem.charAt(0).toUpperCase()}${keychainProblem.slice(1)}.`;
}
