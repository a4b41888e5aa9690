// The person at the terminal as the one for whom an agent works: asked, when it wants approval
// for something, with yes or no.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { isObject } from '../base/object.ts';
import { cleanText } from '../base/text.ts';
import type { Caller, Question } from '../mcp/caller.ts';
import { cannotAnswer } from '../mcp/questions.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Progress } from './progress.ts';

export class TerminalCaller implements Caller {
  readonly party = this;
  readonly era = 'handshake';
  readonly capabilities = { elicitation: { form: {} } };
  readonly info = undefined;
  readonly logLevel = undefined;
  readonly #progress: Progress;
  /** One question after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /** Undefined where nobody sits at a terminal. */
  static open(progress: Progress): TerminalCaller | undefined {
    return process.stdin.isTTY && process.stderr.isTTY ? new TerminalCaller(progress) : undefined;
  }

  private constructor(progress: Progress) {
    this.#progress = progress;
  }

  async ask(question: Question): Promise<Verbatim> {
    const next = this.#last.then(() => this.#askNow(question));
    this.#last = next.catch(() => {}); // whoever asked hears of it
    return next;
  }

  noteMissing(): void {
    // The run has been told, and says what comes of it.
  }

  log(): void {
    // Not wanted here.
  }

  pageVisited(): void {
    // No page is ever visited from here.
  }

  async #askNow({ method, params, cancellation }: Question): Promise<Verbatim> {
    const { message, requestedSchema } = isObject(params?.value) ? params.value : {};
    const content = answersFor(requestedSchema);
    if (method !== 'elicitation/create' || !content) throw cannotAnswer(method);
    const isYes = await this.#progress.paused(async () => {
      // Lines as the system's own terminal makes them: it also knows what Ctrl-C is.
      const { stdin: input, stderr: output } = process;
      const terminal = createInterface({ input, output, terminal: false });
      try {
        const answer = terminal.question(`${cleanText(String(message))}\nAllow it? [y/N] `);
        const ended = once(terminal, 'close').then(() => ''); // Ctrl-D
        return /^y(es)?$/i.test((await cancellation.orElse(Promise.race([answer, ended]))).trim());
      } finally {
        terminal.close();
      }
    });
    return Verbatim.of(isYes ? { action: 'accept', content } : { action: 'decline' });
  }
}

/** A form that yes fills in: at most one field, for yes or no. Undefined for any other. */
function answersFor(schema: unknown): Record<string, unknown> | undefined {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const fields = Object.entries(properties);
  if (fields.length > 1) return undefined;
  return fields.every(([, field]) => isObject(field) && field['type'] === 'boolean')
    ? Object.fromEntries(fields.map(([name]) => [name, true]))
    : undefined;
}
