// One call of a subtool, whatever way of showing children it came through: allowed or not, made by
// the running child, its answer handed on as a tool result, an unknown name explained.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { nearest, revealHidden } from '../base/text.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import { isInputRequired } from '../mcp/results.ts';
import { isTask, wrapTasksIn } from '../mcp/tasks.ts';
import { toJsonResult, toToolResult } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { useChild } from './starting.ts';
import type { SurfaceOptions } from './surface.ts';

export async function callSubtool(
  pool: Pool,
  config: ChildConfig,
  options: SurfaceOptions,
  subtool: string,
  args: Verbatim,
  through: Through = 'suite',
): Promise<Verbatim> {
  if (!isExposed(subtool, config.expose)) throw notAllowed(config, subtool, through);
  const { cancellation } = options;
  const used = useChild(pool, config, options);
  const child = used instanceof Promise ? await used : used; // waiting for what is there costs a turn
  if (options.task && !(child.greeting.era === options.caller?.era && child.hasTasks)) {
    throw new RpcError(
      METHOD_NOT_FOUND,
      `Server "${config.name}" cannot do "${subtool}" as a task.`,
    );
  }
  for (const { name } of child.refusedTools) {
    if (name === subtool) throw hidesCharacters(config, subtool);
  }
  try {
    const answer = await child.callTool(subtool, args, options);
    if (isInputRequired(answer.value)) return answer;
    if (isTask(answer.value)) return wrapTask(answer, config, options);
    const isError = isObject(answer.value) && answer.value['isError'] === true;
    const result = toResult(child, answer, config, subtool);
    if (!isError) return result;
    const unknown = await findUnknown(child, config, subtool, cancellation, through);
    return withSuggestion(result, unknown?.text);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const unknown = await findUnknown(child, config, subtool, cancellation, through);
    // For the model it is a failed call like any other, and it should read both our words.
    if (unknown)
      throw new SwitchboardError(unknown.code, `${unknown.text} It answered: ${error.message}.`);
    throw error;
  }
}

/** The task under an id that only this session can use. */
function wrapTask(answer: Verbatim, config: ChildConfig, { caller }: SurfaceOptions): Verbatim {
  const sign = (text: string): string => caller?.sign?.(text) ?? '';
  return wrapTasksIn(answer, { childName: config.name, sign });
}

/** A child's own failure result, with our explanation appended. */
function withSuggestion(result: Verbatim, text: string | undefined): Verbatim {
  const content = result.member('content');
  if (text === undefined || content === undefined) return result;
  return result.with('content', content.append(Verbatim.of({ type: 'text', text })));
}

/** The error to name, where a child that has refused a call lists no such subtool. */
async function findUnknown(
  child: Child,
  config: ChildConfig,
  subtool: string,
  cancellation: Cancellation,
  through: Through,
): Promise<SwitchboardError | undefined> {
  // Where the list cannot be had, the child's own words are all there is.
  const isKnown = await child.hasTool(subtool, cancellation).catch(() => true);
  return isKnown || child.toolNames.length === 0
    ? undefined
    : unknownSubtool(child, config, subtool, through);
}

function toResult(
  child: Child,
  answer: Verbatim,
  { name, wrapResults }: ChildConfig,
  subtool: string,
): Verbatim {
  const result = wrapResults === 'json' ? toJsonResult(answer) : toToolResult(answer);
  if (result) return result;
  throw new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${name}" answered subtool "${subtool}" with something that is no tool result: ${child.excerptOf(answer)}`,
  );
}

/** How a subtool was called: through a suite, which can also list it, or by its own name. */
type Through = 'suite' | 'tool';

export function unknownSubtool(
  child: Child,
  { name, expose }: ChildConfig,
  subtool: string,
  through: Through = 'suite',
): SwitchboardError {
  const names = child.toolNames.filter((toolName) => isExposed(toolName, expose));
  const near = nearest(subtool, names).map((word) => `"${word}"`);
  const suggestion = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : '';
  const list =
    through === 'suite'
      ? `The action "introspect" (in a terminal: switchboard tools ${name}) lists what it has.`
      : '';
  return new SwitchboardError('SUBTOOL_UNKNOWN', `Server "${name}" has no subtool "${subtool}".`, {
    hint: `${suggestion} ${list}`.trim() || undefined,
  });
}

function hidesCharacters({ name }: ChildConfig, subtool: string): SwitchboardError {
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subtool "${revealHidden(subtool)}" of server "${name}" cannot be called: its definition contains hidden characters.`,
    { hint: `In a terminal, switchboard doctor ${name} shows where.` },
  );
}

export function notAllowed(
  { name }: ChildConfig,
  subtool: string,
  through: Through = 'suite',
): SwitchboardError {
  const list = through === 'suite' ? '; the action "introspect" lists what is allowed' : '';
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subtool '${subtool}' not allowed by Switchboard (suite '${name}').`,
    { hint: `expose.allow and expose.deny in the configuration decide${list}.` },
  );
}
