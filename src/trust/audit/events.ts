// What the audit log records. Any part that decides something for the user, such as permissions or approvals, gets an
// `AuditSink` and notes its decision there.
import type { TrustedPart } from '../../config/judge.ts';
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
  | AuditedApproval
  | AuditedSecret;

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
  /** The error's code, if it was one of ours. */
  readonly code?: string | undefined;
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
  /** The tool or prompt; undefined for a resource, whose URI may contain secrets. */
  readonly tool: string | undefined;
  /** The rule, or why. Must not contain arguments. */
  readonly rule?: string | undefined;
  /** The user's, if a rule asked: `once`, `session`, `always` or `no`; `none` if nobody could be asked. */
  readonly answer?: string | undefined;
  /** The arguments after a change. Only their size, shape and hash are written. */
  readonly arguments?: Verbatim | undefined;
}

/** The user approved or rejected something, or it was trusted at first sight. */
interface AuditedApproval {
  readonly type: 'approval';
  /** `approved`, `denied` or `revoked`; `accepted` for a change of a tool. */
  readonly decision: string;
  /** Such as `server`, `agent` or `tool`. */
  readonly kind: string;
  readonly name: string;
  /** The server, if a change of it was accepted. */
  readonly server?: string | undefined;
  /** How it was decided: `user`, `command`, `first-sight` or `update`. */
  readonly by?: string | undefined;
  readonly file?: string | undefined;
  /** The hash of what was approved. */
  readonly hash?: string | undefined;
}

/** The user stored or removed a secret. Its value is never noted. */
interface AuditedSecret {
  readonly type: 'secret';
  readonly decision: 'stored' | 'replaced' | 'removed';
  readonly name: string;
}

/** Notes decisions about parts of a project, and how each was made. */
export function noteApprovals(
  audit: AuditSink | undefined,
  parts: readonly TrustedPart[],
  decision = 'approved',
): void {
  for (const { subject, hash, by } of parts) {
    const { kind, name, file } = subject;
    audit?.note({ type: 'approval', decision, kind, name, by, file, hash });
  }
}

/** Notes that a rule keeps a call from its server. */
export function noteDenial(
  audit: AuditSink | undefined,
  denial: Pick<AuditedDecision, 'by' | 'server' | 'tool' | 'rule' | 'answer'>,
): void {
  audit?.note({ type: 'decision', decision: 'deny', ...denial });
}
