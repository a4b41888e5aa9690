// A host: a client of an official SDK, over a transport that starts the program and records every message.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import type { HostHistory, ReceivedResponse, SentRequest } from './history.ts';
import type { HostKind } from './plan.ts';

export interface Launch {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly args?: { readonly number?: string } } };
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { text?: string }[] };
  readonly error?: { readonly message: string };
}

/** The part of a client that both SDKs have. */
interface SdkClient {
  connect(transport: unknown): Promise<void>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const CLIENT = { name: 'chaos', version: '1.0.0' };

export class ChaosHost {
  readonly name: string;
  readonly #transport: RecordingTransport;
  readonly #client: SdkClient;
  /** How many calls have succeeded. */
  results = 0;
  #isKilled = false;
  #isLeaving = false;

  constructor(name: string, kind: HostKind, launch: Launch, onResponse: () => void) {
    this.name = `${name} (${kind})`;
    this.#transport = new RecordingTransport(launch, onResponse);
    this.#client = createClient(kind);
  }

  /** Starts the program and completes the handshake; false if that failed, as it may when something is killed. */
  async connect(): Promise<boolean> {
    try {
      await this.#client.connect(this.#transport);
      return true;
    } catch {
      await this.leave();
      return false;
    }
  }

  /** Whether the call succeeded. The transport has recorded its result. */
  async call(server: string, subtool: string, args: object): Promise<boolean> {
    const params = { name: `${server}_suite`, arguments: { action: 'call', subtool, args } };
    try {
      const result = (await this.#client.callTool(params)) as { isError?: boolean };
      if (result.isError === true) return false;
      this.results++;
      return true;
    } catch {
      return false;
    }
  }

  /** Whether it can still be used. */
  get isPresent(): boolean {
    return !this.#isKilled && !this.#isLeaving;
  }

  get pid(): number | undefined {
    return this.#transport.pid;
  }

  kill(): void {
    this.#isKilled = true;
    this.#transport.kill();
  }

  /** Closes the program's input once every request has a response, and waits until it has exited. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#transport.settled();
    await this.#client.close();
    // A client that is still connecting doesn't know its transport yet.
    await this.#transport.close();
  }

  async history(): Promise<HostHistory> {
    const { requests, responses, impure } = this.#transport;
    const { exited } = this.#transport;
    return {
      name: this.name,
      isKilled: this.#isKilled,
      exit: await exited,
      requests,
      responses,
      impure,
    };
  }

  /** What the program printed on stderr, for reports. */
  get stderr(): string {
    return this.#transport.stderr;
  }
}

function createClient(kind: HostKind): SdkClient {
  if (kind === 'v1') return new ClientV1(CLIENT);
  const mode = kind === 'v2-modern' ? 'auto' : 'legacy';
  return new ClientV2(CLIENT, { versionNegotiation: { mode } });
}

class RecordingTransport {
  readonly requests: SentRequest[] = [];
  readonly responses: ReceivedResponse[] = [];
  readonly impure: string[] = [];
  stderr = '';
  onmessage: ((message: unknown) => void) | undefined;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  readonly #launch: Launch;
  readonly #onResponse: () => void;
  /** Requests without a response. */
  readonly #open = new Set<string | number>();
  #process: ChildProcess | undefined;
  #exited: Promise<number | string> = Promise.resolve('never started');
  #unread: Buffer[] = [];
  #isClosing = false;
  #whenSettled: (() => void) | undefined;

  constructor(launch: Launch, onResponse: () => void) {
    this.#launch = launch;
    this.#onResponse = onResponse;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The status or the signal, once all output is read. */
  get exited(): Promise<number | string> {
    return this.#exited;
  }

  async start(): Promise<void> {
    const { args, cwd, env } = this.#launch;
    const child = spawn(process.execPath, [...args], { cwd, env, stdio: 'pipe' });
    this.#process = child;
    this.#exited = once(child, 'close').then(([code, signal]) => code ?? signal);
    child.stdin.on('error', () => {}); // the exit status says more
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    void this.#exited.then(() => {
      this.#whenSettled?.();
      this.onclose?.();
    });
  }

  async send(message: Message): Promise<void> {
    if (this.#isClosing) throw new Error('The connection is closed.');
    const { id, method } = message;
    if (id !== undefined && method !== undefined) {
      const number = message.params?.arguments?.args?.number;
      this.requests.push({ id, method, ...(number !== undefined && { number }) });
      this.#open.add(id);
    }
    this.#process?.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#process?.stdin?.end();
    await this.#exited;
  }

  kill(): void {
    this.#process?.kill('SIGKILL');
  }

  /** Resolves when every request has a response, or the program has ended. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenSettled = resolve;
      const isOver = this.#process?.exitCode !== null || this.#process.signalCode !== null;
      if (this.#open.size === 0 || isOver) resolve();
    });
  }

  #read(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      const line = Buffer.concat([...this.#unread, chunk.subarray(start, end)]).toString();
      this.#unread = [];
      start = end + 1;
      this.#receive(line);
    }
    if (start < chunk.length) this.#unread.push(chunk.subarray(start));
  }

  #receive(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      this.impure.push(line);
      return;
    }
    if (message.method === undefined) this.#note(message);
    this.onmessage?.(message);
  }

  #note({ id = '', result, error }: Message): void {
    const text = result?.content?.map((part) => part.text ?? '').join('');
    const failure = error?.message ?? (result?.isError ? text : undefined);
    this.responses.push({
      id,
      ...(failure !== undefined ? { error: failure } : text !== undefined && { text }),
    });
    this.#open.delete(id);
    if (this.#open.size === 0) this.#whenSettled?.();
    this.#onResponse();
  }
}
