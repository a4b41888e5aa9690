// What the user has told the engine himself, as far as it must be known before the engine is started:
// the folder it keeps its things in, and a few keys of the config.toml there.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readTextFile } from '../../base/read-text.ts';
import { parseToml } from '../../config/files/toml.ts';

export interface UserConfig {
  /** `$CODEX_HOME`. */
  readonly folder: string;
  /** Whether a sign-in can only be in the folder's auth.json, and there is none. */
  readonly isSignedOut: boolean;
  readonly model: string | undefined;
  readonly modelProvider: string | undefined;
  /** A list of models that takes the place of the engine's own; absolute. */
  readonly modelCatalog: string | undefined;
}

/** The engine notes in it which folders its user trusts. */
const MOST_BYTES = 8 << 20;

/** Never throws: what is wrong with the file, the engine says better when it is started. */
export async function readUserConfig(folder: string): Promise<UserConfig> {
  const said = await readToml(join(folder, 'config.toml'));
  const store = textIn(said, 'cli_auth_credentials_store') ?? 'file';
  const catalog = textIn(said, 'model_catalog_json');
  return {
    folder,
    isSignedOut: store === 'file' && !existsSync(join(folder, 'auth.json')),
    model: textIn(said, 'model'),
    modelProvider: textIn(said, 'model_provider'),
    modelCatalog: catalog === undefined ? undefined : resolve(folder, catalog),
  };
}

async function readToml(file: string): Promise<Readonly<Record<string, unknown>>> {
  const read = readTextFile(file, MOST_BYTES);
  const parsed = 'problem' in read ? read : await parseToml(read.text);
  return 'problem' in parsed ? {} : parsed.table;
}

function textIn(table: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = table[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
