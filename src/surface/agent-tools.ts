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
import type { AgentSettings } from '../config/config.ts';
import { DEFAULTS } from '../config/defaults.ts';
import { freeName, toToolName } from '../mcp/names.ts';
import { dataResult, type Tool, textResult } from '../mcp/tools.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { describeSubtools } from './introspect.ts';
import { alwaysLoaded, MOST_LOADED, parseSuiteAction, SUITE_SCHEMA } from './suite-tool.ts';

export interface Agents {
  readonly listed: readonly ListedAgent[];
  readonly run: RunAgent;
}

type ShownAgents = Pick<AgentSettings, 'show' | 'formats'>;

const SUITE_NAME = 'agents_suite';
const SUITE_DESCRIPTION =
  "Use this tool for agents, each of which does a whole task in a folder by itself. Actions: 'introspect' | 'call'.";
/** Some agents' descriptions are whole manuals with examples. */
const LONGEST_DESCRIPTION = 1_000;
const LONGEST_TAGS = 200;
/** More news than this helps nobody. */
const LEAST_MS_BETWEEN_NEWS = 100;
/** Hosts that wait only as long as they hear of progress hear of it. */
const SIGN_OF_LIFE_MS = 10_000;
const LONGEST_NEWS = 200;

export class AgentTools {
  readonly #settings: ShownAgents;
  readonly #run: RunAgent;
  readonly #agents: ReadonlyMap<string, ListedAgent>;
  readonly #suiteName: string;
  readonly #taken: { has(name: string): boolean };
  readonly #shownTo = new Map<string, AgentTools>();

  /** `taken` are names that mean something else already. */
  constructor(
    settings: ShownAgents,
    { listed, run }: Agents,
    taken: { has(name: string): boolean },
  ) {
    this.#settings = settings;
    this.#run = run;
    this.#taken = taken;
    this.#agents = nameAgents(settings.show === 'off' ? [] : listed, taken);
    this.#suiteName = freeName(SUITE_NAME, {
      has: (name) => taken.has(name) || this.#agents.has(name),
    });
  }

  /** Without those that a host of this name reads itself. The others keep their names. */
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

  /** The names by which agents are called; listed or not. */
  get names(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /** Patterns of their names: `agent_*`, or whole names for agents without a prefix. */
  get patterns(): readonly string[] {
    const { formats } = this.#settings;
    const patterns = [...this.#agents].map(([name, { kind }]) => {
      const prefix = toToolName(formats[kind].prefix);
      return prefix === '' ? name : `${prefix}*`;
    });
    return [...new Set(patterns)];
  }

  /** The tool that stands for all of them, where there is one. */
  get suite(): string | undefined {
    const isSuite = this.#settings.show === 'suite' && this.#agents.size > 0;
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
    const mode = wanted.verbosity ?? DEFAULTS.introspection.mode;
    return dataResult(
      describeSubtools(chosen, { ...DEFAULTS.introspection, mode }),
      context.framing,
    );
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
    using news = new News(onProgress);
    const result = await this.#run(agent, args.value as Record<string, unknown>, {
      cancellation,
      caller,
      onEvent: (event) => news.tell(event),
    });
    return toResult(result);
  }
}

/** Agents by the names that they have where some names are taken; each knows its own. */
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
 * What happens in a run, passed on as progress: not too often, and never nothing for long. Of what comes
 * too fast the last is told when it is time, since it may go on for an hour.
 */
class News implements Disposable {
  readonly #onProgress: CallContext['onProgress'];
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #count = 0;
  #toldAt = -Infinity;
  #later: { readonly timer: NodeJS.Timeout; text: string } | undefined;

  constructor(onProgress: CallContext['onProgress']) {
    this.#onProgress = onProgress;
    if (onProgress) this.#timer = setInterval(() => this.#signOfLife(), SIGN_OF_LIFE_MS).unref();
  }

  tell({ kind, text }: EngineEvent): void {
    if (kind === 'text' || !this.#onProgress) return;
    const waitMs = this.#toldAt + LEAST_MS_BETWEEN_NEWS - performance.now();
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

  /** Tells what had to wait. */
  #catchUp(): void {
    const { timer, text } = this.#later ?? {};
    clearTimeout(timer);
    this.#later = undefined;
    if (text !== undefined) this.#send(text);
  }

  #signOfLife(): void {
    if (performance.now() - this.#toldAt < SIGN_OF_LIFE_MS / 2) return;
    this.#send(`works for ${Math.round((performance.now() - this.#began) / 1_000)} s`);
  }

  #send(text: string): void {
    this.#toldAt = performance.now();
    const message = excerpt(text, LONGEST_NEWS);
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
        : 'The action "introspect" (in a terminal: switchboard agents) lists those there are.',
  });
}
