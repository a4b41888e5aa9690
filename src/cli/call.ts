// `switchboard call <child> <subtool> [json]`: one call, as a host would make it.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { cleanText, escapeHidden } from '../base/text.ts';
import { RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { callSubtool } from '../surface/subtool.ts';
import { createOutput } from './output.ts';
import { Progress } from './progress.ts';
import { readStdin } from './stdin.ts';
import { type CommandOptions, chosenChild, withSwitchboard } from './with-switchboard.ts';

export async function call(
  childName: string,
  subtool: string,
  json: string | undefined,
  options: CommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const args = readArguments(json);
  const result = await withSwitchboard(options, async ({ config, switchboard, cancellation }) => {
    const child = chosenChild(config, childName);
    using progress = new Progress();
    const answer = callSubtool(
      switchboard.pool,
      child,
      { meta: undefined, cancellation, onProgress: undefined },
      subtool,
      args,
    );
    return await progress.during(`${childName} ${subtool}`, answer.catch(asToolFailure));
  });
  if (output.isJson) process.stdout.write(`${escapeHidden(result.text)}\n`);
  else output.line(formatResult(result.value));
  return isObject(result.value) && result.value['isError'] === true ? 4 : 0;
}

function readArguments(json: string | undefined): Verbatim {
  if (json === undefined) return Verbatim.of({});
  const text = json === '-' ? readStdin('The arguments', HOW_TO_PIPE) : json;
  let args: Verbatim;
  try {
    args = Verbatim.parse(text);
  } catch (error) {
    throw new SwitchboardError(
      'USAGE',
      `The arguments are not valid JSON: ${(error as Error).message}.`,
      {
        hint: `Write them as one word for the shell: switchboard call memory search_nodes '{"query": "tea"}'`,
      },
    );
  }
  if (isObject(args.value)) return args;
  throw new SwitchboardError('USAGE', 'The arguments must be a JSON object.', {
    hint: `For example: '{"query": "tea"}'`,
  });
}

const HOW_TO_PIPE = `Pipe them in: echo '{"query": "tea"}' | switchboard call memory search_nodes -`;

function asToolFailure(error: unknown): never {
  if (!(error instanceof RpcError)) throw error;
  const data = { code: error.code, data: error.data?.value };
  throw new SwitchboardError('TOOL_FAILED', error.message, { cause: error, data });
}

/** A tool result for a person: its texts, and a word for what cannot be shown on a terminal. */
function formatResult(value: unknown): string {
  const content = isObject(value) && Array.isArray(value['content']) ? value['content'] : [];
  const parts = content.map((item: unknown) => {
    const { type, text, mimeType, data, uri } = isObject(item) ? item : {};
    if (type === 'text') return cleanText(String(text));
    const size = typeof data === 'string' ? `, ${Math.ceil((data.length * 3) / 4)} bytes` : '';
    return `[${cleanText([type, mimeType, uri].filter(Boolean).join(' '))}${size}]`;
  });
  return parts.join('\n');
}
