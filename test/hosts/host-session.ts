// One run of a real host that uses Switchboard as its MCP server. The test plays the host's model: it
// calls tools through the host and sees what the host sends back.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { locate, programOf } from '../../scripts/programs/programs.ts';
import type { Project } from '../support/project.ts';
import type { HostDriver, Setup } from './drivers/driver.ts';
import type { Answer, OfferedTool, ToolResult } from './model/api.ts';
import { type LoopbackModel, type OpenTurn, startLoopbackModel } from './model/loopback-model.ts';

/** Only loopback is reachable: everything else goes to a proxy that doesn't exist. */
const NO_NETWORK = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
};

/** Generous, for busy machines. A host that hangs longer fails the check and shows its output. */
const LIMIT_MS = 120_000;

export type SessionOptions = Pick<Setup, 'project' | 'entry' | 'approval'>;

export class HostSession {
  readonly #driver: HostDriver;
  readonly #process: ChildProcess;
  readonly #model: LoopbackModel;
  readonly #exited: Promise<number | null>;
  #output = '';
  #turn: OpenTurn | undefined;

  /** Starts the host and waits for its first request to the model. */
  static async start(driver: HostDriver, options: SessionOptions): Promise<HostSession> {
    const { id, api } = driver;
    const program = locate(programOf(id));
    if (program === undefined) throw new Error(`Fetch ${id} first: npm run test:hosts -- ${id}`);
    const model = await startLoopbackModel(api);
    const launch = driver.prepare({ ...options, program, modelUrl: model.url });
    const { project } = options;
    const host = spawn(launch.command, launch.args, {
      cwd: project.dir,
      env: { ...environmentOf(project), ...launch.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // its own process group, so that close() kills its children
    });
    const session = new HostSession(driver, host, model);
    try {
      session.#turn = await session.#next();
    } catch (error) {
      await session.close();
      throw error;
    }
    return session;
  }

  private constructor(driver: HostDriver, host: ChildProcess, model: LoopbackModel) {
    this.#driver = driver;
    this.#process = host;
    this.#model = model;
    for (const stream of [host.stdout, host.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    this.#exited = once(host, 'close').then(([status]) => status as number | null);
  }

  /** Whether the model sees one of Switchboard's tools with its schema. */
  offers(tool: string): boolean {
    const wanted = this.#nameOf(tool);
    return this.#offered.some(({ name, isDeferred }) => name === wanted && !isDeferred);
  }

  /** Makes the model call one of Switchboard's tools, and returns the result it gets. */
  call(tool: string, args: object): Promise<ToolResult> {
    return this.#do({ kind: 'calls', args, ...this.#driver.nameOf(tool) });
  }

  /** Whether the model sees one of Switchboard's tools, or finds it with the host's tool search. */
  async finds(tool: string): Promise<boolean> {
    if (this.offers(tool)) return true;
    if (!this.#offered.some(({ name }) => name === this.#driver.toolSearch)) return false;
    const { text } = await this.#do({ kind: 'searches', query: tool });
    return text.split('\n').includes(this.#nameOf(tool));
  }

  /** Makes the model finish, and waits until the host exits. */
  async end(): Promise<void> {
    this.#turn?.answer({ kind: 'says', text: 'Done.' });
    this.#turn = undefined;
    const status = await this.#exited;
    if (status !== 0) throw new Error(`The host exited with ${status}: ${this.#output}`);
  }

  /** Kills the host if it is still running. */
  async close(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      process.kill(-pid, 'SIGKILL');
      await once(this.#process, 'exit');
    }
    await this.#model.close();
  }

  /** The tools in the host's latest request to its model, including the host's own. */
  get #offered(): readonly OfferedTool[] {
    return this.#turn?.tools ?? [];
  }

  #nameOf(tool: string): string {
    const { tool: name, namespace } = this.#driver.nameOf(tool);
    return namespace === undefined ? name : `${namespace}.${name}`;
  }

  async #do(answer: Answer): Promise<ToolResult> {
    if (!this.#turn) throw new Error('The host is not waiting for its model.');
    const next = this.#next();
    this.#turn.answer(answer);
    this.#turn = undefined;
    this.#turn = await next;
    const { result } = this.#turn;
    if (!result) throw new Error('The host sent its model no result.');
    return result;
  }

  #next(): Promise<OpenTurn> {
    return new Promise((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`The host ${what}: ${this.#output}`));
      const timer = setTimeout(() => fail('sent no request to its model'), LIMIT_MS);
      void this.#exited.then((status) => fail(`exited with ${status}`));
      void this.#model.next().then((turn) => {
        clearTimeout(timer);
        resolve(turn);
      });
    });
  }
}

/** The environment of a host: its home and temporary files are inside the project. */
export function environmentOf(project: Project): Record<string, string> {
  const temporary = join(project.dir, 'tmp');
  mkdirSync(temporary, { recursive: true });
  return { ...project.env, ...NO_NETWORK, TMPDIR: temporary };
}
