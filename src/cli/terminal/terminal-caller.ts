// The user at the terminal, as the caller of a tool or an agent: answers questions from servers and approves
// agents' actions. Without a terminal, questions are declined.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Cancellation } from '../../base/cancellation.ts';
import { isObject } from '../../base/object.ts';
import { openInBrowser } from '../../base/process.ts';
import { cleanText, excerpt } from '../../base/text.ts';
import type { Caller, Question } from '../../mcp/caller.ts';
import { cannotAnswer } from '../../mcp/questions.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { askYesNo, type FormAnswer, fillForm, type Prompter } from './form.ts';
import type { Progress } from './progress.ts';

const LONGEST_QUESTION = 300;

/** Whether there is a user to ask. */
export function isOnTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

export class TerminalCaller implements Caller {
  readonly party = this;
  readonly era = 'handshake';
  readonly capabilities = { elicitation: { form: {}, url: {} } };
  readonly info = undefined;
  readonly logLevel = undefined;
  readonly #progress: Progress;
  /** One question after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  async ask(question: Question): Promise<Verbatim> {
    const next = this.#last.then(() => this.#askNow(question));
    this.#last = next.catch(() => {}); // reported to the asker
    return next;
  }

  noteMissing(): void {
    // The call reports the refusal itself.
  }

  log(): void {
    // Not wanted here.
  }

  pageVisited(): void {
    this.#progress.note('Completed in the browser.');
  }

  async #askNow({ method, params, cancellation }: Question): Promise<Verbatim> {
    if (method !== 'elicitation/create') throw cannotAnswer(method);
    const { mode, message, url, requestedSchema } = isObject(params?.value) ? params.value : {};
    const question = cleanText(String(message));
    if (!isOnTerminal()) return Verbatim.of(this.#decline(question));
    const answer = await this.#progress.paused(() =>
      withPrompter(cancellation, async (prompter) => {
        prompter.say(question);
        return mode === 'url' ? askToVisit(url, prompter) : fillForm(requestedSchema, prompter);
      }),
    );
    return Verbatim.of(answer);
  }

  #decline(question: string): FormAnswer {
    const said = excerpt(question, LONGEST_QUESTION);
    process.stderr.write(`${said}\nDeclined: there is no terminal to answer on.\n`);
    return { action: 'decline' };
  }
}

/** Opens only http and https URLs, and only after showing the user the whole URL. */
async function askToVisit(url: unknown, prompter: Prompter): Promise<FormAnswer> {
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) {
    prompter.say('Declined: not an http or https URL.');
    return { action: 'decline' };
  }
  prompter.say(`  ${cleanText(address.href)}`);
  const isWanted = await askYesNo(`Open ${address.host} in your browser`, false, prompter);
  if (isWanted === undefined) return { action: 'cancel' };
  if (!isWanted) return { action: 'decline' };
  if (!(await openInBrowser(address, process.env)))
    prompter.say('No browser found. Open the URL yourself.');
  return { action: 'accept' };
}

/** Reads whole lines and leaves editing to the terminal, so that Ctrl-C stays a signal. */
export async function withPrompter<T>(
  cancellation: Cancellation,
  work: (prompter: Prompter) => Promise<T>,
): Promise<T> {
  const { stdin: input, stderr: output } = process;
  const terminal = createInterface({ input, output, terminal: false });
  const ended = once(terminal, 'close').then(() => undefined); // Ctrl-D
  try {
    return await work({
      ask: (prompt) => cancellation.race(Promise.race([ended, terminal.question(prompt)])),
      say: (line) => void output.write(`${line}\n`),
    });
  } finally {
    terminal.close();
  }
}
