// The audit log, if it's on. The code that writes it is loaded on first use; events wait for it, and so do calls,
// because a call must not be answered before its line is written.
import { SwitchboardError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { AuditSettings, Config } from '../config/config.ts';
import type { AuditEvent, AuditSink } from '../trust/audit/events.ts';
import type { AuditWriter } from '../trust/audit/writer.ts';
import type { Interceptor } from './call.ts';
import type { CallListener, CallRecord } from './record.ts';

interface NotedEvent {
  readonly at: number;
  readonly event: AuditEvent;
}

/** Calls wait until the log is open, so there are only the starts of servers. */
const MAX_WAITING = 1_000;

export class Audit implements AuditSink, AsyncDisposable {
  readonly #log: Log;
  #settings: AuditSettings;
  #writer: AuditWriter | undefined;
  #opening: Promise<void> | undefined;
  #waiting: NotedEvent[] = [];
  /** Events that were dropped because the log couldn't be written. */
  #lost = 0;
  /** The last failure, until the log is written again. */
  #problem: string | undefined;
  #isClosed = false;

  constructor(settings: AuditSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Starts a new file if they have changed. Calls and servers that are under way are still noted. */
  set settings(settings: AuditSettings) {
    if (JSON.stringify(this.#settings) === JSON.stringify(settings)) return;
    this.#settings = settings;
    if (this.#writer) void this.#openSoon();
  }

  note(event: AuditEvent): void {
    if (this.#isClosed) return;
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ at: Date.now(), event });
    else this.#lost++;
    if (this.#writer) this.#write(this.#writer);
    else void this.#ready();
  }

  async admit(): Promise<void> {
    if (this.#writer && this.#problem === undefined) return;
    await this.#ready();
    if (this.#writer) this.#write(this.#writer);
    if (this.#problem !== undefined && this.#settings.required) throw this.#refusal();
  }

  readonly intercept: Interceptor = async (call, next) => {
    await this.admit();
    return next(call);
  };

  readonly listen: CallListener = (record) => this.note(describeCall(record));

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#opening;
    const writer = this.#writer;
    this.#writer = undefined;
    writer?.close();
  }

  /** Never rejects. */
  async #ready(): Promise<void> {
    if (!this.#writer) await this.#openSoon();
  }

  #openSoon(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    try {
      const { AuditWriter } = await import('../trust/audit/writer.ts');
      const settings = this.#settings;
      const writer = await AuditWriter.open(settings);
      if (settings !== this.#settings) {
        writer.close();
        return await this.#open();
      }
      this.#writer?.close();
      this.#writer = writer;
      this.#write(writer);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Writes all queued entries. */
  #write(writer: AuditWriter): void {
    try {
      if (this.#lost > 0) writer.noteGap(this.#lost);
      this.#lost = 0;
      for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
        writer.write(next.at, next.event);
        this.#waiting.shift();
      }
      if (this.#problem !== undefined) this.#log.info('writing to the audit log works again.');
      this.#problem = undefined;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    if (this.#problem === undefined) this.#log.error(`can't write to the audit log: ${problem}.`);
    this.#problem = problem;
    // Not kept for later: they hold the arguments of calls. The log will say how many are missing.
    this.#lost += this.#waiting.length;
    this.#waiting = [];
  }

  #refusal(): SwitchboardError {
    return new SwitchboardError(
      'AUDIT_FAILED',
      `The audit log can't be written, so no calls are allowed: ${this.#problem}.`,
      { hint: `Make ${this.#settings.folder} writable, or remove "audit.required".` },
    );
  }
}

/** Undefined if the configuration doesn't turn it on. */
export function createAudit({ audit }: Pick<Config, 'audit'>, log: Log): Audit | undefined {
  return audit && new Audit(audit, log);
}

function describeCall(record: CallRecord): AuditEvent {
  const { session, host, server, method, target, startedAt, endedAt, params } = record;
  const hasName = method === 'tools/call' || method === 'prompts/get';
  return {
    type: 'call',
    session,
    host,
    server,
    method,
    target: hasName ? target : undefined,
    arguments: params,
    resultBytes: record.bytesOut,
    ms: Math.round(endedAt - startedAt),
    outcome: record.outcome,
    code: record.code,
  };
}
