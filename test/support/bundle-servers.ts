// Bundles the test servers that load an SDK, once per run. A bundle starts several times faster than the
// few hundred files it's made of, and tests start these servers hundreds of times.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import {
  BUNDLED,
  eraBundle,
  eraServerFile,
  publishedBundle,
  publishedServerFile,
} from './servers.ts';

const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

export default async function setup(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-servers-'));
  await build({
    entryPoints: Object.fromEntries([
      ...['handshake', 'modern', 'both'].map((era) => [eraBundle(era), eraServerFile(era)]),
      // Not `everything`: it reads files beside its own.
      ...['filesystem', 'memory'].map((name) => [publishedBundle(name), publishedServerFile(name)]),
    ]) as Record<string, string>,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: REQUIRE },
    outdir: folder,
    logLevel: 'error',
  });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  process.env[BUNDLED] = folder; // for the workers, which start after this
  return () => rmSync(folder, { recursive: true, force: true });
}
