// Several sessions in one process that share the servers' processes, as in the background process: each has its own
// project, environment, log and host.
import { onTestFinished } from 'vitest';
import { META, MODERN_REVISION } from '../../src/mcp/eras.ts';
import { Processes, type ProcessesOptions } from '../../src/pool/processes.ts';
import { Project } from '../../src/project.ts';
import { createProject, type Project as Folder } from './project.ts';

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface SharedSessionOptions {
  readonly folder?: string;
  readonly env?: Record<string, string>;
  readonly era?: 'handshake' | 'modern';
  /** Whether it has several hosts, as over HTTP. */
  readonly isShared?: boolean;
  readonly capabilities?: object;
  /** Answers the servers' questions. */
  readonly answer?: (question: Message) => unknown;
}

export interface ServerPlace {
  readonly pid: number;
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** The processes that all sessions of a test share. They are stopped after it. */
export function shareProcesses(some: Partial<ProcessesOptions> = {}): Processes {
  const pids: number[] = [];
  const note = {
    environment: { SWITCHBOARD_RUN: 'of-this-test' },
    add: async (pid: number) => void pids.push(pid),
    remove: () => {},
  };
  const onBug = (error: unknown): never => {
    throw error;
  };
  const processes = new Processes({ note, isShared: true, onBug, ...some });
  onTestFinished(() => processes[Symbol.asyncDispose]());
  return processes;
}

/** How many server processes run. */
export function countProcesses(processes: Processes): number {
  return [...processes.servers()].filter(({ live }) => live).length;
}

/** A user with these servers, which run in the home folder. */
export function createUser(mcpServers: Record<string, object>, more: object = {}): Folder {
  const servers = Object.entries(mcpServers).map(([name, entry]) => [name, { cwd: '~', ...entry }]);
  const config = { mcpServers: Object.fromEntries(servers), ...more };
  const user = createProject({ 'home/.switchboard/switchboard.config.json': config });
  user.write('work/package.json', {});
  user.write('other/package.json', {});
  return user;
}

/** Those that are still open. A session that was closed isn't kept. */
const open = new Set<SharedSession>();

async function closeAll(): Promise<void> {
  await Promise.all([...open].map((session) => session.close()));
}

export class SharedSession {
  readonly project: Project;
  /** What Switchboard logs, and what servers print on stderr. */
  readonly logged: string[];
  readonly stderr: string[];
  readonly received: Message[] = [];
  readonly #options: SharedSessionOptions;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #host: ReturnType<Project['switchboard']['openSession']>;
  #lastId = 0;
  #isOpen = true;

  static async open(
    user: Folder,
    processes: Processes,
    options: SharedSessionOptions = {},
  ): Promise<SharedSession> {
    const logged: string[] = [];
    const stderr: string[] = [];
    const note = (line: string): void => void logged.push(line);
    const child = (name: string, line: string): void => void stderr.push(`${name}: ${line}`);
    const project = await Project.open({
      folder: options.folder ?? `${user.dir}/work`,
      environment: options.env ? { HOME: user.env['HOME'], ...options.env } : user.env,
      log: { debug: () => {}, info: note, warn: note, error: note, child },
      processes,
      isShared: options.isShared,
    });
    const session = new SharedSession(project, options, logged, stderr);
    open.add(session);
    onTestFinished(closeAll);
    if (options.era !== 'modern') await session.#shakeHands();
    return session;
  }

  private constructor(
    project: Project,
    options: SharedSessionOptions,
    logged: string[],
    stderr: string[],
  ) {
    this.project = project;
    this.logged = logged;
    this.stderr = stderr;
    this.#options = options;
    this.#host = project.switchboard.openSession({ send: (json) => this.#receive(json) });
  }

  /** Too much unread output, or no longer. */
  setFull(isFull: boolean): void {
    this.#host.setFull(isFull);
  }

  request(method: string, params: object = {}): Promise<Message> {
    const id = ++this.#lastId;
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    const envelope = { _meta: { ...this.#envelope } };
    this.#send({ id, method, params: this.#isModern ? { ...params, ...envelope } : params });
    return answered;
  }

  /** A call of a server's tool; the text of its result. */
  async call(server: string, subtool: string, args: object = {}): Promise<string> {
    const { result, error } = await this.request('tools/call', {
      name: `${server}_suite`,
      arguments: { action: 'call', subtool, args },
    });
    if (error) throw new Error(error.message);
    const content = result?.['content'] as { text: string }[] | undefined;
    return content?.[0]?.text ?? '';
  }

  async whereIs(server: string): Promise<ServerPlace> {
    return JSON.parse(await this.call(server, 'where_am_i')) as ServerPlace;
  }

  notify(method: string, params?: object): void {
    this.#send({ method, ...(params && { params }) });
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    open.delete(this);
    this.#host.close();
    await this.project[Symbol.asyncDispose]();
  }

  get #isModern(): boolean {
    return this.#options.era === 'modern';
  }

  get #envelope() {
    const { capabilities = {} } = this.#options;
    return {
      [META.version]: MODERN_REVISION,
      [META.client]: { name: 'test-host', version: '1' },
      [META.capabilities]: capabilities,
    };
  }

  async #shakeHands(): Promise<void> {
    const { capabilities = {} } = this.#options;
    const clientInfo = { name: 'test-host', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo });
    this.notify('notifications/initialized');
  }

  #receive(json: string): void {
    const message = JSON.parse(json) as Message;
    this.received.push(message);
    const { id, method } = message;
    if (method === undefined) this.#waiting.get(Number(id))?.(message);
    else if (id !== undefined) void this.#answer(message);
  }

  async #answer(question: Message): Promise<void> {
    const result = await this.#options.answer?.(question);
    if (result !== undefined) this.#send({ id: question.id, result });
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#host.session.receive({ text, value: JSON.parse(text), framing: 'newline' });
  }
}
