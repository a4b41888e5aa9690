// Kills entries, servers and the background process in random order while hosts call tools, and checks afterwards what
// hosts and servers have recorded: every call has exactly one response, none was executed twice, and no process is left.
//
//   npm run chaos -- [--schedules=1000] [--seed=1] [--jobs=N] [--keep=FOLDER] [--program=FILE]
//
// Schedules are numbered, and a number always gives the same schedule: `--seed=815 --schedules=1` runs one of them
// again. `--jobs` of them run at the same time. `--keep` saves the histories of those that fail.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BUILT_PROGRAM } from '../bench/workspace.ts';
import { type Outcome, runSchedule, stopSchedules } from './schedule.ts';

interface Options {
  readonly schedules: number;
  readonly seed: number;
  readonly jobs: number;
  readonly keep: string | undefined;
  readonly program: string;
}

/** How often the progress is printed. */
const PROGRESS_EVERY = 50;

async function main({ schedules, seed, jobs, keep, program }: Options): Promise<void> {
  const begin = performance.now();
  const failed: number[] = [];
  const sum = { done: 0, calls: 0, results: 0, kills: 0 };
  let next = seed;
  const worker = async (): Promise<void> => {
    while (next < seed + schedules) {
      const number = next++;
      const outcome = await runSchedule(number, program).catch((error: unknown) => faultOf(error));
      if ('history' in outcome) add(sum, outcome);
      sum.done++;
      if (outcome.faults.length > 0) {
        failed.push(number);
        report(number, outcome, keep);
      }
      if (sum.done % PROGRESS_EVERY === 0) {
        const seconds = Math.round((performance.now() - begin) / 1_000);
        process.stderr.write(`${seconds} s: ${sum.done} schedules, ${failed.length} failed\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  const seconds = Math.round((performance.now() - begin) / 1_000);
  process.stdout.write(
    `${sum.done - failed.length} of ${sum.done} schedules passed in ${seconds} s: ` +
      `${sum.calls} calls, ${sum.results} with a result, ${sum.kills} processes killed.\n`,
  );
  if (failed.length === 0) return;
  process.stdout.write(`Failed: ${failed.sort((a, b) => a - b).join(', ')}.\n`);
  process.exitCode = 1;
}

function add(sum: { calls: number; results: number; kills: number }, outcome: Outcome): void {
  const { history, plan } = outcome;
  for (const { requests, responses } of history.hosts) {
    sum.calls += requests.filter(({ method }) => method === 'tools/call').length;
    sum.results += responses.filter(({ error }) => error === undefined).length;
  }
  sum.kills += plan.steps.filter(({ deed }) => deed.startsWith('kill')).length;
}

/** A bug of ours, or a wait that took too long. */
function faultOf(error: unknown): { readonly faults: readonly string[] } {
  return { faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
}

function report(
  number: number,
  outcome: Outcome | { readonly faults: readonly string[] },
  keep: string | undefined,
): void {
  const faults = outcome.faults.slice(0, 10).map((fault) => `  ${fault}\n`);
  process.stdout.write(`Schedule ${number}:\n${faults.join('')}`);
  if (keep === undefined) return;
  mkdirSync(keep, { recursive: true });
  writeFileSync(join(keep, `${number}.json`), `${JSON.stringify(outcome, null, 2)}\n`);
}

function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      schedules: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string', default: String(2 * availableParallelism()) },
      keep: { type: 'string' },
      program: { type: 'string', default: BUILT_PROGRAM },
    },
  });
  const whole = (name: 'schedules' | 'seed' | 'jobs'): number => {
    const number = Number(values[name]);
    if (Number.isSafeInteger(number) && number > 0) return number;
    throw new Error(`--${name} is a whole number above 0, not "${values[name]}".`);
  };
  if (!existsSync(values.program)) throw new Error(`${values.program} is missing. Build first.`);
  return {
    schedules: whole('schedules'),
    seed: whole('seed'),
    jobs: whole('jobs'),
    keep: values.keep,
    program: resolve(values.program),
  };
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stopSchedules().finally(() => process.exit(130)));
}
await main(readOptions(process.argv.slice(2)));
