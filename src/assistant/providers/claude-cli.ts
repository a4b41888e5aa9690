// Claude through the program `claude`, with the user's own sign-in. It uses tools by itself, so it is
// given a server with exactly those of this child, and nothing else: none of its own tools, no other
// servers, and its permissions as they are.
import type { ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cancellation } from '../../base/cancellation.ts';
import { isGroupAlive, signalGroup, spawnGroup, withVariables } from '../../base/process.ts';
import { excerpt } from '../../base/text.ts';
import { isObject } from '../../rpc/message.ts';
import type { ChoiceParts } from '../choose.ts';
import { tooManyRounds } from '../failures.ts';
import {
  type Delegate,
  type DelegatedAnswer,
  type DelegatedTask,
  ModelFailure,
  NO_USAGE,
  readCount,
  type Usage,
} from '../provider.ts';
import { toProviderName } from '../tool-names.ts';
import { makeRunFolder } from './run-folder.ts';

const MOST_OUTPUT_CHARS = 16 << 20;
const KEPT_STDERR_CHARS = 2_000;
/** Milliseconds between SIGTERM and SIGKILL for one that was called off. */
const GRACE_MS = 2_000;
/** Inside Claude Code these say so to what it starts, and `claude` would not run there again. */
const OF_THE_HOST = new Set(['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT']);

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
    const { cancellation } = task;
    const { processes, settings } = this.#options;
    cancellation.throwIfCancelled();
    // There is nothing in it that `claude` would read by itself.
    const cwd = (this.#folder ??= makeRunFolder());
    const env = withVariables(withoutHost(this.#options.env), processes.mark);
    const args = this.#arguments(task, cwd);
    const claude = await spawnGroup({ cmd: 'claude', args, cwd, env }).catch((cause: unknown) => {
      throw new ModelFailure(`the program claude cannot be started: ${String(cause)}`);
    });
    if (claude.pid !== undefined) processes.onProcess(claude.pid);
    const answer = readAnswer(await finish(claude, inputOf(task), cancellation));
    if (answer === 'too many rounds') throw tooManyRounds(settings.maxRounds);
    return answer;
  }

  /** Its conversations are gone with the folder. */
  [Symbol.dispose](): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  #arguments({ tools, session }: DelegatedTask, folder: string): string[] {
    const { childName, toolServer, model, settings } = this.#options;
    // The last one is for the answer.
    const turns = (tools === 'all' ? settings.maxRounds : 0) + 1;
    const server = toProviderName(childName);
    const servers =
      tools === 'none'
        ? {}
        : { [server]: { type: 'stdio', ...toolServer, args: [...toolServer.args] } };
    const file = join(folder, 'claude.mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: servers }, null, 2), { mode: 0o600 });
    const words: readonly (readonly string[])[] = [
      ['-p'],
      ['--output-format', 'json'],
      ['--mcp-config', file],
      ['--strict-mcp-config'],
      ['--tools', ''],
      tools === 'all' ? ['--allowedTools', `mcp__${server}`] : [],
      ['--permission-mode', 'default'],
      ['--max-turns', String(turns)],
      ['--append-system-prompt', WHERE_TO_LOOK],
      model === undefined ? [] : ['--model', model],
      session === undefined ? [] : ['--resume', session],
    ];
    return words.flat();
  }
}

/** A conversation that is gone on with has heard it before, unless it names tools, which may be others now. */
function inputOf({ system, query, tools, session }: DelegatedTask): string {
  if (session !== undefined && tools === 'all') return query;
  return `<instructions>\n${system}\n</instructions>\n\n${query}`;
}

function withoutHost(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_THE_HOST.has(name)));
}

interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Hands it what it is asked and waits for its end; one that is called off is ended with all it has started. */
async function finish(
  claude: ChildProcess,
  input: string,
  cancellation: Cancellation,
): Promise<Finished> {
  const { pid, stdin, stdout, stderr } = claude;
  let said = '';
  let complained = '';
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < MOST_OUTPUT_CHARS) said += text;
  });
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    complained = (complained + text).slice(-KEPT_STDERR_CHARS);
  });
  stdin?.on('error', () => {}); // it has ended before it has read all: its end says why
  stdin?.end(input);
  let killing: NodeJS.Timeout | undefined;
  const end = (): void => {
    if (pid === undefined) return;
    signalGroup(pid, 'SIGTERM');
    killing = setTimeout(() => signalGroup(pid, 'SIGKILL'), GRACE_MS);
  };
  cancellation.listen(end);
  const status = await new Promise<number | null>((resolve) => claude.once('close', resolve));
  cancellation.unlisten(end);
  clearTimeout(killing);
  if (pid !== undefined && isGroupAlive(pid)) signalGroup(pid, 'SIGKILL'); // what it has left behind
  cancellation.throwIfCancelled();
  return { status, stdout: said, stderr: complained };
}

function readAnswer({ status, stdout, stderr }: Finished): DelegatedAnswer | 'too many rounds' {
  const answer = parseAnswer(stdout);
  if (!answer) {
    const words = excerpt(stderr || stdout, 300);
    throw new ModelFailure(words || `claude ended with status ${status} and said nothing`);
  }
  const { result, is_error: isError, subtype, session_id: session, num_turns: rounds } = answer;
  if (subtype === 'error_max_turns') return 'too many rounds';
  if (isError === true || typeof result !== 'string') {
    const words = [result, subtype].find((word) => typeof word === 'string');
    throw new ModelFailure(excerpt(words ?? 'it gives no reason', 300));
  }
  return {
    text: result,
    usage: toUsage(answer['usage']),
    rounds: typeof rounds === 'number' ? rounds : undefined,
    session: typeof session === 'string' ? session : undefined,
  };
}

/** One object, or, as some settings have it, a list of which the last is the one. */
function parseAnswer(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    return isObject(last) ? last : undefined;
  } catch {
    return undefined; // what it said instead is quoted
  }
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
