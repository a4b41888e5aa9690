// Runs all tests, from the quick ones to the ones that download hosts, and stops at the first failure:
//
//   npm run test:all
//
// Each step streams its output, then prints its name and how long it took.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const STEPS: readonly (readonly [name: string, command: string])[] = [
  ['main suite', 'npm test'],
  ['thorough suite', 'npx vitest run --project thorough'],
  ['shared sessions', 'npx vitest run --project shared'],
  ['sandbox', 'npm run --silent test:sandbox'],
  ['example', 'node examples/host.mjs'],
  ['demo', 'npm run --silent demo'],
  ['conformance', 'npm run --silent conformance'],
  ['fetch hosts', 'npx tsx scripts/programs/fetch.ts codex claude'],
  ['engine', 'npm run --silent test:engine'],
  ['hosts', 'npm run --silent test:hosts -- codex claude'],
];

for (const [name, command] of STEPS) {
  console.log(`\n==> ${name}: ${command}`);
  const start = performance.now();
  const { status } = spawnSync(command, { cwd: ROOT, shell: true, stdio: 'inherit' });
  const seconds = Math.round((performance.now() - start) / 1_000);
  if (status !== 0) {
    console.error(`==> ${name}: FAILED after ${seconds} s`);
    process.exit(1);
  }
  console.log(`==> ${name}: ok, ${seconds} s`);
}
