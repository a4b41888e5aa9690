// Asks a host's user to approve pending items, records the answers, and has the configuration read again. Whether
// a person answers is up to the host.
import type { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { harmlessName, isWaiting, type JudgedSubject } from '../../config/judge.ts';
import type { Caller } from '../../mcp/caller.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import type { AuditSink } from '../audit/events.ts';
import { recordDecisions } from './decide.ts';
import { createForm, type Decided, readForm } from './form.ts';

export interface HostQuestionsParts {
  readonly home: string;
  readonly log: Log;
  readonly audit: () => AuditSink | undefined;
  /** Puts the decisions into effect. */
  readonly reload: () => Promise<unknown>;
}

export class HostQuestions {
  readonly #parts: HostQuestionsParts;
  /** The hashes that calls have asked about: users aren't asked twice. */
  readonly #asked = new Set<string>();

  constructor(parts: HostQuestionsParts) {
    this.#parts = parts;
  }

  /** Asks about everything at once. Never rejects because of the host or a file. */
  async askAll(
    judged: readonly JudgedSubject[],
    host: Pick<Caller, 'ask'>,
    cancellation: Cancellation,
  ): Promise<void> {
    const { log } = this.#parts;
    try {
      await this.#ask(
        judged.filter(({ verdict }) => isWaiting(verdict)),
        host,
        cancellation,
      );
    } catch (error) {
      if (!(error instanceof SwitchboardError)) throw error;
      log.warn(error.text);
    }
  }

  /** Asks about the server that is listed under this name, once. */
  async askAbout(
    { name, origin }: { readonly name: string; readonly origin: string },
    judged: readonly JudgedSubject[],
    caller: Pick<Caller, 'ask'>,
    cancellation: Cancellation,
  ): Promise<void> {
    const nothing = new Set<string>();
    const found = judged.filter(
      ({ subject, verdict }) =>
        subject.kind === 'server' &&
        isWaiting(verdict) &&
        subject.file === origin &&
        harmlessName(subject.name, nothing) === name,
    );
    const [one, ...others] = found;
    if (!one || others.length > 0 || this.#asked.has(one.hash)) return;
    this.#asked.add(one.hash);
    await this.#ask([one], caller, cancellation);
  }

  async #ask(
    waiting: readonly JudgedSubject[],
    host: Pick<Caller, 'ask'>,
    cancellation: Cancellation,
  ): Promise<void> {
    const form = createForm(waiting);
    if (!form) return;
    const params = Verbatim.of(form.params);
    const asked = host.ask({ method: 'elicitation/create', params, cancellation });
    // The host disconnected or doesn't support the request, or nobody answered in time.
    const answer = await asked.catch((error: unknown) => {
      this.#parts.log.debug(`could not ask about pending items: ${String(error)}`);
    });
    cancellation.throwIfCancelled();
    if (answer) await this.#record(readForm(answer.value, form));
  }

  async #record({ approved, denied }: Decided): Promise<void> {
    const { home, reload } = this.#parts;
    if (approved.length + denied.length === 0) return;
    const audit = this.#parts.audit();
    await recordDecisions(home, approved, 'approved', 'host', audit);
    await recordDecisions(home, denied, 'denied', 'host', audit);
    await reload();
  }
}
