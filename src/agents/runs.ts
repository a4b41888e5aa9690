// Runs of agents, from a task to an answer: the file as it is now, the servers it gets, the engine.
// Whatever goes wrong becomes an answer that says so; a run that is called off leaves nothing behind.
import { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { formatDuration } from '../base/text.ts';
import type { AgentSettings } from '../config/config.ts';
import type { Caller } from '../mcp/caller.ts';
import type { Agent, ListedAgent } from './agent.ts';
import { DEEPEST, environmentBelow } from './depth.ts';
import type { AttachedServer, Engine, EngineEvent, EngineResult } from './engine.ts';
import { Notes, type RunResult } from './notes.ts';
import { Queue } from './queue.ts';
import { type RunStatus, RunWatch } from './run-status.ts';
import { parseTask, type Task } from './task.ts';

/** Who is behind so many others has no use for waiting. */
const LONGEST_LINE = 100;
/** More of them in one run than this are not logged. */
const MOST_WARNINGS = 50;

export interface RunParts {
  /** As they are now: a new configuration changes them. */
  readonly settings: () => AgentSettings;
  /** Reads the agent's file as it is now. */
  readonly load: (agent: ListedAgent) => Promise<Agent>;
  /** Which servers the agent gets. */
  readonly equip: (agent: Agent, cancellation: Cancellation) => Promise<Equipment>;
  /** Loaded with the first run: a host that only lists tools does not wait for it. */
  readonly openEngine: () => Promise<Engine>;
  readonly log: Log;
}

export interface Equipment {
  readonly servers: readonly AttachedServer[];
  readonly warnings: readonly string[];
  /** What the agent goes without: the caller is told. */
  readonly lacks: readonly string[];
}

export interface RunOptions {
  readonly cancellation: Cancellation;
  readonly onEvent: (event: EngineEvent) => void;
  readonly caller: Caller | undefined;
}

interface OpenRun {
  readonly ended: Promise<RunResult>;
  readonly watch: RunWatch;
}

/** Runs an agent with the arguments of a call. */
export type RunAgent = (
  agent: ListedAgent,
  args: Readonly<Record<string, unknown>>,
  options: RunOptions,
) => Promise<RunResult>;

export class Runs implements AsyncDisposable {
  readonly #parts: RunParts;
  readonly #queue: Queue;
  readonly #open = new Map<Cancellation, OpenRun>();

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#queue = new Queue(() => parts.settings().maxRuns);
  }

  readonly run: RunAgent = async (agent, args, options) => {
    const { log } = this.#parts;
    try {
      this.#refuseTooDeep();
      return await this.#runWithin(agent, parseTask(args), options);
    } catch (error) {
      options.cancellation.throwIfCancelled();
      if (!(error instanceof SwitchboardError)) throw error;
      log.info(`${agent.toolName}: ${error.text}`);
      return { ok: false, output: error.text };
    }
  };

  /** Those that go on and those that wait, in the order in which they came. */
  get underWay(): RunStatus[] {
    return [...this.#open.values()].map(({ watch }) => watch.status);
  }

  /** After a new configuration: more may run at once than before. */
  letIn(): void {
    this.#queue.letIn();
  }

  /** Calls off what runs, and waits until nothing of it is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    const runs = [...this.#open];
    for (const [cancellation] of runs) cancellation.cancel(new Error('Switchboard ends.'));
    await Promise.allSettled(runs.map(([, { ended }]) => ended));
  }

  #refuseTooDeep(): void {
    const { depth } = this.#parts.settings();
    if (depth < DEEPEST) return;
    throw new SwitchboardError(
      'AGENT_TOO_DEEP',
      `This Switchboard was started by an agent of another one, ${depth} deep, and runs no more agents.`,
      { hint: `Agents may use agents ${DEEPEST} deep. Do the task without one.` },
    );
  }

  /** A run that is called off by its caller, by the end of its time, or by our own end. */
  async #runWithin(agent: ListedAgent, task: Task, options: RunOptions): Promise<RunResult> {
    const cancellation = new Cancellation();
    const callOff = (): void => cancellation.cancel(options.cancellation.reason ?? new Error());
    options.cancellation.listen(callOff);
    const watch = new RunWatch(agent, task);
    const onEvent = (event: EngineEvent): void => {
      watch.hear(event);
      options.onEvent(event);
    };
    const ended = this.#runInTurn(agent, task, watch, { ...options, onEvent, cancellation });
    this.#open.set(cancellation, { ended, watch });
    try {
      return await ended;
    } finally {
      this.#open.delete(cancellation);
      options.cancellation.unlisten(callOff);
    }
  }

  async #runInTurn(
    agent: ListedAgent,
    task: Task,
    watch: RunWatch,
    options: RunOptions,
  ): Promise<RunResult> {
    if (this.#queue.waiting >= LONGEST_LINE) throw tooMany(this.#queue.waiting);
    const tellPlace = (before: number): void => {
      watch.wait(before);
      const text = before === 0 ? 'waits: the next place is its own' : `waits: ${before} before it`;
      options.onEvent({ kind: 'starting', text });
    };
    const run = () => {
      watch.begin();
      return this.#runTimed(agent, task, options);
    };
    return this.#queue.during(options.cancellation, run, tellPlace);
  }

  async #runTimed(listed: ListedAgent, task: Task, options: RunOptions): Promise<RunResult> {
    const { settings, log } = this.#parts;
    const { timeoutMs, outputMaxChars } = settings();
    const { cancellation } = options;
    const said = new Said(outputMaxChars);
    const notes = new Notes();
    let warnings = 0;
    const timeout = timeLimit(listed, timeoutMs);
    const timer = setTimeout(() => cancellation.cancel(timeout), timeoutMs).unref();
    try {
      const result = await this.#runNow(listed, task, {
        ...options,
        onEvent: (event) => {
          if (event.kind === 'note') {
            if (!notes.add(event.text)) return;
            log.info(`${listed.toolName}: ${event.text}`);
          }
          said.hear(event);
          if (event.kind === 'warning' && ++warnings <= MOST_WARNINGS) {
            log.warn(`${listed.toolName}: ${event.text}`);
          }
          options.onEvent(event);
        },
      });
      const output = cut(result.output, outputMaxChars);
      return { ok: result.ok, output, ...notesOf(notes) };
    } catch (error) {
      if (error !== timeout) throw error;
      const { text } = said;
      const output = text === '' ? timeout.text : `${timeout.text}\n\nUntil then it said:\n${text}`;
      return { ok: false, output, ...notesOf(notes) };
    } finally {
      clearTimeout(timer);
    }
  }

  async #runNow(
    listed: ListedAgent,
    { task, cwd }: Task,
    { cancellation, onEvent, caller }: RunOptions,
  ): Promise<EngineResult> {
    const { settings, load, equip, openEngine, log } = this.#parts;
    const warn = (text: string): void => onEvent({ kind: 'warning', text });
    onEvent({ kind: 'starting', text: 'starts' });
    // First of all: without an engine nothing else is worth doing.
    const engine = await openEngine();
    const agent = await load(listed);
    for (const warning of agent.warnings) warn(warning);
    const equipment = await equip(agent, cancellation);
    for (const warning of equipment.warnings) warn(warning);
    for (const text of equipment.lacks) onEvent({ kind: 'note', text });
    cancellation.throwIfCancelled();
    const begin = performance.now();
    const result = await engine.run({
      agent,
      task,
      cwd,
      servers: equipment.servers,
      environment: environmentBelow(settings()),
      cancellation,
      onEvent,
      caller,
    });
    const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
    log.info(`${listed.toolName}: ${result.ok ? 'done' : 'failed'} after ${seconds} s.`);
    return result;
  }
}

function notesOf({ list }: Notes): Pick<RunResult, 'notes'> {
  return list.length === 0 ? {} : { notes: list };
}

/** What an agent has said so far, for when it does not come to an end. */
class Said {
  readonly #most: number;
  readonly #whole: string[] = [];
  #chars = 0;
  #open = '';

  constructor(most: number) {
    this.#most = most;
  }

  get text(): string {
    return cut([...this.#whole, this.#open].filter(Boolean).join('\n'), this.#most);
  }

  hear({ kind, text }: EngineEvent): void {
    if (kind === 'text' && this.#open.length < this.#most) this.#open += text;
    if (kind !== 'message') return;
    this.#open = '';
    if (this.#chars >= this.#most) return;
    this.#chars += text.length + 1;
    this.#whole.push(text);
  }
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const left = text.length - most;
  return `${text.slice(0, most).toWellFormed()}\n[${left} more characters are left out; agents.outputMaxChars is ${most}]`;
}

function timeLimit({ toolName }: ListedAgent, ms: number): SwitchboardError {
  const text = `The agent ${toolName} was stopped: it had not finished after ${formatDuration(ms)}.`;
  return new SwitchboardError('AGENT_TIMEOUT', text, {
    hint: 'Give it a smaller task, or raise agents.timeoutMs (AGENTS_TIMEOUT_MS).',
  });
}

function tooMany(waiting: number): SwitchboardError {
  return new SwitchboardError('AGENT_BUSY', `${waiting} runs of agents wait already.`, {
    hint: 'Try again when some have ended, or raise agents.maxRuns (AGENTS_MAX_RUNS).',
  });
}
