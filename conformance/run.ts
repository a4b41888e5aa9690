// Runs the official tests against Switchboard: the protocol authors' conformance suite, for two revisions, and MCP
// Inspector, both over HTTP and with a fixture behind it that has everything they need. Fails if any scored
// scenario fails, and then keeps the output.
//
//   npm run conformance
//   npm run conformance -- --only tools-list --only inspector
//   npm run conformance -- --reference      only the fixture: the best possible result
//   npm run conformance -- --json
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { eventually, processesWith } from '../test/support/processes.ts';
import { inspect } from './inspector.ts';
import { installTools, type Tools } from './install.ts';
import { stopAtSignal } from './programs.ts';
import { createPlace, startReference, startSwitchboard } from './subject.ts';
import { REVISIONS, type Row, runSuite, scenariosOf } from './suite.ts';
import { formatTable, isPassed, isScored, type Part } from './table.ts';

const INSPECTOR = 'inspector';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    reference: { type: 'boolean', default: false },
  },
});

stopAtSignal();
const place = createPlace(mkdtempSync(join(tmpdir(), 'switchboard-conformance-')));
try {
  const parts = await run();
  const isGood = parts.every(({ rows }) => rows.filter(isScored).every(isPassed));
  if (options.json) print(JSON.stringify({ passed: isGood, parts }, null, 2));
  else for (const part of parts) print(formatTable(part));
  process.exitCode ??= isGood ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode ??= 1;
} finally {
  if (process.exitCode === 0) rmSync(place.dir, { recursive: true, force: true });
  else process.stderr.write(`What was printed and found is in ${place.dir}\n`);
}

async function run(): Promise<Part[]> {
  const tools = await installTools(join(place.dir, 'install.log'));
  checkNames(tools);
  const parts = await runParts(tools);
  await checkNothingLeft();
  return parts;
}

async function runParts(tools: Tools): Promise<Part[]> {
  const start = options.reference ? startReference : startSwitchboard;
  await using subject = await start(place);
  const scenarios = options.only.filter((name) => name !== INSPECTOR);
  const parts: Part[] = [];
  for (const revision of REVISIONS) {
    const known = scenariosOf(tools, revision);
    const only = scenarios.filter((name) => known.has(name));
    if (options.only.length > 0 && only.length === 0) continue;
    const run = (): Promise<Row[]> => runSuite(tools, subject, place, revision, only);
    parts.push(await timed(`conformance ${revision}`, run));
  }
  if (options.only.length === 0 || options.only.includes(INSPECTOR)) {
    parts.push(await timed(INSPECTOR, () => inspect(tools, subject, place)));
  }
  return parts;
}

async function timed(name: string, run: () => Promise<Row[]>): Promise<Part> {
  const start = performance.now();
  const rows = await run();
  return { name, rows, ms: Math.round(performance.now() - start) };
}

function checkNames(tools: Tools): void {
  const known = new Set([INSPECTOR]);
  for (const revision of REVISIONS) {
    for (const name of scenariosOf(tools, revision).keys()) known.add(name);
  }
  const unknown = options.only.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new Error(`No scenario ${unknown.join(', ')}. There are: ${[...known].join(', ')}.`);
}

/** The servers have the run's folder on their command line. */
async function checkNothingLeft(): Promise<void> {
  const { dir } = place;
  if (process.platform === 'win32') return; // there is no `ps`
  if (await eventually(() => processesWith(dir).length === 0)) return;
  const left = processesWith(dir).map(({ pid, command }) => `${pid} ${command}`);
  throw new Error(`These processes are left:\n${left.join('\n')}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
