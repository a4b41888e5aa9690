// Entries, servers and the background process are killed in random order, by a seed, while hosts call tools. Afterwards
// the recorded history must be right: every request of a living host has exactly one response, every response with a
// result belongs to a call that ran, no call ran twice, and no process is left.
//
// SEEDS=1000 npx vitest run --project e2e test/e2e/background-chaos.test.ts runs a thousand schedules.
import { expect, test } from 'vitest';
import {
  createRecorded,
  ENDED,
  expectOneAnswerEach,
  type RecordedProject,
} from '../support/background.ts';
import { childrenOf, eventually, isAlive, processesOf } from '../support/processes.ts';
import { type Answer, RawHost } from '../support/raw-host.ts';

const SEEDS = Array.from({ length: Number(process.env['SEEDS'] ?? 3) }, (_, index) => index + 1);
const HOSTS = 3;
const KILLS = 4;
const CALLS_AT_ONCE = 4;

type Victim = 'background' | 'entry' | 'server';

test.each(SEEDS)('schedule %d', async (seed) => {
  const random = createRandom(seed);
  const project = createRecorded();
  const results = new Map<string, Answer>();
  const state = { isOver: false };
  const hosts = await Promise.all(Array.from({ length: HOSTS }, () => RawHost.connect(project)));
  const killed = new Set<RawHost>();
  const running = hosts.map((host, index) => callUntilOver(host, index, results, state));
  for (const calls of running) calls.catch(() => {}); // those of killed entries fail
  for (let kill = 0; kill < KILLS; kill++) {
    const seen = results.size;
    const wanted = seen + random() * 30;
    await eventually(() => results.size >= wanted);
    const victim = pick<Victim>(['background', 'background', 'entry', 'server'], random());
    if (victim === 'entry' && killed.size < HOSTS - 1) {
      const host = hosts.find((one) => !killed.has(one)) as RawHost;
      killed.add(host);
      host.process.kill('SIGKILL');
    } else killIn(project, victim, random());
  }
  state.isOver = true;
  const living = hosts.filter((host) => !killed.has(host));
  await Promise.all(
    hosts.flatMap((host, index) => (killed.has(host) ? [] : (running[index] ?? []))),
  );
  living.forEach(expectOneAnswerEach);
  const ran = project.calls();
  expect(new Set(ran).size).toBe(ran.length);
  const answered = [...results].filter(([, { error, result }]) => !error && !result?.isError);
  expect(answered.map(([n]) => n).filter((n) => !ran.includes(n))).toEqual([]);
  const errors = [...results.values()].flatMap(({ error }) => error?.message ?? []);
  expect(errors.filter((message) => message !== ENDED)).toEqual([]);
  expect(answered.length).toBeGreaterThan(0);
  for (const host of living) expect((await host.close()).code).toBe(0);
  await expectNothingLeft(project);
});

/** Calls until the schedule is over. A killed entry never answers. */
async function callUntilOver(
  host: RawHost,
  index: number,
  results: Map<string, Answer>,
  state: { readonly isOver: boolean },
): Promise<void> {
  while (!state.isOver) {
    const calls = Array.from({ length: CALLS_AT_ONCE }, async (_, call) => {
      const n = `${index}-${host.requested.length}-${call}`;
      results.set(n, await host.call('rec', 'other', { n }));
    });
    await Promise.all(calls);
  }
}

/** There may be nothing to kill just now. */
function killIn(project: RecordedProject, victim: Victim, which: number): void {
  const [background] = project.backgrounds();
  if (background === undefined) return;
  const servers = childrenOf(background).map(({ pid }) => pid);
  const pid = victim === 'server' && servers.length > 0 ? pick(servers, which) : background;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has just exited
  }
}

/** Only the background process stays, and it ends with its home. */
async function expectNothingLeft(project: RecordedProject): Promise<void> {
  const others = () =>
    processesOf(project.dir).filter(({ pid }) => !project.backgrounds().includes(pid));
  await eventually(() => others().length === 0);
  for (const pid of project.backgrounds()) expect(isAlive(pid)).toBe(true);
}

function pick<T>(from: readonly T[], random: number): T {
  return from[Math.floor(random * from.length)] as T;
}

/** Numbers from 0 to 1 that are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
