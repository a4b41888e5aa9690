// Notes when servers start and stop and when agents run. Loaded only if the audit log is on.
import { SwitchboardError } from '../../base/errors.ts';
import type { Child } from '../../child/child.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import type { AuditSink } from './events.ts';

/** Starts a server and notes that. Its end is noted later, and is in `ends` until then. */
export async function auditStart(
  server: string,
  start: () => Promise<Child>,
  audit: AuditSink,
  ends: Set<Promise<void>>,
): Promise<Child> {
  const began = performance.now();
  const noteStart = (outcome: 'ok' | 'failed', pid?: number, code?: string): void => {
    const ms = Math.round(performance.now() - began);
    audit.note({ type: 'start', server, pid, ms, outcome, code });
  };
  let child: Child;
  try {
    child = await start();
  } catch (error) {
    noteStart('failed', undefined, codeOfFailure(error));
    throw error;
  }
  const { pid } = child;
  noteStart('ok', pid);
  const ended = child.ended.then((end) => {
    const { kind: reason } = end;
    const exit = end.kind === 'exited' && { exitCode: end.code, signal: end.signal };
    audit.note({ type: 'stop', server, pid, reason, ...exit });
    ends.delete(ended);
  });
  ends.add(ended);
  return child;
}

export interface WatchedRun {
  readonly agent: string;
  readonly host: string | undefined;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Runs an agent, and notes how that ended. */
export async function auditRun<T extends { readonly ok: boolean }>(
  { agent, host, args }: WatchedRun,
  run: () => Promise<T>,
  audit: AuditSink,
): Promise<T> {
  await audit.admit();
  const began = performance.now();
  const noteEnd = (outcome: string): void => {
    const ms = Math.round(performance.now() - began);
    audit.note({ type: 'run', agent, host, arguments: Verbatim.of(args), ms, outcome });
  };
  let result: T;
  try {
    result = await run();
  } catch (error) {
    noteEnd(codeOfFailure(error) === 'CANCELLED' ? 'cancelled' : 'error');
    throw error;
  }
  noteEnd(result.ok ? 'ok' : 'error');
  return result;
}

function codeOfFailure(error: unknown): string | undefined {
  return error instanceof SwitchboardError ? error.code : undefined;
}
