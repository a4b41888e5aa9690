// One line in the audit log for each call that a surviving process has answered, whatever happens to the servers and to
// other processes in the meantime.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { Trial, until, withFaults } from '../support/faults.ts';
import { processesWith } from '../support/processes.ts';
import type { Answer, RawHost } from '../support/raw-host.ts';

const ROUNDS = 12;
const CLIENTS = 4;
const CALLS = 8;

interface Line {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A sequence that is the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const folderOf = ({ project }: Trial) => join(project.dir, 'home/.switchboard/audit');

/** The lines of each process, by its ID. */
function linesOf(trial: Trial): Map<number, Line[]> {
  const found = new Map<number, Line[]>();
  for (const name of readdirSync(folderOf(trial))) {
    const [, pid] = /^\d{4}-\d\d-\d\d-(\d+)(?:-\d+)?\.jsonl$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const texts = readFileSync(join(folderOf(trial), name), 'utf8')
      .split('\n')
      .slice(0, -1);
    const lines = texts.map((line) => JSON.parse(line) as Line);
    found.set(Number(pid), (found.get(Number(pid)) ?? []).concat(lines));
  }
  return found;
}

const callsIn = (lines: readonly Line[] = []) => lines.filter(({ type }) => type === 'call');

function killServers({ tag }: Trial, random: (below: number) => number): void {
  for (const { pid } of processesWith(tag)) {
    if (random(2) === 0) continue;
    try {
      process.kill(pid, random(2) === 0 ? 'SIGKILL' : 'SIGTERM');
    } catch {
      // it has just exited
    }
  }
}

async function makeCalls(
  { host, trial }: { readonly host: RawHost; readonly trial: Trial },
  random: (below: number) => number,
): Promise<Answer[]> {
  const calls = Array.from({ length: CALLS }, (_, index) => {
    const server = random(2) === 0 ? 'one' : 'two';
    const tool = ['echo', 'echo', 'echo', 'crash', 'no-such-tool'][random(5)] ?? 'echo';
    return host.call(server, tool, { text: `${index}` });
  });
  if (random(2) === 0) killServers(trial, random);
  const settled = await Promise.allSettled(calls);
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

test('every call that was answered has its line, and changed logs are found', () =>
  withFaults(
    { one: {}, two: {} },
    async (trial) => {
      const random = createRandom(20_261_116);
      const survivors = [trial.host];
      while (survivors.length < CLIENTS) survivors.push(await trial.start());
      const answered = new Map<number | undefined, number>();
      const count = (host: RawHost, answers: readonly Answer[]) => {
        const { pid } = host.process;
        answered.set(pid, (answered.get(pid) ?? 0) + answers.length);
      };
      for (let round = 0; round < ROUNDS; round++) {
        // One more process in each round, which doesn't survive it.
        const doomed = await trial.start();
        const work = [...survivors, doomed].map(async (host) => {
          const answers = await makeCalls({ host, trial }, random);
          count(host, answers);
        });
        const end = trial.end(({ process }) => process.kill('SIGKILL'), doomed);
        await Promise.all([...work, end]);
      }
      for (const { process } of survivors) {
        expect(answered.get(process.pid)).toBe(ROUNDS * CALLS);
        await until(
          () => callsIn(linesOf(trial).get(process.pid ?? 0)).length === ROUNDS * CALLS,
          'every call has one line',
        );
      }
      // A process that was killed may have written a line that nobody has read the answer to.
      for (const [pid, calls] of answered) {
        expect(callsIn(linesOf(trial).get(pid ?? 0)).length).toBeGreaterThanOrEqual(calls);
      }
      const lines = [...linesOf(trial).values()].flat();
      const starts = lines.filter(({ type, outcome }) => type === 'start' && outcome === 'ok');
      expect(starts.length).toBeGreaterThan(ROUNDS);
      await expectChangesFound(trial);
    },
    {
      files: {
        'home/.switchboard/switchboard.config.json': { audit: { maxFileBytes: 16_384 } },
      },
    },
  ));

/** Removes, swaps, edits and cuts lines of a log with several processes and rotated files, one at a time. */
async function expectChangesFound(trial: Trial): Promise<void> {
  const folder = folderOf(trial);
  const verify = async () => {
    const { stdout, status } = await runSwitchboard(trial.project, ['audit', 'verify', '--json']);
    const { problems } = JSON.parse(stdout) as { problems: { kind: string; file: string }[] };
    return { kinds: problems.map(({ kind }) => kind), status };
  };
  const untouched = await verify();
  expect(untouched.kinds.filter((kind) => kind !== 'incomplete')).toEqual([]);

  const logs = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  const rotated = logs.find((name) => name.endsWith('-2.jsonl')) ?? '';
  expect(rotated, 'a file was rotated').not.toBe('');
  const first = rotated.replace('-2.jsonl', '.jsonl');
  const file = join(folder, first);
  const whole = readFileSync(file, 'utf8');
  const lines = whole.split('\n').slice(0, -1);
  const [a = '', b = ''] = lines.slice(3, 5);
  const changes: readonly (readonly [string, readonly string[]])[] = [
    ['edited', lines.with(3, a.replace('"time":"2', '"time":"3'))],
    ['removed', lines.toSpliced(3, 1)],
    ['moved', lines.with(3, b).with(4, a)],
    ['truncated', lines.slice(0, -1)],
  ];
  for (const [kind, changed] of changes) {
    writeFileSync(file, `${changed.join('\n')}\n`);
    const { kinds, status } = await verify();
    expect([kind, kinds]).toEqual([kind, expect.arrayContaining([kind])]);
    expect(status).toBe(2);
  }
  rmSync(file);
  expect((await verify()).kinds).toContain('missing');
  rmSync(file.replace('.jsonl', '.head'));
  expect((await verify()).kinds).toContain('missing');
  writeFileSync(file, whole);
  expect((await verify()).kinds).toContain('head');
}
