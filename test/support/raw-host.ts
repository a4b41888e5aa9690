// A host that sees every byte. It starts the built program and speaks JSON-RPC in either framing, for
// everything the official clients hide: ids, stray output, exit status.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { PROGRAM, type Project } from './project.ts';

export interface Answer {
  readonly id: unknown;
  readonly result?: Record<string, unknown> & {
    content?: { type: string; text: string }[];
    isError?: boolean;
  };
  readonly error?: { code: number; message: string; data?: unknown };
}

export interface HostOptions {
  readonly framing?: 'newline' | 'content-length';
  readonly args?: readonly string[];
  /** Another copy of the program. */
  readonly program?: string;
  /** Started instead of the program, for example to start it in a sandbox. */
  readonly command?: readonly [cmd: string, ...args: string[]];
  readonly env?: Record<string, string>;
  /** The client name in the handshake. */
  readonly client?: string;
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class RawHost {
  readonly process: ChildProcess;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  /** Every message received, in order. */
  readonly messages: Record<string, unknown>[] = [];
  /** The same, as raw text. */
  readonly texts: string[] = [];
  /** Output on stdout that isn't a message. */
  readonly impure: string[] = [];
  /** The id of every request sent through `request`, in order. */
  readonly requested: unknown[] = [];
  stderr = '';
  readonly #framing: 'newline' | 'content-length';
  readonly #waiting = new Map<unknown, Waiting>();
  readonly #closed: Promise<unknown>;
  #unread: Buffer = Buffer.alloc(0);
  #lastId = 0;

  constructor(project: Project, options: HostOptions = {}) {
    const { framing = 'newline', program = PROGRAM, args = [], env = {} } = options;
    this.#framing = framing;
    const [cmd, ...words] = options.command ?? [process.execPath, program, ...args];
    this.process = spawn(cmd, words, {
      cwd: project.dir,
      env: { ...project.env, ...env },
      stdio: 'pipe',
    });
    this.exited = new Promise((resolve) => {
      this.process.once('exit', (code, signal) => resolve({ code, signal }));
    });
    // Not `exit`: its last output may still be in the pipe then.
    this.#closed = once(this.process, 'close');
    void this.#closed.then(() => {
      const error = new Error(`The program exited without an answer. Its stderr: ${this.stderr}`);
      for (const { reject } of this.#waiting.values()) reject(error);
    });
    this.process.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.process.stdin?.on('error', () => {}); // it may exit before we've written everything
    onTestFinished(async () => {
      this.process.stdin?.end();
      const timer = setTimeout(() => this.process.kill('SIGKILL'), 60_000);
      await this.exited;
      clearTimeout(timer);
    });
  }

  /** Starts the program and completes the handshake. */
  static async connect(project: Project, options: HostOptions = {}): Promise<RawHost> {
    const host = new RawHost(project, options);
    await host.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: options.client ?? 'test', version: '1' },
    });
    host.notify('notifications/initialized');
    return host;
  }

  request(method: string, params?: unknown, id: unknown = ++this.#lastId): Promise<Answer> {
    const answered = new Promise<Answer>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.requested.push(id);
      this.send({ jsonrpc: '2.0', id, method, params });
    });
    answered.catch(() => {}); // for tests that end the program on purpose and don't wait
    return answered;
  }

  /** The same, with parameters as raw JSON. */
  requestText(method: string, params: string): Promise<Answer> {
    const id = ++this.#lastId;
    return new Promise<Answer>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.requested.push(id);
      this.sendText(
        `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`,
      );
    });
  }

  notify(method: string, params?: unknown): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  call(child: string, subtool: string, args: unknown = {}, id?: unknown): Promise<Answer> {
    const params = { name: `${child}_suite`, arguments: { action: 'call', subtool, args } };
    return id === undefined
      ? this.request('tools/call', params)
      : this.request('tools/call', params, id);
  }

  /** Calls a tool listed under its own name. */
  callTool(name: string, args: unknown = {}): Promise<Answer> {
    return this.request('tools/call', { name, arguments: args });
  }

  /** The names of the tools listed now. */
  async toolNames(): Promise<string[]> {
    return toolsOf(await this.request('tools/list')).map(({ name }) => name);
  }

  /** The number of `tools/list_changed` notifications so far. */
  get listChanges(): number {
    const told = this.messages.filter(
      ({ method }) => method === 'notifications/tools/list_changed',
    );
    return told.length;
  }

  introspect(child: string, more: object = {}): Promise<Answer> {
    return this.request('tools/call', {
      name: `${child}_suite`,
      arguments: { action: 'introspect', ...more },
    });
  }

  send(message: unknown): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(json: string): void {
    const header = `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n`;
    this.write(this.#framing === 'newline' ? `${json}\n` : header + json);
  }

  write(bytes: string | Buffer): void {
    this.process.stdin?.write(bytes);
  }

  /** Closes the program's stdin, as a leaving host does. Returns its exit status once all output is read. */
  async close(): Promise<{ code: number | null; signal: string | null }> {
    this.process.stdin?.end();
    await this.#closed;
    return this.exited;
  }

  /**
   * Closes the program's stdin and returns everything it printed on stderr, except that it trusts the test's own
   * files.
   */
  async lastWords(): Promise<string> {
    this.process.stdin?.end();
    await this.#closed;
    return this.stderr.replaceAll(/^switchboard: trusting .*\n/gm, '');
  }

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    for (let text = this.#take(); text !== undefined; text = this.#take()) this.#receive(text);
  }

  /** The next complete message, strictly in the requested framing. */
  #take(): string | undefined {
    if (this.#framing === 'newline') {
      const end = this.#unread.indexOf('\n');
      return end === -1 ? undefined : this.#cut(0, end, 1);
    }
    const headerEnd = this.#unread.indexOf('\r\n\r\n');
    if (headerEnd === -1) return undefined;
    const header = this.#unread.toString('utf8', 0, headerEnd);
    const length = Number(/^Content-Length: (\d+)$/.exec(header)?.[1]);
    if (Number.isNaN(length)) this.impure.push(header);
    const end = headerEnd + 4 + (length || 0);
    return this.#unread.length < end ? undefined : this.#cut(headerEnd + 4, end, 0);
  }

  #cut(start: number, end: number, skip: number): string {
    const text = this.#unread.toString('utf8', start, end);
    this.#unread = this.#unread.subarray(end + skip);
    return text;
  }

  #receive(text: string): void {
    let message: Record<string, unknown>;
    try {
      message = JSON.parse(text) as Record<string, unknown>;
    } catch {
      this.impure.push(text);
      return;
    }
    if (!Array.isArray(message) && message['jsonrpc'] !== '2.0') this.impure.push(text);
    this.messages.push(message);
    this.texts.push(text);
    if (message['method'] !== undefined) return;
    this.#waiting.get(message['id'])?.resolve(message as unknown as Answer);
    this.#waiting.delete(message['id']);
  }
}

/** The tools in a list or an introspection. */
export function toolsOf({ result }: Answer): { name: string; [key: string]: unknown }[] {
  const data = (result?.['structuredContent'] ?? result) as { tools?: { name: string }[] };
  return data?.tools ?? [];
}

/** The texts of a tool result, joined. */
export function textOf({ result }: Answer): string {
  return (result?.content ?? []).map((item) => item.text).join('');
}
