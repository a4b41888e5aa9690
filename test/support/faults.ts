// A trial: the built program with servers that misbehave (test/fixtures/servers/faulty.mjs) and a
// healthy neighbour, `calm`. Whatever a test is about, a trial ends with the same questions: does
// the neighbour still answer, was every request answered exactly once, did nothing but messages come
// on stdout, does the program end by itself, is no process left, and was no secret told.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import { eventually, processesWith } from './processes.ts';
import { createProject, FIXTURES, type Project } from './project.ts';
import { type Answer, type HostOptions, RawHost, textOf } from './raw-host.ts';

/** An entry of `mcpServers`. Without a `command` it is the faulty server, with these faults. */
export interface ChildOfTrial {
  readonly faults?: readonly string[];
  readonly command?: string;
  readonly args?: readonly string[];
  readonly [key: string]: unknown;
}

export interface TrialOptions {
  /** Besides `mcpServers`; its limits are long, so that only those run into them that shall. */
  readonly config?: { readonly timeouts?: object; readonly [key: string]: unknown };
  /** More files of the project. */
  readonly files?: Record<string, string | object>;
  readonly host?: HostOptions;
  /** Set where the program is made to end: it is not spoken to at the end of the trial. */
  readonly ends?: true;
}

export interface JournalEntry {
  readonly what: string;
  readonly [key: string]: unknown;
}

/** How long anything may take that is not meant to wait, on a machine that has much else to do. */
const PATIENCE_MS = 30_000;

export class Trial {
  readonly project: Project;
  /** Stands on the command line of every server of this trial, and on no other. */
  readonly tag = `trial-${randomBytes(6).toString('hex')}`;
  /** In the environment of every server. It must not be seen anywhere. */
  readonly secret = `canary-${randomBytes(9).toString('hex')}`;
  readonly hosts: RawHost[] = [];
  /** What of the programs' output held the secret. */
  readonly #leaks: string[] = [];
  readonly #hostOptions: HostOptions;
  readonly #cancelled = new Set<unknown>();

  constructor(
    children: Record<string, ChildOfTrial>,
    { config = {}, files = {}, host = {} }: TrialOptions,
  ) {
    this.#hostOptions = host;
    this.project = createProject(files);
    onTestFinished(() => this.#endProcesses());
    const all = Object.entries({ calm: {}, ...children });
    this.project.write('switchboard.config.json', {
      ...config,
      timeouts: { childSpawnMs: 20_000, rpcMs: 20_000, stopMs: 500, ...config.timeouts },
      mcpServers: Object.fromEntries(all.map(([name, child]) => [name, this.entry(name, child)])),
    });
    this.project.write('journals/README', 'what the servers wrote down');
  }

  /** The program that was started first. */
  get host(): RawHost {
    const [first] = this.hosts;
    if (!first) throw new Error('The program has not been started.');
    return first;
  }

  /** Starts the program (once more) on the same folder and home. */
  async start(options: HostOptions = this.#hostOptions): Promise<RawHost> {
    const host = await RawHost.connect(this.project, options);
    this.hosts.push(host);
    const { stdout, stderr } = host.process;
    for (const stream of [stdout, stderr]) if (stream) this.#watchForSecret(stream);
    return host;
  }

  /** A child as it stands in the configuration. */
  entry(name: string, { faults = [], ...child }: ChildOfTrial): Record<string, unknown> {
    const env = { SECRET: this.secret };
    if (child.command !== undefined) return { env, ...child };
    const program = join(FIXTURES, 'servers/faulty.mjs');
    const own = [`--tag=${this.tag}`, `--journal=${this.#journalFile(name)}`];
    const args = [program, ...own, ...faults.map((fault) => `--${fault}`)];
    return { command: process.execPath, args, env, ...child };
  }

  /** What a server has written down, or only what it has written down about one thing. */
  journal(child: string, what?: string): JournalEntry[] {
    const file = this.#journalFile(child);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    const entries = lines.map((line) => JSON.parse(line) as JournalEntry);
    return what === undefined ? entries : entries.filter((entry) => entry.what === what);
  }

  /** Calls off a request, which from then on must not be answered. */
  cancel(requestId: unknown): void {
    this.#cancelled.add(requestId);
    this.host.notify('notifications/cancelled', { requestId, reason: 'the test says so' });
  }

  async askNeighbour(host = this.host): Promise<void> {
    const text = `neighbour ${randomBytes(4).toString('hex')}`;
    expect(textOf(await host.call('calm', 'echo', { text }))).toBe(text);
  }

  /** The text of a failed call, without what differs from one run to the next. */
  failure(answer: Answer): string {
    expect(answer).toMatchObject({ result: { isError: true } });
    return textOf(answer)
      .replaceAll(process.execPath, '<node>')
      .replaceAll(this.project.dir, '<project>')
      .replaceAll(FIXTURES, '<fixtures>')
      .replaceAll(this.tag, '<tag>');
  }

  async expectGoodEnd(ends: boolean): Promise<void> {
    for (const host of this.hosts) {
      if (!ends) await this.askNeighbour(host);
      const exit = await (ends ? host.exited : host.close());
      if (!ends) expect(exit).toEqual({ code: 0, signal: null });
      expect(host.impure).toEqual([]);
      this.#expectOneAnswerEach(host, ends);
    }
    expect(this.#leaks, 'the secret was told').toEqual([]);
    await eventually(() => processesWith(this.tag).length === 0, PATIENCE_MS);
    expect(processesWith(this.tag)).toEqual([]);
    const home = this.project.env['HOME'] ?? '';
    expect(filesBelow(home).filter((file) => file.text.includes(this.secret))).toEqual([]);
  }

  #watchForSecret(stream: Readable): void {
    let before = '';
    stream.on('data', (chunk: Buffer) => {
      const text = before + chunk.toString('latin1');
      if (text.includes(this.secret)) this.#leaks.push(text);
      before = text.slice(-this.secret.length);
    });
  }

  #expectOneAnswerEach({ messages, requested }: RawHost, ends: boolean): void {
    const answers = new Map<string, number>();
    for (const { id, method } of messages) {
      if (method !== undefined || id == null) continue;
      const key = JSON.stringify(id);
      answers.set(key, (answers.get(key) ?? 0) + 1);
    }
    const isTwice = [...answers].filter(([, count]) => count > 1).map(([key]) => key);
    expect(isTwice, 'answered twice').toEqual([]);
    const called = [...this.#cancelled].filter((id) => answers.has(JSON.stringify(id)));
    expect(called, 'answered, though cancelled').toEqual([]);
    if (ends) return;
    const isOpen = (id: unknown) => !this.#cancelled.has(id) && !answers.has(JSON.stringify(id));
    expect(requested.filter(isOpen), 'never answered').toEqual([]);
  }

  #journalFile(child: string): string {
    return join(this.project.dir, 'journals', `${child.replaceAll(/\W/g, '_')}.jsonl`);
  }

  /** For a test that failed: nothing of it must disturb the next. */
  #endProcesses(): void {
    for (const { pid } of processesWith(this.tag)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it has just gone by itself
      }
    }
  }
}

/** Runs a test with these servers beside a healthy one, and asks the common questions at its end. */
export async function withFaults(
  children: Record<string, ChildOfTrial>,
  test: (trial: Trial) => Promise<void>,
  options: TrialOptions = {},
): Promise<void> {
  const trial = new Trial(children, options);
  const host = await trial.start();
  const ends = options.ends ?? false;
  await Promise.race([test(trial), ends ? new Promise(() => {}) : failWhenGone(host)]);
  await trial.expectGoodEnd(ends);
}

/** Waits until it is true, and fails if that does not come. */
export async function until(isTrue: () => boolean, what: string): Promise<void> {
  expect(await eventually(isTrue, PATIENCE_MS), what).toBe(true);
}

/** A line that answers the call in which the faulty server is told to print it. */
export function answerLine(text: string): string {
  const result = { content: [{ type: 'text', text }] };
  return `{"jsonrpc":"2.0","id":%ID%,"result":${JSON.stringify(result)}}\n`;
}

/** The most memory a process has had, in MiB; undefined where the system does not tell. */
export function peakMemoryMiB(pid: number | undefined): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1]) / 1024;
}

async function failWhenGone(host: RawHost): Promise<never> {
  const { code, signal } = await host.exited;
  const lastWords = host.stderr.slice(-2_000);
  throw new Error(`Switchboard ended in mid test (${signal ?? code}). Its stderr: ${lastWords}`);
}

function filesBelow(folder: string): { path: string; text: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}
