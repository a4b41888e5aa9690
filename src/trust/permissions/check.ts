// Decides whether a call may pass, before its server starts if possible. If the user has to be asked, the call waits.
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isObject } from '../../base/object.ts';
import { didYouMean, revealHidden } from '../../base/text.ts';
import type { ChildConfig } from '../../config/config.ts';
import type {
  PermissionDecision,
  PermissionRules,
  RuleTarget,
  ServerRules,
} from '../../config/permission-rules.ts';
import type { Caller } from '../../mcp/caller.ts';
import type { Tool } from '../../mcp/tools.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Verbatim } from '../../rpc/verbatim.ts';
import { type AuditSink, noteDenial } from '../audit/events.ts';
import { askUser } from './ask.ts';
import { keepAnswer, lineToAdd } from './keep.ts';

/** The parts of a call that matter here. */
export interface CheckedCall {
  readonly server: ChildConfig;
  readonly method: string;
  readonly target: string;
  readonly params: Verbatim;
  readonly context: {
    readonly cancellation: Cancellation;
    readonly caller?: Caller | undefined;
    readonly inputs?: { readonly isRepeated?: boolean | undefined } | undefined;
  };
}

interface PermissionCheckParts {
  readonly permissions: PermissionRules;
  readonly pool: Pick<Pool, 'tools' | 'toolHints' | 'hintsInForce'>;
  readonly log: Log;
  readonly audit: AuditSink | undefined;
  /** What users have approved, by party. */
  readonly approved: WeakMap<object, Set<string>>;
  readonly alwaysApproved: Set<string>;
}

export class PermissionCheck {
  readonly #parts: PermissionCheckParts;

  constructor(parts: PermissionCheckParts) {
    this.#parts = parts;
  }

  /** Rejects unless the call may pass. `learnTools` lists the server's tools. */
  async require(
    call: CheckedCall,
    rules: ServerRules,
    learnTools: () => Promise<void>,
  ): Promise<void> {
    const kind = kindOf(call);
    if (!kind) return;
    const target = { kind, name: call.target };
    const decision =
      kind === 'tool' ? await this.#decideTool(call, rules, learnTools) : rules.decide(target);
    if (decision?.permission === 'allow') return;
    if (decision?.permission !== 'ask') {
      this.#noteDenial(call, target, decision);
      throw denied(call, target, decision);
    }
    // Later rounds of a request, and completions for it, don't ask again.
    if (this.#isApproved(call, target) || call.context.inputs?.isRepeated) return;
    await this.#ask(call, target, decision);
  }

  /**
   * A name that isn't listed can't be checked: a server may accept other spellings of its tools' names. So only listed
   * tools can be called.
   */
  async #decideTool(
    { server, target }: CheckedCall,
    rules: ServerRules,
    learnTools: () => Promise<void>,
  ): Promise<PermissionDecision | undefined> {
    const early = rules.decide({ kind: 'tool', name: target });
    if (early?.permission === 'deny') return early;
    const { pool } = this.#parts;
    let hints = pool.toolHints(server.name, target);
    if (!hints) {
      await learnTools();
      hints = pool.toolHints(server.name, target);
    }
    if (!hints) throw unlisted(server, target, this.#permittedNames(server, rules));
    return rules.decide({ kind: 'tool', name: target, hints });
  }

  #permittedNames({ name }: ChildConfig, rules: ServerRules): string[] {
    const { pool } = this.#parts;
    const isPermitted = (tool: Tool) => {
      const hints = pool.hintsInForce(name, tool);
      return rules.decide({ kind: 'tool', name: tool.name, hints })?.permission !== 'deny';
    };
    return (pool.tools(name) ?? []).filter(isPermitted).map((tool) => tool.name);
  }

  #noteDenial(
    call: CheckedCall,
    target: RuleTarget,
    decision: PermissionDecision | undefined,
    answer?: string,
  ): void {
    noteDenial(this.#parts.audit, { ...aboutTarget(call, target, decision), answer });
  }

  #isApproved({ server, context: { caller } }: CheckedCall, target: RuleTarget): boolean {
    const key = keyOf(server, target);
    const { approved, alwaysApproved } = this.#parts;
    return (
      alwaysApproved.has(key) || (caller ? (approved.get(caller.party)?.has(key) ?? false) : false)
    );
  }

  async #ask(call: CheckedCall, target: RuleTarget, decision: PermissionDecision): Promise<void> {
    const { server, method, params, context } = call;
    const { permissions, log, approved, alwaysApproved } = this.#parts;
    const what = `${nameOf(target)} of server "${server.name}"`;
    const line = lineToAdd(permissions, server.name, target.name, decision);
    // Asking for each keystroke would be worse than none.
    if (method === 'completion/complete') {
      this.#noteDenial(call, target, decision, 'none');
      throw notAsked(what, decision, 'Switchboard cannot ask for it during a completion', line);
    }
    const answer = await askUser({
      what,
      // A resource's URI is its name; there are no other arguments.
      params: target.kind === 'resource' ? undefined : params,
      canBeKept: line !== undefined,
      caller: context.caller,
      cancellation: context.cancellation,
    });
    if ('problem' in answer) {
      this.#noteDenial(call, target, decision, 'none');
      throw notAsked(what, decision, answer.problem, line);
    }
    if (answer.choice === 'no') {
      this.#noteDenial(call, target, decision, 'no');
      throw declined(what);
    }
    this.#parts.audit?.note({
      type: 'decision',
      decision: 'allow',
      answer: answer.choice,
      ...aboutTarget(call, target, decision),
    });
    if (answer.choice === 'once') return;
    const { caller } = context;
    if (!caller) return;
    const key = keyOf(server, target);
    approved.set(caller.party, (approved.get(caller.party) ?? new Set()).add(key));
    if (answer.choice !== 'always') return;
    alwaysApproved.add(key);
    try {
      const file = await keepAnswer(permissions, server.name, target.name, decision);
      log.info(`wrote permission for ${what} to ${file}.`);
    } catch (error) {
      if (!(error instanceof SwitchboardError)) throw error;
      // The answer still holds for this process.
      log.warn(`could not keep the permission for ${what}: ${error.text}`);
    }
  }
}

/** Undefined for methods that need no permission: follow-ups about a task, and lists, which are filtered. */
function kindOf({ method, params }: CheckedCall): RuleTarget['kind'] | undefined {
  switch (method) {
    case 'tools/call':
      return 'tool';
    case 'prompts/get':
      return 'prompt';
    case 'resources/read':
      return 'resource';
    case 'completion/complete': {
      const ref = params.member('ref')?.value;
      return isObject(ref) && ref['type'] === 'ref/prompt' ? 'prompt' : 'resource';
    }
    default:
      return undefined;
  }
}

/** For the audit log. A resource's URI may contain secrets. */
function aboutTarget(
  { server }: CheckedCall,
  { kind, name }: RuleTarget,
  decision: PermissionDecision | undefined,
) {
  const tool = kind === 'resource' ? undefined : name;
  return { by: 'permissions', server: server.name, tool, rule: decision?.because };
}

/** What was approved for one server isn't for another that takes its name later. */
function keyOf(server: ChildConfig, { kind, name: target }: RuleTarget): string {
  const { name, command, remote, cwd } = server;
  return JSON.stringify([name, command, remote?.url, cwd, kind, target]);
}

const NOUNS = { tool: 'Tool', prompt: 'Prompt', resource: 'Resource' } as const;

function nameOf({ kind, name }: RuleTarget): string {
  return `${NOUNS[kind]} "${revealHidden(name)}"`;
}

const LONGEST_NAME_SHOWN = 300;

function shorten(name: string): string {
  return name.length > LONGEST_NAME_SHOWN ? `${name.slice(0, LONGEST_NAME_SHOWN)}…` : name;
}

function denied(
  { server }: CheckedCall,
  target: RuleTarget,
  decision: PermissionDecision | undefined,
): SwitchboardError {
  const isReadOnly = decision?.by === 'readOnly';
  const why = isReadOnly
    ? `is not allowed: the server is limited to read-only tools (${decision.because})`
    : `is not allowed (${decision?.because ?? 'its annotations are unknown'})`;
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `${shorten(nameOf(target))} of server "${server.name}" ${why}.`,
    { hint: `In a terminal, switchboard permissions explain shows which rule applies.` },
  );
}

function unlisted(
  { name }: ChildConfig,
  subtool: string,
  names: readonly string[],
): SwitchboardError {
  return new SwitchboardError(
    'SUBTOOL_UNKNOWN',
    `Server "${name}" has no subtool "${shorten(revealHidden(subtool))}".`,
    { hint: didYouMean(subtool, names) || undefined },
  );
}

/** `problem` completes "This needs the user's approval, but …". */
function notAsked(
  what: string,
  { because }: PermissionDecision,
  problem: string,
  line: string | undefined,
): SwitchboardError {
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `${what} needs the user's approval (${because}), but ${problem}.`,
    { hint: line && `The user can allow it permanently: ${line}` },
  );
}

function declined(what: string): SwitchboardError {
  return new SwitchboardError('TOOL_NOT_ALLOWED', `The user did not allow it: ${what}.`, {
    hint: 'Do not try again unless the user asks you to.',
  });
}
