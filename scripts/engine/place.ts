// Which Codex agents are tested with, and where it is kept: in the user's cache, since it has several
// hundred megabytes and is the same for every checkout.
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const ENGINE_VERSION = '0.166.0';

export function engineFolder(env: NodeJS.ProcessEnv = process.env): string {
  const cache = env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'switchboard', 'engine', ENGINE_VERSION);
}

/** The program itself, not the script that npm puts before it; undefined where it was not fetched. */
export function enginePlace(folder = engineFolder()): string | undefined {
  const packages = join(folder, 'node_modules', '@openai');
  const natives = listFolder(packages).filter((name) => name.startsWith('codex-'));
  const vendors = natives.map((name) => join(packages, name, 'vendor'));
  const programs = vendors.flatMap((vendor) =>
    listFolder(vendor).map((kind) => join(vendor, kind, 'bin', 'codex')),
  );
  return programs.find((program) => existsSync(program));
}

function listFolder(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
