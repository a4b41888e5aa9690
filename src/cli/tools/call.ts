// `switchboard call <server>.<tool> [arguments…]`: one call, as a host would make it.
import type { CommandServers } from '../../background/command-servers.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { cleanText, escapeHidden, excerpt } from '../../base/text.ts';
import type { CallContext } from '../../calls/call.ts';
import { notAllowed } from '../../calls/expose.ts';
import { denialOf } from '../../calls/permissions.ts';
import { unknownSubtool } from '../../calls/tool-call.ts';
import type { ChildConfig } from '../../config/config.ts';
import { isExposed } from '../../config/server/expose.ts';
import { URL_ELICITATION_REQUIRED } from '../../mcp/eras.ts';
import { textOfResult } from '../../mcp/result-text.ts';
import { typeOfSchema } from '../../mcp/schema-type.ts';
import { signatureOf } from '../../mcp/signature.ts';
import { isErrorResult, type Tool } from '../../mcp/tools.ts';
import { INVALID_PARAMS, RpcError } from '../../rpc/message.ts';
import type { Verbatim } from '../../rpc/verbatim.ts';
import { type CommandOptions, withSwitchboard } from '../commands/with-switchboard.ts';
import { createOutput } from '../terminal/output.ts';
import { downloadNote, Progress } from '../terminal/progress.ts';
import { readStdin } from '../terminal/stdin.ts';
import { TerminalCaller } from '../terminal/terminal-caller.ts';
import { type CallArguments, findMistakes, parseArguments, typeArguments } from './arguments.ts';
import { findTarget } from './target.ts';

export async function call(words: readonly string[], options: CommandOptions): Promise<number> {
  const output = createOutput({ ...options, isExact: true });
  const { result, advice } = await withSwitchboard(
    { ...options, joinsAs: 'call' },
    async ({ config, switchboard, servers, cancellation }) => {
      const { child, subtool, rest } = findTarget(config, words);
      if (subtool === undefined) throw noTool(child);
      const given = parseArguments(rest, () => readStdin('the arguments', HOW_TO_PIPE));
      const { audit } = switchboard.board.calls;
      // Checked first: a call that isn't allowed must not start the server.
      if (!isExposed(subtool, child.expose)) {
        throw notAllowed({ server: child, target: subtool, through: 'suite' }, audit);
      }
      const denial = denialOf(child, subtool, audit);
      if (denial) throw denial;
      using progress = new Progress(output);
      const started = servers.start(child, { cancellation });
      await progress.during(child.name, started, downloadNote(child));
      const name = `${child.name} ${subtool}`;
      const context = {
        cancellation,
        caller: new TerminalCaller(progress),
        onProgress: (params: Verbatim) => progress.describe(name, describeProgress(params.value)),
      };
      const made = new ExplainedCall(servers, child, subtool, context);
      return await progress.during(name, made.answer(given));
    },
  );
  if (output.isJson) process.stdout.write(`${escapeHidden(result.text)}\n`);
  else output.line(cleanText(textOfResult(result.value)));
  if (!isErrorResult(result.value)) return 0;
  if (advice !== undefined && !output.isJson) process.stderr.write(`${cleanText(advice)}\n`);
  return 4;
}

/** Calls a tool, and explains its arguments if the call fails. */
class ExplainedCall {
  readonly #servers: CommandServers;
  readonly #server: ChildConfig;
  readonly #subtool: string;
  readonly #context: CallContext;

  constructor(servers: CommandServers, server: ChildConfig, subtool: string, context: CallContext) {
    this.#servers = servers;
    this.#server = server;
    this.#subtool = subtool;
    this.#context = context;
  }

  /** `advice` says what was wrong with the arguments, if the result is an error because of them. */
  async answer(
    given: CallArguments,
  ): Promise<{ readonly result: Verbatim; readonly advice: string | undefined }> {
    const args = await this.#readArguments(given);
    try {
      const result = await this.#servers.callTool(this.#server, this.#subtool, args, this.#context);
      const advice = isErrorResult(result.value) ? await this.#adviceOn(args) : undefined;
      return { result, advice };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const data = { code: error.code, data: error.data?.value };
      const hint = pagesToVisit(error) ?? (await this.#adviceOn(args, error.code));
      throw new SwitchboardError('TOOL_FAILED', error.message, { cause: error, data, hint });
    }
  }

  async #readArguments(given: CallArguments): Promise<Verbatim> {
    if (given.kind === 'json') return given.args;
    const listed = await this.#servers.listTools(this.#server, this.#context);
    const tools = listed.map(({ tool }) => tool);
    const tool = tools.find(({ name }) => name === this.#subtool);
    if (!tool) {
      const names = tools.map(({ name }) => name);
      throw unknownSubtool(this.#server, this.#subtool, names);
    }
    try {
      return typeArguments(given.pairs, typeOfSchema(tool['inputSchema']));
    } catch (error) {
      if (!(error instanceof SwitchboardError)) throw error;
      throw new SwitchboardError(error.code, error.message, { hint: parametersOf(tool) });
    }
  }

  /** Mistakes in the arguments and the tool's signature; undefined if the arguments look right. */
  async #adviceOn(args: Verbatim, code?: number): Promise<string | undefined> {
    const tool = await this.#findTool();
    if (!tool || !isObject(args.value)) return undefined;
    const mistakes = findMistakes(args.value, typeOfSchema(tool['inputSchema']));
    if (mistakes.length === 0 && code !== INVALID_PARAMS) return undefined;
    return [...mistakes, parametersOf(tool)].join('\n');
  }

  async #findTool(): Promise<Tool | undefined> {
    // The background process may have ended; the call's own error matters more.
    const known = this.#servers.knownTools(this.#server, this.#context).catch(() => undefined);
    return (await known)?.find((tool) => tool.name === this.#subtool);
  }
}

const LONGEST_MESSAGE = 80;

const HOW_TO_PIPE = `Pipe them in: echo '{"query": "tea"}' | switchboard call memory.search_nodes -`;

function noTool({ name }: ChildConfig): SwitchboardError {
  return new SwitchboardError('USAGE', `Missing tool name for server "${name}".`, {
    hint: `List its tools with: switchboard tools ${name}`,
  });
}

function parametersOf(tool: Tool): string {
  return `Parameters: ${signatureOf(tool)}`;
}

/** The URLs the user has to open before the server accepts the call. */
function pagesToVisit({ code, data }: RpcError): string | undefined {
  const { elicitations } = isObject(data?.value) ? data.value : {};
  if (code !== URL_ELICITATION_REQUIRED || !Array.isArray(elicitations)) return undefined;
  const pages = elicitations.flatMap((one: unknown) =>
    isObject(one) && typeof one['url'] === 'string' ? [one['url']] : [],
  );
  return pages.length > 0 ? `Open this first, then try again: ${pages.join(' ')}` : undefined;
}

/** Such as `3/10 Reading files`. */
function describeProgress(params: unknown): string {
  const { progress, total, message } = isObject(params) ? params : {};
  const done = typeof progress === 'number' ? `${progress}` : '';
  const count = typeof total === 'number' ? `${done}/${total}` : done;
  const words = typeof message === 'string' ? excerpt(message, LONGEST_MESSAGE) : '';
  return [count, words].filter(Boolean).join(' ');
}
