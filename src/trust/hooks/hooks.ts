// Hooks around a tool call: the user's, then the project's that the user has approved. Before the call, each hook that
// applies can allow or deny it, change its arguments or send it elsewhere; one that fails denies it. After the call, each
// can add a note; one that fails is ignored.
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { excerpt, nearest } from '../../base/text.ts';
import {
  type ChildConfig,
  type HookConfig,
  type HookSettings,
  isOff,
} from '../../config/config.ts';
import { foldName, isTooLong, matchesPattern } from '../../config/server/expose.ts';
import { type Caller, clientName } from '../../mcp/caller.ts';
import { isInputRequired } from '../../mcp/results.ts';
import { isTask } from '../../mcp/tasks.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import type { AuditSink } from '../audit/events.ts';
import { type BeforeAnswer, parseAfter, parseBefore } from './answers.ts';
import { hookPatterns } from './match.ts';
import { type HookExit, HookFailure, type HookPrograms, runHook } from './run-hook.ts';

export interface HookParts {
  readonly children: ReadonlyMap<string, ChildConfig>;
  readonly programs: () => HookPrograms;
  readonly log: Log;
  readonly audit: AuditSink | undefined;
}

/** The part of a call that hooks see. */
export interface HookedCall {
  readonly server: ChildConfig;
  readonly target: string;
  readonly params: Verbatim;
  readonly context: {
    readonly cancellation: Cancellation;
    readonly caller?: Caller | undefined;
  };
}

/** A hook and its place in the configuration. */
interface NamedHook {
  readonly hook: HookConfig;
  readonly key: string;
  readonly patterns: readonly string[];
}

const MAX_EXCERPT = 500;

export class Hooks {
  readonly #parts: HookParts;
  readonly #usersBefore: readonly NamedHook[];
  readonly #projectsBefore: readonly NamedHook[];
  readonly #after: readonly NamedHook[];
  readonly #sessions = new WeakMap<object, string>();
  readonly #ownSession = randomUUID();

  constructor({ beforeCall, afterCall }: HookSettings, parts: HookParts) {
    this.#parts = parts;
    const before = nameHooks(beforeCall, 'beforeCall');
    this.#usersBefore = before.filter(({ hook }) => !hook.ofProject);
    this.#projectsBefore = before.filter(({ hook }) => hook.ofProject);
    this.#after = nameHooks(afterCall, 'afterCall');
  }

  /** Makes a call with all its hooks. */
  async around<T extends HookedCall>(
    call: T,
    next: (call: T) => Promise<Verbatim>,
  ): Promise<Verbatim> {
    const id = randomUUID();
    const decided = await this.#decide(call, id);
    return this.#annotate(decided, await next(decided), id);
  }

  /** The user's hooks have the last word: they see the call again after the project's have changed it. */
  async #decide<T extends HookedCall>(call: T, id: string): Promise<T> {
    const left = new Set(this.#projectsBefore);
    let current = await this.#decideBy(new Set(this.#usersBefore), call, id);
    for (;;) {
      const proposed = await this.#decideBy(left, current, id);
      if (isSameCall(proposed, current)) return current;
      current = await this.#decideBy(new Set(this.#usersBefore), proposed, id);
    }
  }

  /** Takes the hooks that ran out of `left`. Each runs once, even those before one that sends the call elsewhere. */
  async #decideBy<T extends HookedCall>(left: Set<NamedHook>, call: T, id: string): Promise<T> {
    let current = call;
    for (;;) {
      const named = [...left].find((one) => appliesTo(one, current));
      if (!named) return current;
      left.delete(named);
      current = this.#apply(await this.#ask(named, current, id), named, current);
    }
  }

  async #ask(named: NamedHook, call: HookedCall, id: string): Promise<BeforeAnswer> {
    const { cancellation } = call.context;
    const input = this.#inputFor('PreToolUse', call, id);
    let exit: HookExit | undefined;
    try {
      exit = await this.#run(named.hook, input, cancellation);
      return parseBefore(exit);
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      this.#noteDecision('deny', named, call);
      this.#logFailure(named, error, exit);
      throw failed(named, call, error);
    }
  }

  #apply<T extends HookedCall>(answer: BeforeAnswer, named: NamedHook, call: T): T {
    if (answer.denied) {
      this.#noteDecision('deny', named, call);
      throw denied(named, call, answer.denied.reason);
    }
    const params = answer.input ?? call.params;
    if (!answer.route) {
      if (answer.input) this.#noteDecision('change', named, { ...call, params });
      return { ...call, params };
    }
    const server = this.#parts.children.get(answer.route.server);
    if (!server || isOff(server)) {
      this.#noteDecision('deny', named, call);
      throw this.#routedNowhere(named, answer.route.server);
    }
    const routed = { ...call, server, target: answer.route.tool, params };
    this.#noteDecision('route', named, routed);
    return routed;
  }

  async #annotate(call: HookedCall, result: Verbatim, id: string): Promise<Verbatim> {
    const { value } = result;
    if (isInputRequired(value) || isTask(value)) return result; // it isn't done yet
    const hooks = this.#after.filter((one) => appliesTo(one, call));
    if (hooks.length === 0) return result;
    const input = this.#inputFor('PostToolUse', call, id, result);
    let annotated = result;
    for (const named of hooks) {
      const note = await this.#askForNote(named, input);
      if (note !== undefined) annotated = withNote(annotated, note);
    }
    return annotated;
  }

  /** Not cancelled with the call, which has already been made. */
  async #askForNote(named: NamedHook, input: string): Promise<string | undefined> {
    let exit: HookExit | undefined;
    try {
      exit = await this.#run(named.hook, input);
      return parseAfter(exit);
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      this.#logFailure(named, error, exit);
      return undefined;
    }
  }

  #run(hook: HookConfig, input: string, cancellation?: Cancellation): Promise<HookExit> {
    return runHook(hook, { ...this.#parts.programs(), input, cancellation });
  }

  /** Arguments and results are inserted as text, so that numbers reach the hook unchanged. */
  #inputFor(event: string, call: HookedCall, id: string, result?: Verbatim): string {
    const { server, target: tool, params, context } = call;
    const about = {
      session_id: this.#sessionOf(context.caller),
      transcript_path: '',
      cwd: this.#parts.programs().project,
      permission_mode: 'default',
      hook_event_name: event,
      tool_name: `mcp__${server.name}__${tool}`,
      tool_use_id: id,
      switchboard: { server: server.name, tool, host: clientName(context.caller?.info) },
    };
    const response = result ? `,"tool_response":${result.text}` : '';
    return `${JSON.stringify(about).slice(0, -1)},"tool_input":${params.text}${response}}`;
  }

  #sessionOf(caller: Caller | undefined): string {
    if (!caller) return this.#ownSession;
    const known = this.#sessions.get(caller.party) ?? randomUUID();
    this.#sessions.set(caller.party, known);
    return known;
  }

  #noteDecision(decision: string, { key }: NamedHook, call: HookedCall): void {
    const { server, target: tool, params } = call;
    const changed = decision !== 'deny' && { arguments: params };
    const by = { type: 'decision', by: 'hook', decision, rule: key } as const;
    this.#parts.audit?.note({ ...by, server: server.name, tool, ...changed });
  }

  #logFailure(named: NamedHook, { message }: HookFailure, exit: HookExit | undefined): void {
    const stderr = exit?.stderr ? ` Its stderr: ${excerpt(exit.stderr, MAX_EXCERPT)}` : '';
    this.#parts.log.warn(`${describe(named)} ${message}.${stderr}`);
  }

  #routedNowhere(named: NamedHook, server: string): SwitchboardError {
    const used = [...this.#parts.children.values()].filter((child) => !isOff(child));
    const near = nearest(
      server,
      used.map(({ name }) => name),
      1,
    ).map((name) => `"${name}"`);
    return new SwitchboardError(
      'HOOK_DENIED',
      `${describe(named)} sent the call to server "${excerpt(server, 100)}", which isn't available.`,
      { hint: near.length > 0 ? `Did you mean ${near.join()}?` : changeHint(named) },
    );
  }
}

/** Numbered as in the file that declares them. */
function nameHooks(hooks: readonly HookConfig[], event: keyof HookSettings): NamedHook[] {
  const users = hooks.filter(({ ofProject }) => !ofProject).length;
  return hooks.map((hook, index) => {
    const patterns = hookPatterns(hook.tools);
    const key = `hooks.${event}[${hook.ofProject ? index - users : index}]`;
    return { hook, key: hook.ofProject ? `${key} in ${hook.ofProject.file}` : key, patterns };
  });
}

function isSameCall(one: HookedCall, other: HookedCall): boolean {
  const { server, target, params } = other;
  return one.server === server && one.target === target && one.params === params;
}

/** Other spellings of a name match, too: some servers accept them. So does a name that is too long to compare. */
function appliesTo({ patterns }: NamedHook, { server, target }: HookedCall): boolean {
  if (isTooLong(target)) return true;
  const names = [foldName(server.name), foldName(`${server.name}__${target}`)];
  return patterns.some((pattern) => names.some((name) => matchesPattern(name, pattern)));
}

function withNote(result: Verbatim, note: string): Verbatim {
  const content = result.member('content');
  if (!content || !Array.isArray(content.value)) return result;
  const item = Verbatim.of({ type: 'text', text: `Note from a hook: ${note}` });
  return result.with('content', content.append(item));
}

function describe({ key, hook }: NamedHook): string {
  return `${key} (${basename(hook.command)})`;
}

function denied(named: NamedHook, call: HookedCall, reason: string): SwitchboardError {
  const why = reason === '' ? '.' : `: ${reason.replace(/\.?$/, '.')}`;
  return new SwitchboardError('HOOK_DENIED', `A hook denied the call to ${nameCall(call)}${why}`, {
    hint: changeHint(named),
  });
}

function failed(named: NamedHook, call: HookedCall, { message }: HookFailure): SwitchboardError {
  return new SwitchboardError(
    'HOOK_FAILED',
    `The call to ${nameCall(call)} was refused because ${describe(named)} ${message}.`,
    { hint: "Fix or remove the hook. Switchboard's log has its output." },
  );
}

function nameCall({ server, target }: HookedCall): string {
  return `subtool "${excerpt(target, 100)}" of server "${server.name}"`;
}

function changeHint({ key, hook }: NamedHook): string {
  return `To change this, edit ${key}${hook.ofProject ? '.' : ' in your configuration.'}`;
}
