// Row 27: a hundred sessions in one background process, one of which receives results of 10 MB, one after the other:
// the longest turn of the event loop, and how long a neighbour waits for the response to a ping meanwhile.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../test/support/processes.ts';
import { canCount, SharedProgram } from './background.ts';
import { Client, live, type Program } from './client.ts';
import { onLine } from './lines.mjs';
import { compare, median, quantile, sleep, takeTurns, timeOf } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { CHILD } from './workspace.ts';

const SESSIONS = 100;
const AT_ONCE = 10;
const LARGE_BYTES = 10_000_000;
/** For each round. */
const RESULTS = 10;
const QUIET_PINGS = 300;
const BETWEEN_PINGS_MS = 1;
const PROBE = fileURLToPath(new URL('./loop-probe.cjs', import.meta.url));
const RECEIVER = fileURLToPath(new URL('./receiver.mjs', import.meta.url));

export async function measureNeighbours(bench: Bench): Promise<Row[]> {
  const { workspace, rounds, progress } = bench;
  if (!canCount(bench)) return [];
  progress(`${SESSIONS} sessions, one with results of 10 MB`);
  const server = { name: 'bench', description: 'measurements', args: [CHILD] };
  const alone = workspace.switchboard('shared-crowd', [server]);
  await using shared = new SharedProgram(workspace, alone);
  const { program } = shared;
  const probe = await startProbed(shared, join(workspace.dir, 'loop.json'));
  // Two more: the neighbour and the receiver.
  const others = await connectMany(program, SESSIONS - 2);
  await using neighbour = new Client(program);
  await neighbour.shakeHands();
  await using receiver = new Receiver(program);
  await receiver.receive(2);
  const turns: Turn[] = [];
  const quietTurns: Turn[] = [];
  const ms = await takeTurns(
    {
      quiet: async () => {
        await probe();
        const pings: number[] = [];
        while (pings.length < QUIET_PINGS) await ping(neighbour, pings);
        quietTurns.push(await probe());
        return quantile(pings, 0.99);
      },
      busy: async () => {
        await probe();
        const pings: number[] = [];
        const state = { isOver: false };
        const received = receiver.receive(RESULTS).then(() => {
          state.isOver = true;
        });
        while (!state.isOver) await ping(neighbour, pings);
        await received;
        turns.push(await probe());
        return quantile(pings, 0.99);
      },
    },
    { rounds: rounds(15) },
  );
  await Promise.all(others.map((client) => client[Symbol.asyncDispose]()));
  const cpu = turns.map((turn) => turn.cpu);
  const wall = turns.map((turn) => turn.wall);
  const quiet = quietTurns.map((turn) => turn.cpu);
  return [
    {
      group: 27,
      what: `${SESSIONS} sessions, results of 10 MB, longest turn`,
      measured: Math.max(...cpu),
      unit: 'ms',
      budget: { most: 50 },
      beside: [
        `CPU time of the main thread; the median of the rounds is ${median(cpu).toFixed(1)} ms, on the clock ${median(wall).toFixed(1)} ms; without such results ${median(quiet).toFixed(1)} ms`,
      ],
    },
    {
      group: 27,
      what: "a neighbour's ping meanwhile, p99",
      measured: median(ms.busy),
      unit: 'ms',
      against: { what: 'quiet', value: median(ms.quiet) },
      ratio: compare(ms.busy, ms.quiet),
      budget: { most: 3 },
      beside: [],
    },
  ];
}

async function ping(client: Client, taken: number[]): Promise<void> {
  taken.push(await timeOf(() => client.ask('ping')));
  await sleep(BETWEEN_PINGS_MS);
}

async function connectMany(program: Program, count: number): Promise<Client[]> {
  const clients: Client[] = [];
  while (clients.length < count) {
    const some = Array.from(
      { length: Math.min(AT_ONCE, count - clients.length) },
      () => new Client(program),
    );
    await Promise.all(some.map((client) => client.shakeHands()));
    clients.push(...some);
  }
  return clients;
}

interface Turn {
  readonly cpu: number;
  readonly wall: number;
}

/** Replaces the background process by one with a probe; returns how to read it, which also starts it again. */
async function startProbed(shared: SharedProgram, file: string): Promise<() => Promise<Turn>> {
  const args = await argumentsOf(shared);
  const { PATH = '', HOME = '' } = shared.program.env;
  const background = spawn(process.execPath, ['--require', PROBE, ...args], {
    cwd: HOME,
    env: { PATH, HOME, LOOP_PROBE: file },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    detached: true,
  });
  const [report] = (await once(background.stdio[3] as Readable, 'data')) as [Buffer];
  if (report.toString().trim() !== 'ready')
    throw new Error(`The background process: ${report.toString()}`);
  background.unref();
  return async () => {
    rmSync(file, { force: true });
    background.kill('SIGUSR2');
    await eventually(() => existsSync(file));
    return JSON.parse(readFileSync(file, 'utf8')) as Turn;
  };
}

/** The arguments with which an entry starts its background process. */
async function argumentsOf(shared: SharedProgram): Promise<string[]> {
  {
    await using client = new Client(shared.program);
    await client.shakeHands();
  }
  const words = readFileSync(`/proc/${shared.pid}/cmdline`, 'utf8').split('\0');
  await shared.stop();
  return words.slice(1, -1);
}

/** In a process of its own, so that this one has time for pings. */
class Receiver implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #exited: Promise<unknown>;
  #whenDone: (() => void) | undefined;
  readonly #greeted: Promise<void>;

  constructor({ args, cwd, env }: Program) {
    this.#process = spawn(process.execPath, [RECEIVER, String(LARGE_BYTES), ...args], {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#exited = once(this.#process, 'exit');
    this.#process.stdin.on('error', () => {}); // it has ended, and is waited for in vain
    this.#greeted = new Promise((resolve) => {
      this.#whenDone = resolve;
    });
    onLine(this.#process.stdout, () => this.#whenDone?.());
    live.add(this);
  }

  async receive(results: number): Promise<void> {
    await this.#greeted;
    return new Promise((resolve) => {
      this.#whenDone = resolve;
      this.#process.stdin.write(`${results}\n`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    live.delete(this);
    this.#process.stdin.end();
    await this.#exited;
  }
}
