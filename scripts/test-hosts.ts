// Tests Switchboard with real hosts, and records the results in test/hosts/results.json and
// docs/hosts.md:
//
//   npm run test:hosts                    # every host that npm can install
//   npm run test:hosts -- codex claude    # only these
//
// Codex and Claude Code are required. If OpenCode or Gemini CLI can't be installed, the others are tested.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKS, type CheckId } from '../test/hosts/checks/table.ts';
import type { HostDriver } from '../test/hosts/drivers/driver.ts';
import { HOSTS, type HostResults, RESULTS_FILE, readResults } from './hosts-doc.ts';
import { fetchProgram } from './programs/fetch.ts';
import { isPinned, PROGRAM_IDS, type ProgramId, programOf } from './programs/programs.ts';

/** The part of vitest's JSON report we need. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const REQUIRED = new Set<ProgramId>(['codex', 'claude']);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((id) => !PROGRAM_IDS.includes(id as ProgramId));
if (unknown.length > 0) {
  console.error(`Unknown host: ${unknown.join(', ')}. Known hosts: ${PROGRAM_IDS.join(', ')}.`);
  process.exit(2);
}
const chosen = PROGRAM_IDS.filter((id) => wanted.length === 0 || wanted.includes(id));
// Codex also runs the agents, and both serve as the second host in the checks over HTTP.
const missing = PROGRAM_IDS.filter(
  (id) => (chosen.includes(id) || REQUIRED.has(id)) && fetchProgram(programOf(id)) === undefined,
);
const tested = chosen.filter((id) => !missing.includes(id));
if (tested.length === 0 || missing.some((id) => REQUIRED.has(id))) process.exit(1);

if (run('npm', ['run', '--silent', 'build']) !== 0) process.exit(1);
const folder = mkdtempSync(join(tmpdir(), 'switchboard-hosts-'));
const reportFile = join(folder, 'report.json');
const status = run(process.execPath, [
  join(ROOT, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--project',
  'hosts',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${reportFile}`,
  ...tested.map((id) => `test/hosts/${id}.test.ts`),
]);
const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
rmSync(folder, { recursive: true });
const results = { ...readResults() };
for (const driver of HOSTS.filter(({ id }) => tested.includes(id))) {
  const program = programOf(driver.id);
  const outcome = resultsOf(report, driver);
  // Results with other versions are not recorded.
  if (isPinned(program)) results[driver.id] = outcome;
  const counts = `${outcome.passed.length} checks passed, ${outcome.failed.length} failed`;
  console.error(`${program.title} ${program.version}: ${counts}`);
}
for (const id of missing) console.error(`${programOf(id).title}: not tested, not installed`);
writeFileSync(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`);
run('npm', ['run', '--silent', 'generate']);
process.exitCode = status;

function run(command: string, args: readonly string[]): number {
  const options = { cwd: ROOT, stdio: 'inherit', shell: command === 'npm' } as const;
  return spawnSync(command, args, options).status ?? 1;
}

/** A check that didn't even start counts as failed. */
function resultsOf({ testResults }: Report, { id, cannot }: HostDriver): HostResults {
  const passed = new Set(
    testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(
        ({ ancestorTitles, status: outcome }) => ancestorTitles[0] === id && outcome === 'passed',
      )
      .map(({ title }) => title),
  );
  const checks = (Object.keys(CHECKS) as CheckId[]).filter((check) => cannot[check] === undefined);
  return {
    version: programOf(id).version,
    passed: checks.filter((check) => passed.has(CHECKS[check])),
    failed: checks.filter((check) => !passed.has(CHECKS[check])),
  };
}
