// What the audit log records. Any part that decides something for the user, such as permissions or approvals, gets an
// `AuditSink` and notes its decision there.
import type { Verbatim } from '../../rpc/verbatim.ts';

export interface AuditSink {
  /** Resolves when the log can be written. Rejects if it can't, and the user requires it. */
  admit(): Promise<void>;
  /** Never throws. The time is that of the call. */
  note(event: AuditEvent): void;
}

export type AuditEvent =
  | AuditedCall
  | AuditedStart
  | AuditedStop
  | AuditedRun
  | AuditedDecision
  | AuditedApproval;

/** A request to a server, once it has been answered, refused or cancelled. */
interface AuditedCall {
  readonly type: 'call';
  readonly session: number | undefined;
  readonly host: string | undefined;
  readonly server: string;
  readonly method: string;
  /** The tool or prompt. Other targets, such as a resource's URI, may contain secrets. */
  readonly target: string | undefined;
  /** Only its size, shape and hash are written. */
  readonly arguments: Verbatim;
  readonly resultBytes: number;
  readonly ms: number;
  readonly outcome: string;
}

interface AuditedStart {
  readonly type: 'start';
  readonly server: string;
  readonly pid: number | undefined;
  readonly ms: number;
  readonly outcome: 'ok' | 'failed';
  /** The error's code, if it failed. */
  readonly code?: string | undefined;
}

interface AuditedStop {
  readonly type: 'stop';
  readonly server: string;
  readonly pid: number | undefined;
  /** How its connection ended, such as `exited`. */
  readonly reason: string;
  readonly exitCode?: number | null | undefined;
  readonly signal?: string | null | undefined;
}

/** An agent's run. */
interface AuditedRun {
  readonly type: 'run';
  readonly agent: string;
  readonly host: string | undefined;
  /** Only their size, shape and hash are written. */
  readonly arguments: Verbatim;
  readonly ms: number;
  readonly outcome: string;
}

/** A rule or program decided about a call. */
interface AuditedDecision {
  readonly type: 'decision';
  /** Who decided, such as `permissions` or `hook`. */
  readonly by: string;
  /** Such as `allow`, `deny` or `change`. */
  readonly decision: string;
  readonly server: string;
  readonly tool: string;
  /** The rule, or why. Must not contain arguments. */
  readonly rule?: string | undefined;
  /** The arguments after a change. Only their size, shape and hash are written. */
  readonly arguments?: Verbatim | undefined;
}

/** The user approved or rejected something. */
interface AuditedApproval {
  readonly type: 'approval';
  /** Such as `approve`, `deny` or `revoke`. */
  readonly decision: string;
  /** Such as `server` or `agent`. */
  readonly kind: string;
  readonly name: string;
  readonly file?: string | undefined;
  /** The hash of what was approved. */
  readonly hash?: string | undefined;
}
