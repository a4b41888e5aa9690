// Agents as the host sees them: one tool each, or one for all with a suite's actions. Listing them reads no
// agent file; calling one does.
import type { ListedAgent } from '../agents/agent.ts';
import type { EngineEvent } from '../agents/engine.ts';
import { defaultDescription } from '../agents/engines.ts';
import { type RunResult, withNotes } from '../agents/notes.ts';
import type { RunAgent } from '../agents/runs.ts';
import { TASK_SCHEMA } from '../agents/task.ts';
import { SwitchboardError } from '../base/errors.ts';
import { cleanText, excerpt, nearest } from '../base/text.ts';
import type { CallContext } from '../calls/call.ts';
import type { AgentSettings, Introspection } from '../config/config.ts';
import { freeName, toToolName } from '../mcp/names.ts';
import { dataResult, type Tool, textResult } from '../mcp/tools.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { describeSubtools } from './introspect.ts';
import { alwaysLoaded, MOST_LOADED, parseSuiteAction, SUITE_SCHEMA } from './suite-tool.ts';

export interface Agents {
  readonly listed: readonly ListedAgent[];
  readonly run: RunAgent;
}

interface ShownAgents {
  readonly agents: Pick<AgentSettings, 'show' | 'formats'>;
  readonly introspection: Introspection;
}

const SUITE_NAME = 'agents_suite';
const SUITE_DESCRIPTION =
  "Use this tool for agents that each complete a whole task in a folder. Actions: 'introspect' | 'call'.";
/** Some descriptions are whole manuals with examples. */
const LONGEST_DESCRIPTION = 1_000;
const LONGEST_TAGS = 200;
/** More frequent progress isn't useful. */
const PROGRESS_INTERVAL_MS = 100;
/** Some hosts give up without progress. */
const KEEP_ALIVE_MS = 10_000;
const LONGEST_MESSAGE = 200;

export class AgentTools {
  readonly #settings: ShownAgents;
  readonly #run: RunAgent;
  readonly #agents: ReadonlyMap<string, ListedAgent>;
  readonly #suiteName: string;
  readonly #taken: { has(name: string): boolean };
  readonly #shownTo = new Map<string, AgentTools>();

  /** `taken`: names that already belong to something else. */
  constructor(
    settings: ShownAgents,
    { listed, run }: Agents,
    taken: { has(name: string): boolean },
  ) {
    this.#settings = settings;
    this.#run = run;
    this.#taken = taken;
    this.#agents = nameAgents(settings.agents.show === 'off' ? [] : listed, taken);
    this.#suiteName = freeName(SUITE_NAME, {
      has: (name) => taken.has(name) || this.#agents.has(name),
    });
  }

  /** Without agents that this host runs itself. The others keep their names. */
  shownTo(client: string | undefined): AgentTools {
    const all = [...this.#agents.values()];
    if (client === undefined || !all.some(({ host }) => host === client)) return this;
    const known = this.#shownTo.get(client);
    if (known) return known;
    const listed = all.filter(({ host }) => host !== client);
    const tools = new AgentTools(this.#settings, { listed, run: this.#run }, this.#taken);
    this.#shownTo.set(client, tools);
    return tools;
  }

  /** The names agents are called by, listed or not. */
  get names(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /** Patterns such as `agent_*`, or whole names for agents without a prefix. */
  get patterns(): readonly string[] {
    const { formats } = this.#settings.agents;
    const patterns = [...this.#agents].map(([name, { kind }]) => {
      const prefix = toToolName(formats[kind].prefix);
      return prefix === '' ? name : `${prefix}*`;
    });
    return [...new Set(patterns)];
  }

  /** The one tool for all of them, if they are shown that way. */
  get suite(): string | undefined {
    const isSuite = this.#settings.agents.show === 'suite' && this.#agents.size > 0;
    return isSuite ? this.#suiteName : undefined;
  }

  has(name: string): boolean {
    return this.#agents.has(name) || name === this.suite;
  }

  listTools(): Tool[] {
    const { suite } = this;
    if (suite === undefined) {
      const tools = this.#describeAll((agent) => `task, cwd: string — ${about(agent)}`);
      const isLoaded = tools.length <= MOST_LOADED;
      return isLoaded ? tools.map((tool) => Object.assign(tool, { _meta: alwaysLoaded() })) : tools;
    }
    return [
      {
        name: suite,
        title: 'Agents',
        description: SUITE_DESCRIPTION,
        inputSchema: SUITE_SCHEMA,
        _meta: alwaysLoaded(),
      },
    ];
  }

  async callTool(name: string, args: Verbatim, context: CallContext): Promise<Verbatim> {
    if (name !== this.suite) return this.#callAgent(name, args, context);
    const wanted = parseSuiteAction(name, args);
    if (wanted.action === 'call') return this.#callAgent(wanted.subtool, wanted.args, context);
    const all = this.#describeAll(about);
    const { subtool } = wanted;
    const chosen = subtool === undefined ? all : all.filter((agent) => agent.name === subtool);
    if (chosen.length === 0) throw unknownAgent(subtool ?? '', this.names);
    const { introspection } = this.#settings;
    const mode = wanted.verbosity ?? introspection.mode;
    return dataResult(describeSubtools(chosen, { ...introspection, mode }), context.framing);
  }

  #describeAll(describe: (agent: ListedAgent) => string): Tool[] {
    return [...this.#agents].map(([name, agent]) => ({
      name,
      description: describe(agent),
      inputSchema: TASK_SCHEMA,
    }));
  }

  async #callAgent(name: string, args: Verbatim, context: CallContext): Promise<Verbatim> {
    const agent = this.#agents.get(name);
    if (!agent) throw unknownAgent(name, this.names);
    const { cancellation, caller, onProgress } = context;
    using progress = new RunProgress(onProgress);
    const result = await this.#run(agent, args.value as Record<string, unknown>, {
      cancellation,
      caller,
      onEvent: (event) => progress.report(event),
    });
    return toResult(result);
  }
}

/** Agents by their names; an agent whose name is taken gets another. */
export function nameAgents(
  listed: readonly ListedAgent[],
  taken: { has(name: string): boolean },
): Map<string, ListedAgent> {
  const named = new Map<string, ListedAgent>();
  const isTaken = { has: (name: string) => taken.has(name) || named.has(name) };
  for (const agent of listed) {
    const toolName = freeName(agent.toolName, isTaken);
    named.set(toolName, { ...agent, toolName });
  }
  return named;
}

/**
 * Reports a run's events as progress: not too often, and never silent for long. If events arrive too fast, the
 * latest is sent when its time has come, since it may stay current for an hour.
 */
class RunProgress implements Disposable {
  readonly #onProgress: CallContext['onProgress'];
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #count = 0;
  #sentAt = -Infinity;
  #later: { readonly timer: NodeJS.Timeout; text: string } | undefined;

  constructor(onProgress: CallContext['onProgress']) {
    this.#onProgress = onProgress;
    if (onProgress) this.#timer = setInterval(() => this.#keepAlive(), KEEP_ALIVE_MS).unref();
  }

  report({ kind, text }: EngineEvent): void {
    if (kind === 'text' || !this.#onProgress) return;
    const waitMs = this.#sentAt + PROGRESS_INTERVAL_MS - performance.now();
    if (kind === 'warning') {
      this.#catchUp();
      this.#send(text);
    } else if (this.#later) this.#later.text = text;
    else if (waitMs <= 0) this.#send(text);
    else this.#later = { timer: setTimeout(() => this.#catchUp(), waitMs).unref(), text };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    clearTimeout(this.#later?.timer);
  }

  /** Sends the event that had to wait. */
  #catchUp(): void {
    const { timer, text } = this.#later ?? {};
    clearTimeout(timer);
    this.#later = undefined;
    if (text !== undefined) this.#send(text);
  }

  #keepAlive(): void {
    if (performance.now() - this.#sentAt < KEEP_ALIVE_MS / 2) return;
    this.#send(`still working (${Math.round((performance.now() - this.#began) / 1_000)} s)`);
  }

  #send(text: string): void {
    this.#sentAt = performance.now();
    const message = excerpt(text, LONGEST_MESSAGE);
    this.#onProgress?.(Verbatim.of({ progress: ++this.#count, message }));
  }
}

function toResult(result: RunResult): Verbatim {
  return textResult(JSON.stringify(withNotes(result)), result.ok ? {} : { isError: true });
}

function about({ name, description, tags }: ListedAgent): string {
  const own = cleanText(description).trim();
  const text = own === '' ? defaultDescription(cleanText(name)) : own;
  const short =
    text.length > LONGEST_DESCRIPTION
      ? `${text.slice(0, LONGEST_DESCRIPTION - 3).toWellFormed()}...`
      : text;
  return tags.length === 0 ? short : `${short} [tags: ${excerpt(tags.join(', '), LONGEST_TAGS)}]`;
}

export function unknownAgent(name: string, known: readonly string[]): SwitchboardError {
  const near = nearest(name, known);
  return new SwitchboardError('AGENT_UNKNOWN', `There is no agent "${excerpt(name, 100)}".`, {
    hint:
      near.length > 0
        ? `Did you mean ${near.join(' or ')}?`
        : 'The action "introspect" (in a terminal: switchboard agents) lists all agents.',
  });
}
