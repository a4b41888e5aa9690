// One schedule: hosts call tools of servers they share, while entries, servers and the background process are killed
// without warning. Everything happens below a folder of its own, which is removed at the end.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, processesOf, processesWith } from '../../test/support/processes.ts';
import { BUILT_PROGRAM, realServer } from '../bench/workspace.ts';
import { findFaults, type History } from './history.ts';
import { ChaosHost, type Launch } from './host.ts';
import { type HostKind, type Plan, type PublishedServer, planOf, type Step } from './plan.ts';

export interface Outcome {
  readonly plan: Plan;
  readonly faults: readonly string[];
  readonly history: History;
  /** What the programs printed on stderr, for reports. */
  readonly said: readonly string[];
}

const COUNTING_SERVER = fileURLToPath(new URL('./counting-server.mjs', import.meta.url));
/** Calls that a host has in flight. */
const CALLS_AT_ONCE = 3;
/** How long a call takes: most return at once, others are in flight when something is killed. */
const CALL_MS = [0, 0, 2, 15];
/** Something hangs if a step takes longer. */
const STEP_MS = 30_000;
/** Calls of a published server that have no effect. */
const HARMLESS: Readonly<Record<PublishedServer, readonly [subtool: string, args: object]>> = {
  everything: ['echo', { message: 'still there' }],
  filesystem: ['list_allowed_directories', {}],
  memory: ['read_graph', {}],
};

/** `program` is the first file of the built program. */
export async function runSchedule(seed: number, program = BUILT_PROGRAM): Promise<Outcome> {
  const schedule = new Schedule(planOf(seed), program);
  running.add(schedule);
  try {
    return await schedule.run();
  } finally {
    running.delete(schedule);
    await schedule.cleanUp();
  }
}

const running = new Set<Schedule>();

/** Ends everything that runs, if we are stopped. */
export async function stopSchedules(): Promise<void> {
  await Promise.all([...running].map((schedule) => schedule.cleanUp()));
}

class Schedule {
  readonly #plan: Plan;
  readonly #dir = mkdtempSync(join(tmpdir(), 'switchboard-chaos-'));
  readonly #home = join(this.#dir, 'home');
  readonly #record = join(this.#dir, 'executed');
  readonly #launch: Launch;
  readonly #hosts: ChaosHost[] = [];
  readonly #work: Promise<void>[] = [];
  readonly #hung: string[] = [];
  #responses = 0;
  #isOver = false;

  constructor(plan: Plan, program: string) {
    this.#plan = plan;
    const { PATH = '' } = process.env;
    this.#launch = {
      args: [program],
      cwd: this.#dir,
      env: { PATH, HOME: this.#dir, SWITCHBOARD_HOME: this.#home },
    };
    mkdirSync(this.#home);
    writeFileSync(
      join(this.#dir, 'switchboard.config.json'),
      JSON.stringify(this.#configuration()),
    );
  }

  async run(): Promise<Outcome> {
    const { hosts, steps } = this.#plan;
    for (const kind of hosts) this.#open(kind);
    for (const step of steps) await this.#take(step);
    // Whatever was killed, those who stay can go on.
    const before = new Map(this.#hosts.map((host) => [host, host.results]));
    await this.#eventually('a host gets no more results', () =>
      this.#hosts.every((host) => !host.isPresent || host.results > (before.get(host) ?? 0)),
    );
    this.#isOver = true;
    await this.#within('calls have no response', Promise.all(this.#work));
    const staying = this.#hosts.filter((host) => host.isPresent);
    await this.#within('a host cannot leave', Promise.all(staying.map((host) => host.leave())));
    const left = await this.#endBackground();
    for (const host of this.#hosts) if (this.#hung.length > 0) host.kill();
    const history = {
      hosts: await Promise.all(this.#hosts.map((host) => host.history())),
      executed: existsSync(this.#record)
        ? readFileSync(this.#record, 'utf8').split('\n').filter(Boolean)
        : [],
      left,
    };
    const said = this.#hosts.map(({ name, stderr }) => `${name}: ${stderr}`);
    return { plan: this.#plan, faults: [...this.#hung, ...findFaults(history)], history, said };
  }

  async cleanUp(): Promise<void> {
    for (const host of this.#hosts) host.kill();
    for (const { pid } of processesOf(this.#dir)) kill(pid);
    await eventually(() => processesOf(this.#dir).length === 0);
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 10 });
  }

  #configuration(): object {
    const entry = (args: readonly string[]): object => ({ command: process.execPath, args });
    const published = this.#plan.published.map((name) => {
      const more = name === 'filesystem' ? [this.#dir] : [];
      const env = { MEMORY_FILE_PATH: join(this.#dir, 'memory.jsonl') };
      return [name, { ...entry(realServer(name, ...more).args), env }];
    });
    const counting = entry([COUNTING_SERVER, this.#record]);
    return { mcpServers: { counting, ...Object.fromEntries(published) } };
  }

  #open(kind: HostKind): ChaosHost {
    const name = `host ${this.#hosts.length}`;
    const host = new ChaosHost(name, kind, this.#launch, () => this.#responses++);
    this.#hosts.push(host);
    this.#work.push(this.#use(host, this.#hosts.length - 1));
    return host;
  }

  /** Calls until the schedule or the host is over. */
  async #use(host: ChaosHost, index: number): Promise<void> {
    if (!(await host.connect())) return;
    let calls = 0;
    const caller = async (lane: number): Promise<void> => {
      while (!this.#isOver && host.isPresent) {
        const number = `${index}-${++calls}`;
        const ms = CALL_MS[(calls + lane) % CALL_MS.length];
        // After an error, the next call at once would only fail the same way.
        if (!(await host.call('counting', 'count', { number, ms }))) await pause(10);
      }
    };
    const lanes = Array.from({ length: CALLS_AT_ONCE }, (_, lane) => caller(lane));
    const others = this.#plan.published.map(async (server) => {
      const [subtool, args] = HARMLESS[server];
      while (!this.#isOver && host.isPresent) {
        if (!(await host.call(server, subtool, args))) await pause(10);
      }
    });
    await Promise.all([...lanes, ...others]);
  }

  async #take({ afterResponses, afterMs, deed, which, kind }: Step): Promise<void> {
    const wanted = this.#responses + afterResponses;
    const isAlone = (): boolean => this.#hosts.every((host) => !host.isPresent);
    await this.#eventually('the hosts get no responses', () => {
      return this.#responses >= wanted || isAlone();
    });
    await pause(afterMs);
    switch (deed) {
      case 'kill-background':
        return this.#killOne(this.#backgrounds(), which);
      case 'kill-server':
        return this.#killOne(this.#servers(), which);
      case 'kill-entry':
        return this.#one(which)?.kill();
      case 'connect':
        return void this.#open(kind);
      case 'kill-joining': {
        const host = this.#open(kind);
        await pause(which * 80);
        return host.kill();
      }
      case 'leave': {
        const leaving = this.#one(which);
        if (leaving) this.#work.push(leaving.leave());
      }
    }
  }

  /** One of the hosts that are there, if another one stays. */
  #one(which: number): ChaosHost | undefined {
    const present = this.#hosts.filter((host) => host.isPresent);
    return present.length > 1 ? pickAt(present, which) : undefined;
  }

  /** There may be nothing to kill just now. */
  #killOne(pids: readonly number[], which: number): void {
    const pid = pickAt(pids, which);
    if (pid !== undefined) kill(pid);
  }

  #backgrounds(): number[] {
    return processesWith(`background ${this.#home} `).map(({ pid }) => pid);
  }

  #servers(): number[] {
    return processesWith(this.#record).map(({ pid }) => pid);
  }

  /** Nothing but the background process may be left, and it ends if it's told to. */
  async #endBackground(): Promise<string[]> {
    const others = (): string[] => {
      const backgrounds = this.#backgrounds();
      return processesOf(this.#dir)
        .filter(({ pid }) => !backgrounds.includes(pid))
        .map(({ command }) => command);
    };
    await eventually(() => others().length === 0, STEP_MS);
    const left = others();
    if (this.#plan.end === 'home') rmSync(this.#home, { recursive: true, force: true });
    else for (const pid of this.#backgrounds()) process.kill(pid, 'SIGTERM');
    await eventually(() => this.#backgrounds().length === 0, STEP_MS);
    return [...left, ...this.#backgrounds().map((pid) => `background process ${pid}`)];
  }

  async #eventually(fault: string, isTrue: () => boolean): Promise<void> {
    if (this.#hung.length > 0) return;
    if (!(await eventually(isTrue, STEP_MS))) this.#hung.push(`It hangs: ${fault}.`);
  }

  async #within(fault: string, work: Promise<unknown>): Promise<void> {
    if (this.#hung.length > 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#hung.push(`It hangs: ${fault}.`);
        resolve();
      }, STEP_MS);
    });
    await Promise.race([work, late]);
    clearTimeout(timer);
  }
}

function pickAt<T>(from: readonly T[], which: number): T | undefined {
  return from[Math.floor(which * from.length)];
}

/** It may have just exited. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has.
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
