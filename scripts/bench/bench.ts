// The benchmark: Switchboard's cost, as ratios to the same work without it.
//
//   npm run bench -- [--only=1,3] [--quick] [--json | --json=FILE] [--program=FILE]
//
// Method. Everything is measured in one run, by one raw client (`client.ts`) that starts the built
// program like a host and speaks JSON-RPC with it. The variants take turns (`measure.ts`), so that noise
// affects all of them equally; each figure is a median, each ratio one of medians, and the middle half of
// the ratios of single rounds shows how stable it is. Times are this client's wall-clock times and
// include its own work, the same on both sides of a ratio. Memory is resident memory. Tokens are counted
// with o200k_base over name, description and inputSchema.
//
// Switchboard is compared with three short scripts: `floor.mjs` returns the same bytes and does nothing
// else, `relay.mjs` parses and forwards each line, and `child.mjs` is the server behind all of them. It
// does next to nothing, so the ratios are as bad as they can get; with a real server each of them is
// closer to 1. Over HTTP, Switchboard is compared with a server on the official SDK, `sdk-server.mjs`,
// that the SDK's client calls directly. Agents are compared with Codex itself, both with a model on
// loopback that answers at once.
//
// A missed budget shows in the table and doesn't change the exit status: this isn't a test.
import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAgentStartup } from './agent-list.ts';
import { measureAgentRun } from './agent-run.ts';
import {
  measureCalls,
  measureModernCalls,
  measureModernThroughput,
  measureThroughput,
} from './calls.ts';
import { stopAll, stopAtSignal } from './client.ts';
import { measureHttpCalls } from './http-calls.ts';
import { measureCrowd } from './http-crowd.ts';
import { measureIdle } from './idle.ts';
import { measureIntrospect } from './introspect.ts';
import { measureLarge } from './large.ts';
import { measureMasking } from './masking.ts';
import { measurePrewarming } from './prewarm.ts';
import type { Group, Row } from './row.ts';
import { measureSandbox } from './sandbox.ts';
import { measureSharedCalls } from './shared-calls.ts';
import { measureNeighbours } from './shared-crowd.ts';
import { measureSharedMemory } from './shared-memory.ts';
import { measureColdJoin, measureWarmJoin } from './shared-startup.ts';
import { measureModernStartup, measureStartup, runOnce } from './startup.ts';
import { measureSwitching } from './switching.ts';
import { formatBeside, formatTable, formatVerdict } from './table.ts';
import { countCatalog, countWorkflow } from './tokens.ts';
import { measureApproved, measureGuardedCalls } from './trust.ts';
import { BUILT_PROGRAM, numberedServers, Workspace } from './workspace.ts';

const GROUPS: readonly { readonly numbers: readonly number[]; readonly run: Group }[] = [
  { numbers: [1, 2], run: measureStartup },
  { numbers: [3], run: measureCalls },
  { numbers: [4], run: measureThroughput },
  { numbers: [5], run: measureLarge },
  { numbers: [6], run: measureIdle },
  { numbers: [7], run: countCatalog },
  { numbers: [8], run: measureIntrospect },
  { numbers: [9], run: countWorkflow },
  { numbers: [10], run: measureSwitching },
  { numbers: [11], run: measurePrewarming },
  { numbers: [12], run: measureModernStartup },
  { numbers: [13], run: measureModernCalls },
  { numbers: [14], run: measureModernThroughput },
  { numbers: [15], run: measureHttpCalls },
  { numbers: [16], run: measureCrowd },
  { numbers: [17], run: measureAgentStartup },
  { numbers: [18], run: measureAgentRun },
  { numbers: [19], run: measureMasking },
  { numbers: [20], run: measureSandbox },
  { numbers: [21], run: measureApproved },
  { numbers: [22], run: measureGuardedCalls },
  { numbers: [23], run: measureWarmJoin },
  { numbers: [24], run: measureColdJoin },
  { numbers: [25], run: measureSharedCalls },
  { numbers: [26], run: measureSharedMemory },
  { numbers: [27], run: measureNeighbours },
];

/** A program that has stopped answering must not block us forever. */
const GROUP_MS = 300_000;
/** The share of rounds in a quick run. */
const QUICK = 0.2;

interface Options {
  readonly only: ReadonlySet<number>;
  readonly isQuick: boolean;
  /** JSON goes to stdout or to a file. */
  readonly json: 'stdout' | { readonly file: string } | undefined;
  readonly program: string;
}

async function main(options: Options): Promise<void> {
  using workspace = new Workspace(options.program);
  stopAtSignal(() => workspace[Symbol.dispose]());
  try {
    const rows = await measure(options, workspace);
    report(rows, options);
  } finally {
    await stopAll();
  }
}

async function measure({ only, isQuick }: Options, workspace: Workspace): Promise<Row[]> {
  const begin = performance.now();
  const progress = (text: string): void => {
    const seconds = Math.round((performance.now() - begin) / 1_000);
    process.stderr.write(`${String(seconds).padStart(4)} s  ${text}\n`);
  };
  const rounds = (full: number): number => (isQuick ? Math.max(3, Math.round(full * QUICK)) : full);
  const isWanted = (group: number): boolean => only.size === 0 || only.has(group);
  const rows: Row[] = [];
  progress('a first run');
  // What it compiles here is kept for all other runs, so it has what most users have: a server.
  await runOnce(workspace.switchboard('first', numberedServers(1)));
  for (const { numbers, run } of GROUPS) {
    if (!numbers.some(isWanted)) continue;
    const group = run({ workspace, rounds, progress });
    rows.push(...(await withLimit(group, numbers)));
  }
  progress('done');
  return rows.filter(({ group }) => isWanted(group));
}

async function withLimit(group: Promise<Row[]>, numbers: readonly number[]): Promise<Row[]> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const error = new Error(`Group ${numbers.join(', ')} took more than ${GROUP_MS} ms.`);
    timer = setTimeout(() => reject(error), GROUP_MS);
  });
  try {
    return await Promise.race([group, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function report(rows: readonly Row[], { json, isQuick }: Options): void {
  const [cpu] = cpus();
  const machine = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    cpu: cpu?.model ?? 'unknown',
  };
  const text = JSON.stringify({ machine, quick: isQuick, rows }, null, 2);
  if (json === 'stdout') {
    process.stdout.write(`${text}\n`);
    return;
  }
  if (json) writeFileSync(json.file, `${text}\n`);
  const { node, platform, cores, cpu: model } = machine;
  const run = isQuick ? 'a short run, good for a first look only' : 'a full run';
  process.stdout.write(
    `Node ${node}, ${platform}, ${cores} cores (${model}); ${run}.\n\n` +
      `${formatTable(rows)}\n\nBeside them:\n${formatBeside(rows)}\n\n${formatVerdict(rows)}\n`,
  );
}

function readOptions(args: readonly string[]): Options {
  // `--json` may have no value, which parseArgs doesn't support.
  const { values } = parseArgs({
    args: args.map((arg) => (arg === '--json' ? '--json=-' : arg)),
    options: {
      only: { type: 'string', default: '' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      program: { type: 'string', default: BUILT_PROGRAM },
    },
  });
  const only = values.only.split(',').filter(Boolean).map(Number);
  const known = new Set(GROUPS.flatMap(({ numbers }) => numbers));
  const stranger = only.find((number) => !known.has(number));
  if (stranger !== undefined) throw new Error(`--only knows 1 to ${known.size}.`);
  if (!existsSync(values.program)) throw new Error(`${values.program} is missing. Build first.`);
  return {
    only: new Set(only),
    isQuick: values.quick,
    json:
      values.json === '-'
        ? 'stdout'
        : values.json === undefined
          ? undefined
          : { file: values.json },
    program: resolve(values.program),
  };
}

await main(readOptions(process.argv.slice(2)));
