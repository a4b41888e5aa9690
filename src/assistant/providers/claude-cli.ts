// Claude through the program `claude`, with the user's own sign-in. It uses tools by itself, so it is
// given a server with exactly those of this child, and nothing else: none of its own tools, no other
// servers, no files that a query names, and its permissions as they are.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { type GroupCommand, withVariables } from '../../base/process.ts';
import { ProgramNotStarted, runProgram } from '../../base/run-program.ts';
import { excerpt } from '../../base/text.ts';
import type { ChoiceParts } from '../choose.ts';
import { tooManyRounds } from '../failures.ts';
import {
  type Delegate,
  type DelegatedAnswer,
  type DelegatedTask,
  ModelFailure,
  NO_USAGE,
  readCount,
  ServerUnreachable,
  type Usage,
} from '../provider.ts';
import { toProviderName } from '../tool-names.ts';
import { ClaudeEvents } from './claude-events.ts';
import { makeRunFolder } from './run-folder.ts';

const KEPT_STDERR_CHARS = 2_000;
/** Milliseconds between SIGTERM and SIGKILL for one that was cancelled. */
const GRACE_MS = 2_000;
/** Inside Claude Code these say so to what it starts: `claude` would not run there again, or take itself for a part of it. */
const OF_THE_HOST = new Set([
  'AI_AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_MESSAGING_SOCKET',
  'CLAUDE_CODE_MESSAGING_TOKEN',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_PROJECT_DIR',
]);
/**
 * What it would do by itself for somebody who works with it: put the text of a file in the place of
 * `@file`, whoever has written that into the query, and read instructions and the state of a repository
 * from the folders around.
 */
const NOT_BY_ITSELF = {
  CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
  CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1',
};
/** The same for versions that do not know these variables: no file at all may be read. */
const EVERY_FILE = 'Read(//**)';

/** What it is there for stands before the query: arguments can be seen by others, and are not long. */
const WHERE_TO_LOOK =
  'What stands between <instructions> and </instructions> at the beginning of a message says what you are there for: follow it.';

export interface ClaudeCliOptions extends ChoiceParts {
  readonly model: string | undefined;
}

export class ClaudeCli implements Delegate, Disposable {
  readonly name = 'claude-cli';
  readonly model: string | undefined;
  readonly #options: ClaudeCliOptions;
  /** The folder it runs in. It finds its conversations again by that, so it stays the same. */
  #folder: string | undefined;

  constructor(options: ClaudeCliOptions) {
    this.#options = options;
    this.model = options.model;
  }

  async run(task: DelegatedTask): Promise<DelegatedAnswer> {
    const { settings } = this.#options;
    const cwd = (this.#folder ??= makeRunFolder());
    const args = this.#arguments(task, cwd);
    const env = this.#environment();
    const answer = readAnswer(await this.#finish({ cmd: 'claude', args, cwd, env }, task));
    if (answer === 'too many rounds') throw tooManyRounds(settings.maxRounds);
    return answer;
  }

  /** Its conversations cannot be gone on with without the folder. */
  [Symbol.dispose](): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  /** As the model knows the server. */
  get #server(): string {
    return toProviderName(this.#options.childName);
  }

  #environment(): NodeJS.ProcessEnv {
    const { env, processes, settings } = this.#options;
    const variables = {
      ...NOT_BY_ITSELF,
      // It waits for its server, which may have to be fetched first, before it asks the model.
      MCP_CONNECTION_NONBLOCKING: '0',
      MCP_TIMEOUT: String(settings.timeoutMs),
      ...processes.mark,
    };
    return withVariables(withoutHost(env), variables);
  }

  #arguments({ tools, session }: DelegatedTask, folder: string): string[] {
    const { toolServer, model, settings } = this.#options;
    // The last one is for the answer.
    const turns = (tools === 'all' ? settings.maxRounds : 0) + 1;
    const server = this.#server;
    const servers =
      tools === 'none'
        ? {}
        : { [server]: { type: 'stdio', ...toolServer, args: [...toolServer.args] } };
    const file = join(folder, 'claude.mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: servers }, null, 2), { mode: 0o600 });
    const words: readonly (readonly string[])[] = [
      ['-p'],
      ['--output-format', 'stream-json', '--verbose'],
      ['--mcp-config', file],
      ['--strict-mcp-config'],
      ['--setting-sources', 'user'],
      ['--tools', ''],
      tools === 'all' ? ['--allowedTools', `mcp__${server}`] : [],
      ['--disallowedTools', EVERY_FILE],
      ['--permission-mode', 'default'],
      ['--max-turns', String(turns)],
      ['--append-system-prompt', WHERE_TO_LOOK],
      model === undefined ? [] : ['--model', model],
      session === undefined ? [] : ['--resume', session],
      // It writes down what is said, to be able to go on with it.
      settings.conversationMs === 0 ? ['--no-session-persistence'] : [],
    ];
    return words.flat();
  }

  /** Hands it what it is asked and waits for its end; one that is cancelled is stopped with all it has started. */
  async #finish(command: GroupCommand, task: DelegatedTask): Promise<Finished> {
    const { cancellation, onUse, onRound } = task;
    const events = new ClaudeEvents({
      onServer: (name, state) => {
        // It would go on at once, and answer without any tool, out of nothing.
        if (name === this.#server && state === 'failed') throw new ServerUnreachable();
      },
      onUse: (tool) => onUse(tool.replace(`mcp__${this.#server}__`, '')),
      onResults: onRound,
    });
    let complained = '';
    const { status } = await runProgram({
      ...command,
      input: inputOf(task),
      onStdout: (text) => events.take(text),
      onStderr: (text) => {
        complained = (complained + text).slice(-KEPT_STDERR_CHARS);
      },
      onProcess: this.#options.processes.onProcess,
      cancellation,
      graceMs: GRACE_MS,
    }).catch((error: unknown) => {
      if (!(error instanceof ProgramNotStarted)) throw error;
      throw new ModelFailure(`the program claude cannot be started: ${error.message}`);
    });
    cancellation.throwIfCancelled();
    events.end();
    return { status, answer: events.answer, words: complained || events.words };
  }
}

/**
 * A conversation that is gone on with has heard what it is there for, unless that names tools, which may
 * be others now. What is asked never stands first: a text that begins with `/` would be a command.
 */
function inputOf({ system, query, tools, session }: DelegatedTask): string {
  if (session !== undefined && tools === 'all') return `<query>\n${query}\n</query>`;
  return `<instructions>\n${system}\n</instructions>\n\n${query}`;
}

function withoutHost(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_THE_HOST.has(name)));
}

interface Finished {
  readonly status: number | null;
  readonly answer: Readonly<Record<string, unknown>> | undefined;
  /** What it said where there is no answer. */
  readonly words: string;
}

function readAnswer({ status, answer, words }: Finished): DelegatedAnswer | 'too many rounds' {
  if (!answer) {
    const said = excerpt(words, 300);
    throw new ModelFailure(said || `claude ended with status ${status} and said nothing`);
  }
  const { result, is_error: isError, subtype, session_id: session, num_turns: rounds } = answer;
  if (subtype === 'error_max_turns') return 'too many rounds';
  if (isError === true || typeof result !== 'string') {
    const said = [result, subtype].find((word) => typeof word === 'string');
    throw new ModelFailure(excerpt(said ?? 'it gives no reason', 300));
  }
  return {
    text: result,
    usage: toUsage(answer['usage']),
    rounds: typeof rounds === 'number' ? rounds : undefined,
    session: typeof session === 'string' ? session : undefined,
  };
}

function toUsage(usage: unknown): Usage {
  if (!isObject(usage)) return NO_USAGE;
  const count = (key: string): number => readCount(usage[key]);
  return {
    inputTokens:
      count('input_tokens') +
      count('cache_read_input_tokens') +
      count('cache_creation_input_tokens'),
    outputTokens: count('output_tokens'),
  };
}
