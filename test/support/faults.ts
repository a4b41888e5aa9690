// A trial runs the built program with misbehaving servers (test/fixtures/servers/faulty.mjs) and a healthy
// neighbour, `calm`. Every trial ends with the same checks: the neighbour still answers, every request got
// exactly one answer, stdout has only messages, the program exits by itself, no process is left, and no
// secret leaked.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import { wholeLines } from './lines.ts';
import { eventually, processesWith } from './processes.ts';
import { createProject, FIXTURES, type Project } from './project.ts';
import { type Answer, type HostOptions, RawHost, textOf } from './raw-host.ts';

type Exit = Awaited<RawHost['exited']>;

/** An entry of `mcpServers`. Without `command` and `url` it's the faulty server with these faults. */
export interface ChildOfTrial {
  readonly faults?: readonly string[];
  readonly command?: string;
  readonly url?: string;
  readonly args?: readonly string[];
  readonly [key: string]: unknown;
}

export interface TrialOptions {
  /** Added to `mcpServers`. The default limits are long, so that only tests about limits reach them. */
  readonly config?: { readonly timeouts?: object; readonly [key: string]: unknown };
  /** More project files. */
  readonly files?: Record<string, string | object>;
  readonly host?: HostOptions;
}

export interface JournalEntry {
  readonly what: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly [key: string]: unknown;
}

export class Trial {
  readonly project: Project;
  /** On the command line of every server of this trial, and of no other. */
  readonly tag = `trial-${randomBytes(6).toString('hex')}`;
  /** In every server's environment. It must not show up anywhere. */
  readonly secret = `canary-${randomBytes(9).toString('hex')}`;
  readonly hosts: RawHost[] = [];
  /** Output that contained the secret. */
  readonly #leaks: string[] = [];
  readonly #hostOptions: HostOptions;
  readonly #cancelled = new Set<unknown>();
  readonly #ended = new Set<RawHost>();

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
      timeouts: { childSpawnMs: 60_000, rpcMs: 60_000, stopMs: 500, ...config.timeouts },
      mcpServers: Object.fromEntries(all.map(([name, child]) => [name, this.entry(name, child)])),
    });
    this.project.write('journals/README', 'what the servers wrote down');
  }

  /** The first program. */
  get host(): RawHost {
    const [first] = this.hosts;
    if (!first) throw new Error('The program has not been started.');
    return first;
  }

  /** Starts a program in the same folder and home. */
  async start(options: HostOptions = this.#hostOptions): Promise<RawHost> {
    const host = await RawHost.connect(this.project, options);
    this.hosts.push(host);
    const { stdout, stderr } = host.process;
    for (const stream of [stdout, stderr]) if (stream) this.#watchForSecret(stream);
    return host;
  }

  /** Makes a program exit, which from then on owes no answers. Returns its exit status. */
  async end(how: (host: RawHost) => unknown, host = this.host): Promise<Exit> {
    this.#ended.add(host);
    await how(host);
    return host.exited;
  }

  /** Rejects if the first program exits, unless the test made it exit. */
  async failWhenGone(): Promise<void> {
    const { code, signal } = await this.host.exited;
    if (this.#ended.has(this.host)) return;
    const lastWords = this.host.stderr.slice(-2_000);
    throw new Error(`Switchboard ended in mid test (${signal ?? code}). Its stderr: ${lastWords}`);
  }

  /** A server's entry in the configuration. */
  entry(name: string, { faults = [], ...child }: ChildOfTrial): Record<string, unknown> {
    const env = { SECRET: this.secret };
    if (child.url !== undefined) return child;
    if (child.command !== undefined) return { env, ...child };
    const program = join(FIXTURES, 'servers/faulty.mjs');
    const own = [`--tag=${this.tag}`, `--journal=${this.#journalFile(name)}`];
    const args = [program, ...own, ...faults.map((fault) => `--${fault}`)];
    return { command: process.execPath, args, env, ...child };
  }

  /** A server's journal, optionally only the entries about one thing. */
  journal(child: string, what?: string): JournalEntry[] {
    const lines = wholeLines(this.#journalFile(child));
    const entries = lines.map((line) => JSON.parse(line) as JournalEntry);
    return what === undefined ? entries : entries.filter((entry) => entry.what === what);
  }

  /** Cancels a request, which from then on must not be answered. */
  cancel(requestId: unknown): void {
    this.#cancelled.add(requestId);
    this.host.notify('notifications/cancelled', { requestId, reason: 'the test says so' });
  }

  async askNeighbour(host = this.host): Promise<void> {
    const text = `neighbour ${randomBytes(4).toString('hex')}`;
    expect(textOf(await host.call('calm', 'echo', { text }))).toBe(text);
  }

  /** The text of a failed call, without the parts that differ between runs. */
  failure(answer: Answer): string {
    expect(answer).toMatchObject({ result: { isError: true } });
    return textOf(answer)
      .replaceAll(process.execPath, '<node>')
      .replaceAll(this.project.dir, '<project>')
      .replaceAll(FIXTURES, '<fixtures>')
      .replaceAll(this.tag, '<tag>');
  }

  async expectGoodEnd(): Promise<void> {
    for (const host of this.hosts) {
      const owes = this.#ended.has(host) ? 'nothing' : 'every answer';
      if (owes === 'every answer') {
        await this.askNeighbour(host);
        expect(await this.end(() => host.close(), host)).toEqual({ code: 0, signal: null });
      }
      await host.exited;
      expect(host.impure).toEqual([]);
      this.#expectOneAnswerEach(host, owes);
    }
    expect(this.#leaks, 'the secret was told').toEqual([]);
    await eventually(() => processesWith(this.tag).length === 0);
    expect(processesWith(this.tag)).toEqual([]);
    const home = this.project.env['HOME'] ?? '';
    expect(filesBelow(home).filter((file) => file.text.includes(this.secret))).toEqual([]);
  }

  #watchForSecret(stream: Readable): void {
    let before = '';
    stream.on('data', (chunk: Buffer | string) => {
      const text = before + String(chunk);
      if (text.includes(this.secret)) this.#leaks.push(text);
      before = text.slice(-this.secret.length);
    });
  }

  #expectOneAnswerEach(host: RawHost, owes: 'nothing' | 'every answer'): void {
    const requested = countById(host.requested);
    const answered = countById(
      host.messages.flatMap(({ id, method }) => (method === undefined && id != null ? [id] : [])),
    );
    const cancelled = countById(this.#cancelled);
    const tooOften = [...answered].filter(([id, count]) => count > (requested.get(id) ?? 1));
    expect(tooOften, 'answered too often').toEqual([]);
    const inVain = [...answered.keys()].filter((id) => cancelled.has(id));
    expect(inVain, 'answered, though cancelled').toEqual([]);
    if (owes === 'nothing') return;
    const open = [...requested].filter(
      ([id, count]) => !cancelled.has(id) && count !== answered.get(id),
    );
    expect(open, 'never answered').toEqual([]);
  }

  #journalFile(child: string): string {
    return join(this.project.dir, 'journals', `${encodeURIComponent(child)}.jsonl`);
  }

  /** Keeps a failed test from disturbing the next. */
  #endProcesses(): void {
    for (const { pid } of processesWith(this.tag)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it has just exited
      }
    }
  }
}

/** Runs a test with these servers and a healthy one, then makes the common checks. */
export async function withFaults(
  children: Record<string, ChildOfTrial>,
  test: (trial: Trial) => Promise<void>,
  options: TrialOptions = {},
): Promise<void> {
  const trial = new Trial(children, options);
  await trial.start();
  const whole = test(trial).then(() => trial.expectGoodEnd());
  await Promise.race([whole, trial.failWhenGone()]);
  await whole;
}

/** Waits for a condition; fails if it doesn't come true. */
export async function until(isTrue: () => boolean, what: string): Promise<void> {
  expect(await eventually(isTrue), what).toBe(true);
}

/** A line for the faulty server to print that answers the call. */
export function answerLine(text: string): string {
  const result = { content: [{ type: 'text', text }] };
  return `{"jsonrpc":"2.0","id":%ID%,"result":${JSON.stringify(result)}}\n`;
}

/** A process's peak memory in MiB; undefined if the system doesn't say. */
export function peakMemoryMiB(pid: number | undefined): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1]) / 1024;
}

/** How often each id occurs. The number 1 and the text "1" are two ids. */
function countById(ids: Iterable<unknown>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const key = JSON.stringify(id);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function filesBelow(folder: string): { path: string; text: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}
