// A minimal host: starts a Node program and speaks JSON-RPC with it, one message per line. Not the official SDK:
// that one stops at 10 MB, and reads long lines in quadratic time. Answers are taken in the order they arrive,
// which is all a measurement needs.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { onLine } from './lines.mjs';

export interface Program {
  /** Node's arguments: its own flags, the script, the script's arguments. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Waiter {
  readonly resolve: (line: Buffer) => void;
  readonly reject: (error: Error) => void;
}

interface NewsWaiter extends Waiter {
  readonly method: string;
}

/** How long a program may take to exit once its input has ended. */
const EXIT_MS = 10_000;
const STDERR_CHARS = 2_000;

/** Running programs, to stop if we are stopped. */
export const live = new Set<AsyncDisposable>();
let isInterrupted = false;

export class Client implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #exited: Promise<unknown>;
  readonly #lines: Buffer[] = [];
  readonly #waiters: Waiter[] = [];
  #newsWaiters: NewsWaiter[] = [];
  #failure: Error | undefined;
  #stderr = '';
  #lastId = 0;

  constructor({ args, cwd, env }: Program) {
    this.#process = spawn(process.execPath, [...args], { cwd, env, stdio: 'pipe' });
    this.#exited = once(this.#process, 'exit');
    live.add(this);
    onLine(this.#process.stdout, (line) => this.#take(line));
    this.#process.stdin.on('error', () => {}); // the exit status says more
    this.#process.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_CHARS);
    });
    this.#process.once('close', (code, signal) => {
      live.delete(this);
      this.#fail(new Error(`${args.join(' ')} ended (${signal ?? code}).\n${this.#stderr}`));
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Writes one message and returns the next line, unparsed. */
  exchange(json: string): Promise<Buffer> {
    this.#process.stdin.write(`${json}\n`);
    const line = this.#lines.shift();
    if (line) return Promise.resolve(line);
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** The next notification of a method from now on. */
  news(method: string): Promise<Buffer> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#newsWaiters.push({ method, resolve, reject }));
  }

  /** The raw answer to a request. */
  ask(method: string, params: object = {}): Promise<Buffer> {
    return this.exchange(this.format(method, params));
  }

  /** The result of a request. */
  async request(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const answer = JSON.parse((await this.ask(method, params)).toString()) as Answer;
    if (answer.result && answer.result['isError'] !== true) return answer.result;
    throw new Error(`${method} failed: ${JSON.stringify(answer).slice(0, 1_000)}`);
  }

  /** Calls a tool; returns the text of its result. */
  async callTool(name: string, args: object = {}): Promise<string> {
    const result = await this.request('tools/call', { name, arguments: args });
    const { content } = result as { content: [{ text: string }] };
    return content[0].text;
  }

  /** A request as JSON, with its own id. */
  format(method: string, params: object): string {
    return JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method, params });
  }

  async shakeHands(): Promise<void> {
    await this.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1.0.0' },
    });
    this.#process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  /** Closes the program's input, like a host that disconnects, and waits until it has exited. */
  async [Symbol.asyncDispose](): Promise<void> {
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), EXIT_MS);
    this.#process.stdin.end();
    await this.#exited;
    clearTimeout(kill);
  }

  #take(line: Buffer): void {
    if (isNews(line)) return this.#takeNews(line);
    const waiter = this.#waiters.shift();
    if (waiter) waiter.resolve(line);
    else this.#lines.push(line);
  }

  #takeNews(line: Buffer): void {
    const waiting = this.#newsWaiters;
    this.#newsWaiters = waiting.filter(({ method }) => !line.includes(`"${method}"`));
    for (const waiter of waiting) if (!this.#newsWaiters.includes(waiter)) waiter.resolve(line);
  }

  #fail(error: Error): void {
    if (isInterrupted) return; // no longer needed
    this.#failure = error;
    const waiting = [...this.#waiters.splice(0), ...this.#newsWaiters.splice(0)];
    for (const { reject } of waiting) reject(error);
  }
}

interface Answer {
  readonly result?: Record<string, unknown>;
}

/** Whether a line is a notification. Answers never have a method. */
function isNews(line: Buffer): boolean {
  return line.subarray(0, 64).includes('"method"');
}

/** Stops every program that still runs, and everything they have started. */
export async function stopAll(): Promise<void> {
  await Promise.all([...live].map((program) => program[Symbol.asyncDispose]()));
}

/** On Ctrl-C, which may arrive more than once: stops every program, cleans up, and exits. */
export function stopAtSignal(cleanUp: () => void): void {
  const stop = (): void => {
    if (isInterrupted) return;
    isInterrupted = true;
    void stopAll().finally(() => {
      cleanUp();
      process.exit(130);
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
}
