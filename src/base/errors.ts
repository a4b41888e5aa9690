// Expected failures: a code for programs, a sentence about what happened, and a hint on what to do. Any
// other thrown error is a bug. They end up in logs, on terminals and in models' contexts, so they never contain
// well-known tokens.
import { maskTokens } from './tokens.ts';

/** The codes, with their exit status. docs/errors.md explains each. */
export const ERRORS = {
  USAGE: { exit: 2 },
  CONFIG_INVALID: { exit: 2 },
  INSTALL_FAILED: { exit: 2 },
  CONFIG_NOT_CHANGED: { exit: 2 },
  LISTEN_FAILED: { exit: 2 },
  AUDIT_FAILED: { exit: 2 },
  LOG_UNREADABLE: { exit: 2 },
  STOP_REFUSED: { exit: 2 },
  STOP_FAILED: { exit: 3 },
  CHILD_UNKNOWN: { exit: 2 },
  CHILD_NOT_CONFIGURED: { exit: 2 },
  SECRET_UNKNOWN: { exit: 2 },
  SECRETS_UNAVAILABLE: { exit: 3 },
  APPROVAL_NEEDED: { exit: 2 },
  CHILD_START_FAILED: { exit: 3 },
  SANDBOX_UNAVAILABLE: { exit: 3 },
  CHILD_PARKED: { exit: 3 },
  CHILD_EXITED: { exit: 3 },
  CHILD_TIMEOUT: { exit: 3 },
  CHILD_BUSY: { exit: 3 },
  CHILD_PROTOCOL: { exit: 3 },
  CHILD_UNREACHABLE: { exit: 3 },
  MESSAGE_TOO_LARGE: { exit: 3 },
  CHILD_SIGN_IN: { exit: 3 },
  SIGN_IN_FAILED: { exit: 3 },
  TOOL_UNKNOWN: { exit: 4 },
  SUBTOOL_UNKNOWN: { exit: 4 },
  TOOL_NOT_ALLOWED: { exit: 4 },
  TOOL_HELD: { exit: 4 },
  TOOL_ARGUMENTS: { exit: 4 },
  TOOL_FAILED: { exit: 4 },
  HOOK_DENIED: { exit: 4 },
  HOOK_FAILED: { exit: 4 },
  AGENT_UNKNOWN: { exit: 5 },
  AGENT_TOO_DEEP: { exit: 5 },
  AGENT_TIMEOUT: { exit: 5 },
  AGENT_BUSY: { exit: 5 },
  AGENT_INVALID: { exit: 5 },
  ENGINE_MISSING: { exit: 5 },
  ENGINE_FAILED: { exit: 5 },
  ASSISTANT_NOT_CONFIGURED: { exit: 2 },
  ASSISTANT_FAILED: { exit: 4 },
  CANCELLED: { exit: 130 },
} as const satisfies Record<string, { exit: number }>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly data?: Readonly<Record<string, unknown>>;
}

export class SwitchboardError extends Error {
  override readonly name = 'SwitchboardError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, { hint, cause, data = {} }: ErrorDetails = {}) {
    super(maskTokens(message), { cause });
    this.code = code;
    this.hint = hint === undefined ? undefined : maskTokens(hint);
    this.data = data;
  }

  /** Message and hint, for a person or a model. */
  get text(): string {
    return this.hint === undefined ? this.message : `${this.message} ${this.hint}`;
  }
}

/** For the log, with the stack. */
export function describeBug(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
