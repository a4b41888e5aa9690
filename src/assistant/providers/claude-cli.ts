// Claude through the `claude` program, with the user's own sign-in. It uses tools by itself, so it gets one server
// with exactly this server's tools, and nothing else: no built-in tools, no other servers, no files named in a
// query, default permissions.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { type GroupCommand, withVariables } from '../../base/process.ts';
import { ProgramNotStarted, runProgram } from '../../base/run-program.ts';
import { excerpt } from '../../base/text.ts';
import { withoutCredentials } from '../../child/environment.ts';
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
/** Milliseconds between SIGTERM and SIGKILL after a cancellation. */
const GRACE_MS = 2_000;
/**
 * Claude Code sets these for its own processes. With them, `claude` wouldn't run, or would act as part of the host.
 */
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
 * Switches off interactive features: replacing `@file` in a query with the file's content, and reading
 * instructions and the repository's state from surrounding folders.
 */
const NOT_BY_ITSELF = {
  CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
  CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1',
};
/** For versions without these variables: no file may be read at all. */
const EVERY_FILE = 'Read(//**)';

/** The instructions come with the query, because other users can see arguments, and their length is limited. */
const WHERE_TO_LOOK =
  'Follow the instructions between <instructions> and </instructions> at the beginning of a message.';

export interface ClaudeCliOptions extends ChoiceParts {
  readonly model: string | undefined;
}

export class ClaudeCli implements Delegate, Disposable {
  readonly name = 'claude-cli';
  readonly model: string | undefined;
  readonly #options: ClaudeCliOptions;
  /** Its working folder, kept because it identifies the conversations. */
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

  /** Ends its conversations, which need the folder. */
  [Symbol.dispose](): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  /** The server's name for the model. */
  get #server(): string {
    return toProviderName(this.#options.childName);
  }

  #environment(): NodeJS.ProcessEnv {
    const { env, processes, settings } = this.#options;
    const variables = {
      ...NOT_BY_ITSELF,
      // Wait for the server, which may have to be downloaded, before asking the model.
      MCP_CONNECTION_NONBLOCKING: '0',
      MCP_TIMEOUT: String(settings.timeoutMs),
      ...processes.mark,
    };
    return withVariables(withoutCredentials(withoutHost(env), /^CLAUDE_/i), variables);
  }

  #arguments({ tools, session }: DelegatedTask, folder: string): string[] {
    const { toolServer, model, settings } = this.#options;
    // One more for the answer.
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
      // It stores conversations in order to resume them.
      settings.conversationMs === 0 ? ['--no-session-persistence'] : [],
    ];
    return words.flat();
  }

  /** Sends the query and waits for the end. If cancelled, stops the whole process group. */
  async #finish(command: GroupCommand, task: DelegatedTask): Promise<Finished> {
    const { cancellation, onUse, onRound } = task;
    const events = new ClaudeEvents({
      onServer: (name, state) => {
        // Without the server it would make up an answer.
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
      throw new ModelFailure(`claude could not be started: ${error.message}`);
    });
    cancellation.throwIfCancelled();
    events.end();
    return { status, answer: events.answer, words: complained || events.words };
  }
}

/**
 * A resumed conversation already has the instructions, unless they list tools, which may have changed. The
 * query never comes first, because `/` at the start would make it a command.
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
  /** Its other output. */
  readonly words: string;
}

function readAnswer({ status, answer, words }: Finished): DelegatedAnswer | 'too many rounds' {
  if (!answer) {
    const said = excerpt(words, 300);
    throw new ModelFailure(said || `claude exited with status ${status} and no output`);
  }
  const { result, is_error: isError, subtype, session_id: session, num_turns: rounds } = answer;
  if (subtype === 'error_max_turns') return 'too many rounds';
  if (isError === true || typeof result !== 'string') {
    const said = [result, subtype].find((word) => typeof word === 'string');
    throw new ModelFailure(excerpt(said ?? 'no reason given', 300));
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
