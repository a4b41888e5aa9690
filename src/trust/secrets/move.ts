// Moves secrets from configuration files to the store, and leaves `${secret:name}` in their place. A secret is stored
// before its file changes, so that no file ever refers to a missing one.
import { isObject } from '../../base/object.ts';
import { setKey } from '../../config/change/edit.ts';
import { rewriteFile } from '../../config/change/rewrite.ts';
import { parseJsonc, withoutByteOrderMark } from '../../config/files/files.ts';
import type { LiteralSecret } from './literals.ts';
import type { SecretStore } from './store.ts';

export interface MoveOptions {
  readonly store: Pick<SecretStore, 'get' | 'set' | 'list'>;
  /** `$SWITCHBOARD_HOME`, for locks and backups. */
  readonly home: string;
  readonly dryRun?: boolean | undefined;
}

interface MovedSecret {
  readonly server: string;
  readonly where: string;
  readonly file: string;
  /** Its name in the store. */
  readonly name: string;
}

export interface SecretMove {
  readonly moved: readonly MovedSecret[];
  /** The backups of changed files. They contain the old values. */
  readonly backups: readonly string[];
}

export async function moveSecrets(
  literals: readonly LiteralSecret[],
  { store, home, dryRun = false }: MoveOptions,
): Promise<SecretMove> {
  const moved: MovedSecret[] = [];
  const backups: string[] = [];
  const taken = new Set<string>();
  const movable = literals.filter(({ isMovable }) => isMovable);
  for (const file of new Set(movable.map((literal) => literal.file))) {
    const edits: Edit[] = [];
    for (const literal of movable.filter((each) => each.file === file)) {
      const { server, where, value } = literal;
      const [, scheme = '', secret = value] = /^((?:Bearer|Basic|Token) +)(.+)$/i.exec(value) ?? [];
      const name = await freeName(nameFor(server, where), secret, store, taken);
      taken.add(name);
      if (!dryRun) await store.set(name, secret);
      edits.push({ ...literal, text: `${scheme}\${secret:${name}}` });
      moved.push({ server, where, file, name });
    }
    const edit = (text: string | undefined) => replaceAll(text, edits);
    const { backup } = await rewriteFile(file, edit, { home, mode: 0o600, dryRun });
    if (backup !== undefined && !dryRun) backups.push(backup);
  }
  return { moved, backups };
}

type Edit = LiteralSecret & { readonly text: string };

async function replaceAll(
  text: string | undefined,
  edits: readonly Edit[],
): Promise<string | undefined> {
  if (text === undefined) return undefined; // it was removed in the meantime
  const parsed = await parseJsonc(withoutByteOrderMark(text));
  if ('problem' in parsed) return undefined;
  let changed = text;
  for (const edit of edits) {
    for (const path of pathsOf(edit)) {
      // Also a declaration with lower precedence, if it has the same value.
      if (valueAt(parsed.value, path) === edit.value)
        changed = await setKey(changed, path, edit.text);
    }
  }
  return changed;
}

/** Everywhere a file may have the value: in a main file, a `servers.json` or the server's own file. */
function pathsOf({ server, where }: LiteralSecret): string[][] {
  const dot = where.indexOf('.');
  const [group, key] = [where.slice(0, dot), where.slice(dot + 1)];
  const inEntry =
    group === 'env'
      ? [
          ['env', key],
          ['command', 'env', key],
        ]
      : [[group, key]];
  return [['mcpServers', server], [server], []].flatMap((entry) =>
    inEntry.map((path) => entry.concat(path)),
  );
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

/** Such as `github-token` for `env.GITHUB_TOKEN` of the server `github`. */
function nameFor(server: string, where: string): string {
  const [owner, key] = [server, where.slice(where.indexOf('.') + 1)].map((text) =>
    text
      .replaceAll(/[^A-Za-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .toLowerCase(),
  ) as [string, string];
  const name = key.startsWith(`${owner}-`) ? key : `${owner}-${key}`;
  return name.replace(/^-/, '').slice(0, 90) || 'secret';
}

/** A name that isn't used for another value. */
async function freeName(
  wanted: string,
  value: string,
  store: MoveOptions['store'],
  taken: ReadonlySet<string>,
): Promise<string> {
  const names = new Set(store.list().map(({ name }) => name));
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!names.has(name)) {
      if (!taken.has(name)) return name;
    } else if ((await store.get(name)) === value) return name;
  }
}
