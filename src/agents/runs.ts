// Agent runs, from the task to the result: load the file, find the servers, pass both to the engine. Failures become
// results that explain what went wrong; a cancelled run leaves nothing behind.
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
import { type AgentTask, parseTask } from './task.ts';

/** Beyond this, waiting is pointless. */
const LONGEST_QUEUE = 100;
/** Per run; further warnings aren't logged. */
const MOST_WARNINGS = 50;

export interface RunParts {
  /** Current settings: a reload changes them. */
  readonly settings: () => AgentSettings;
  /** Reads the agent's file as it is now. */
  readonly load: (agent: ListedAgent) => Promise<Agent>;
  /** Finds the servers the agent gets. */
  readonly equip: (agent: Agent, cancellation: Cancellation) => Promise<Equipment>;
  /** Loaded with the first run. */
  readonly engine: () => Promise<Pick<Engine, 'locate' | 'run'>>;
  readonly log: Log;
}

export interface Equipment {
  readonly servers: readonly AttachedServer[];
  readonly warnings: readonly string[];
  /** Tools and servers that are missing for now; the caller gets these as notes. */
  readonly lacks: readonly string[];
}

export interface RunAgentOptions {
  readonly cancellation: Cancellation;
  readonly onEvent: (event: EngineEvent) => void;
  readonly caller: Caller | undefined;
}

interface OpenRun {
  readonly ended: Promise<RunResult>;
  readonly watch: RunWatch;
}

/** Runs an agent with a tool call's arguments. */
export type RunAgent = (
  agent: ListedAgent,
  args: Readonly<Record<string, unknown>>,
  options: RunAgentOptions,
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

  /** Running and queued runs, in order of arrival. */
  get underWay(): RunStatus[] {
    return [...this.#open.values()].map(({ watch }) => watch.status);
  }

  /** After a reload, which may allow more runs at once. */
  admit(): void {
    this.#queue.admit();
  }

  /** Cancels all runs and waits until nothing of them is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    const runs = [...this.#open];
    for (const [cancellation] of runs)
      cancellation.cancel(new Error('Switchboard is shutting down.'));
    await Promise.allSettled(runs.map(([, { ended }]) => ended));
  }

  #refuseTooDeep(): void {
    const { depth } = this.#parts.settings();
    if (depth < DEEPEST) return;
    throw new SwitchboardError(
      'AGENT_TOO_DEEP',
      `This Switchboard is nested ${depth} levels deep in other agents, so it can't run agents.`,
      { hint: `Agents can nest ${DEEPEST} levels deep. Do the task without an agent.` },
    );
  }

  /** A run that its caller, its time limit or our own shutdown can cancel. */
  async #runWithin(
    agent: ListedAgent,
    task: AgentTask,
    options: RunAgentOptions,
  ): Promise<RunResult> {
    const cancellation = new Cancellation();
    const follow = (): void => cancellation.cancel(options.cancellation.reason ?? new Error());
    options.cancellation.listen(follow);
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
      options.cancellation.unlisten(follow);
    }
  }

  async #runInTurn(
    agent: ListedAgent,
    task: AgentTask,
    watch: RunWatch,
    options: RunAgentOptions,
  ): Promise<RunResult> {
    if (this.#queue.waiting >= LONGEST_QUEUE) throw tooMany(this.#queue.waiting);
    const onMove = (before: number): void => {
      watch.wait(before);
      const text = before === 0 ? 'queued (next in line)' : `queued (${before} ahead)`;
      options.onEvent({ kind: 'starting', text });
    };
    const run = () => {
      watch.begin();
      return this.#runTimed(agent, task, options);
    };
    return this.#queue.during(options.cancellation, run, onMove);
  }

  async #runTimed(
    listed: ListedAgent,
    task: AgentTask,
    options: RunAgentOptions,
  ): Promise<RunResult> {
    const { settings, log } = this.#parts;
    const { timeoutMs, outputMaxChars } = settings();
    const { cancellation } = options;
    const transcript = new Transcript(outputMaxChars);
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
          transcript.hear(event);
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
      const { text } = transcript;
      const output = text === '' ? timeout.text : `${timeout.text}\n\nOutput so far:\n${text}`;
      return { ok: false, output, ...notesOf(notes) };
    } finally {
      clearTimeout(timer);
    }
  }

  async #runNow(
    listed: ListedAgent,
    { task, cwd }: AgentTask,
    { cancellation, onEvent, caller }: RunAgentOptions,
  ): Promise<EngineResult> {
    const { settings, load, equip, log } = this.#parts;
    const warn = (text: string): void => onEvent({ kind: 'warning', text });
    onEvent({ kind: 'starting', text: 'starting' });
    const engine = await this.#parts.engine();
    const program = engine.locate(); // first, because without it nothing else matters
    const agent = await load(listed);
    for (const warning of agent.warnings) warn(warning);
    for (const text of agent.limits) onEvent({ kind: 'note', text });
    const equipment = await equip(agent, cancellation);
    for (const warning of equipment.warnings) warn(warning);
    for (const text of equipment.lacks) onEvent({ kind: 'note', text });
    cancellation.throwIfCancelled();
    const begin = performance.now();
    const result = await engine.run({
      program,
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

/** The agent's messages so far, in case it doesn't finish. */
class Transcript {
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
  return `${text.slice(0, most).toWellFormed()}\n[${left} more characters cut off; agents.outputMaxChars is ${most}]`;
}

function timeLimit({ toolName }: ListedAgent, ms: number): SwitchboardError {
  const text = `Agent ${toolName} was stopped after ${formatDuration(ms)} without finishing.`;
  return new SwitchboardError('AGENT_TIMEOUT', text, {
    hint: 'Give it a smaller task, or raise agents.timeoutMs (AGENTS_TIMEOUT_MS).',
  });
}

function tooMany(waiting: number): SwitchboardError {
  return new SwitchboardError('AGENT_BUSY', `${waiting} agent runs are already queued.`, {
    hint: 'Try again later, or raise agents.maxRuns (AGENTS_MAX_RUNS).',
  });
}
