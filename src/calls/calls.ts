// The only path to a server. Interceptors that the configuration needs are wrapped around the bare path once, when
// the configuration is read; the others cost nothing.
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { Log } from '../base/log.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import { parseTools, type Tool } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { AuditSink } from '../trust/audit/events.ts';
import type { HookPrograms } from '../trust/hooks/run-hook.ts';
import { type Audit, createAudit } from './audit.ts';
import { type CallContext, compose, type Interceptor, type Send } from './call.ts';
import { exposeRules } from './expose.ts';
import { holdChanges } from './hold-changes.ts';
import { callHooks } from './hooks.ts';
import { logCalls } from './log-calls.ts';
import { permissionRules } from './permissions.ts';
import { type CallListener, recordCalls, SessionNumbers } from './record.ts';
import { redactArguments } from './redact.ts';
import { filterResults } from './result-secrets.ts';
import { createSend } from './send.ts';

type Settings = Pick<Config, 'children' | 'logging' | 'permissions' | 'audit' | 'hooks'>;

type CreateInterceptor = (config: Settings, parts: InterceptorParts) => Interceptor | undefined;

/** Outermost first. Each is undefined if the configuration doesn't need it. */
const INTERCEPTORS: readonly CreateInterceptor[] = [
  callHooks, // first, so that all rules hold for the call they decide on
  exposeRules,
  permissionRules,
  holdChanges,
  redactArguments,
  filterResults,
];

const LISTENERS: readonly ((config: Settings, log: Log) => CallListener | undefined)[] = [logCalls];

/** What interceptors may use. */
export interface InterceptorParts {
  readonly pool: Pool;
  readonly log: Log;
  readonly audit: AuditSink | undefined;
  readonly programs: () => HookPrograms;
  /** What users have approved, by party. */
  readonly approved: WeakMap<object, Set<string>>;
  /** What they have approved for all. */
  readonly alwaysApproved: Set<string>;
}

export interface CallsParts {
  readonly pool: Pool;
  readonly log: Log;
  /** How hooks are started. Needed only for a configuration with hooks. */
  readonly programs?: (() => HookPrograms) | undefined;
}

const WITHOUT_PROJECT = (): HookPrograms => ({ project: '', env: {} });

export class Calls implements AsyncDisposable {
  readonly #log: Log;
  readonly #pool: Pool;
  readonly #bare: Send;
  readonly #programs: () => HookPrograms;
  readonly #sessions = new SessionNumbers();
  /** The same for every configuration. */
  readonly #approvals = { approved: new WeakMap(), alwaysApproved: new Set<string>() };
  #audit: Audit | undefined;
  #send: Send;

  constructor(config: Settings, { pool, log, programs = WITHOUT_PROJECT }: CallsParts) {
    this.#log = log;
    this.#programs = programs;
    this.#bare = createSend(pool);
    this.#pool = pool;
    this.#audit = createAudit(config, log);
    this.#send = this.#compose(config);
  }

  /** Sends a call to its server. Read it for each call, because a reload replaces it. */
  get send(): Send {
    return this.#send;
  }

  /** Where everything that is decided about a call is noted; undefined if the audit log is off. */
  get audit(): AuditSink | undefined {
    return this.#audit;
  }

  /** Applies a new configuration to the calls that follow. */
  update(config: Settings): void {
    this.#updateAudit(config);
    this.#approvals.alwaysApproved.clear(); // the files say it now, unless the user has changed them
    this.#send = this.#compose(config);
  }

  /** The server's current tools, which the catalog keeps. */
  async listTools(server: ChildConfig, context: CallContext): Promise<readonly Tool[]> {
    const call = { server, method: 'tools/list', target: '', params: NO_PARAMS, context };
    const { value } = await this.#send({ ...call, through: 'suite' });
    return parseTools((value as { readonly tools: readonly unknown[] }).tools);
  }

  /** Call it after the servers have stopped, so that their ends are in the audit log. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#audit?.[Symbol.asyncDispose]();
  }

  #updateAudit(config: Settings): void {
    if (this.#audit && config.audit) {
      this.#audit.settings = config.audit;
      return;
    }
    this.#audit?.[Symbol.asyncDispose]().catch(this.#reportBug);
    this.#audit = createAudit(config, this.#log);
  }

  readonly #reportBug = (error: unknown): void => this.#log.error(describeBug(error));

  #compose(config: Settings): Send {
    const audit = this.#audit;
    const parts = {
      pool: this.#pool,
      log: this.#log,
      audit,
      programs: this.#programs,
      ...this.#approvals,
    };
    const send = compose(
      [
        ...(audit ? [audit.intercept] : []),
        ...INTERCEPTORS.flatMap((create) => create(config, parts) ?? []),
      ],
      this.#bare,
    );
    const listeners = [
      ...LISTENERS.flatMap((create) => create(config, this.#log) ?? []),
      ...(audit ? [audit.listen] : []),
    ].map((listener) => guard(this.#reportBug, listener));
    if (listeners.length === 0) return send;
    return recordCalls(send, this.#sessions, (record) => {
      for (const listener of listeners) listener(record);
    });
  }
}

const NO_PARAMS = Verbatim.of({});
