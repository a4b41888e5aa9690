// The parts of the user's Codex configuration that matter before it starts: a few keys of config.toml.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readTextFile } from '../../base/read-text.ts';
import { parseToml } from '../../config/files/toml.ts';

export interface CodexUserConfig {
  /** Whether sign-ins are kept in auth.json, and there is none. */
  readonly isSignedOut: boolean;
  readonly model: string | undefined;
  readonly modelProvider: string | undefined;
  /** A model catalog that replaces Codex's own; absolute. */
  readonly modelCatalog: string | undefined;
}

/** Codex records trusted folders in it. */
const MOST_BYTES = 8 << 20;

/** Never throws: Codex explains problems with the file better when it starts. */
export async function readUserConfig(folder: string): Promise<CodexUserConfig> {
  const table = await readToml(join(folder, 'config.toml'));
  const store = stringIn(table, 'cli_auth_credentials_store') ?? 'file';
  const catalog = stringIn(table, 'model_catalog_json');
  return {
    isSignedOut: store === 'file' && !existsSync(join(folder, 'auth.json')),
    model: stringIn(table, 'model'),
    modelProvider: stringIn(table, 'model_provider'),
    modelCatalog: catalog === undefined ? undefined : resolve(folder, catalog),
  };
}

async function readToml(file: string): Promise<Readonly<Record<string, unknown>>> {
  const read = readTextFile(file, MOST_BYTES);
  const parsed = 'problem' in read ? read : await parseToml(read.text);
  return 'problem' in parsed ? {} : parsed.table;
}

function stringIn(table: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = table[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
