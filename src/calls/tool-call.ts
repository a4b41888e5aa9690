// A tool call, through any of our tools: checks it, sends it to the running server, turns the answer into a tool
// result, and explains a misspelled name.
import { SwitchboardError } from '../base/errors.ts';
import { nearest, printable, revealHidden } from '../base/text.ts';
import type { Child } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import { isReadOnly } from '../mcp/annotations.ts';
import { isHeld, type RefusedTool } from '../mcp/clean-lists.ts';
import { isInputRequired } from '../mcp/results.ts';
import { isTask, wrapTasksIn } from '../mcp/tasks.ts';
import { isErrorResult, toJsonResult, toToolResult } from '../mcp/tools.ts';
import type { Pool } from '../pool/pool.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Call, ReadOnlyClaim } from './call.ts';
import { useChild } from './starting.ts';
import { isListed } from './usable.ts';

export async function callTool(pool: Pool, call: Call): Promise<Verbatim> {
  const { server, target: subtool, params, context } = call;
  // Before the start: a call that is refused must not start the server.
  if (call.readOnly) await requireReadOnly(pool, call, call.readOnly);
  const used = useChild(pool, server, context);
  const child = used instanceof Promise ? await used : used; // awaiting a running child costs a turn
  if (context.task && !(child.greeting.era === context.caller?.era && child.hasTasks)) {
    throw new RpcError(
      METHOD_NOT_FOUND,
      `Server "${server.name}" cannot run "${subtool}" as a task.`,
    );
  }
  for (const refused of child.refusedTools) {
    if (refused.name === subtool) await refuse(pool, call, child, refused);
  }
  try {
    const answer = await child.callTool(subtool, params, context);
    if (isInputRequired(answer.value)) return answer;
    if (isTask(answer.value)) return wrapTask(answer, call);
    const result = toResult(child, answer, call);
    return isErrorResult(answer.value)
      ? withSuggestion(result, await findUnknown(child, call))
      : result;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const unknown = await findUnknown(child, call);
    // To the model this is a failed call like any other, and it should read both explanations.
    if (unknown)
      throw new SwitchboardError(
        unknown.code,
        `${unknown.text} The server's error: ${error.message}.`,
      );
    throw error;
  }
}

/** Throws, unless the user has accepted a held tool in the meantime. */
async function refuse(pool: Pool, call: Call, child: Child, refused: RefusedTool): Promise<void> {
  const { server, target, context } = call;
  if (!isHeld(refused)) throw hidesCharacters(server, target);
  pool.remember(server, await child.listTools({ cancellation: context.cancellation }));
  const now = child.refusedTools.find(({ name }) => name === target);
  if (now) throw isHeld(now) ? heldBack('Subtool', server, now) : hidesCharacters(server, target);
}

/** Lists the server's tools if it isn't known yet whether this one is read-only. */
async function requireReadOnly(pool: Pool, call: Call, claim: ReadOnlyClaim): Promise<void> {
  const { server, target } = call;
  if (!pool.toolHints(server.name, target)) await learnTools(pool, call);
  const hints = pool.toolHints(server.name, target);
  if (hints && isReadOnly(hints)) return;
  throw new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subtool "${target}" of server "${server.name}" is not marked as read-only, so ${claim.suite} cannot call it.`,
    { hint: claim.hint },
  );
}

/** Lists the server's tools, for decisions that depend on them. */
export async function learnTools(pool: Pool, { server, context }: Call): Promise<void> {
  const child = await useChild(pool, server, context);
  pool.remember(server, await child.listTools({ cancellation: context.cancellation }));
}

/** The task under an ID that only this session can use. */
function wrapTask(answer: Verbatim, { server, context: { caller } }: Call): Verbatim {
  const sign = (text: string): string => caller?.sign?.(text) ?? '';
  return wrapTasksIn(answer, { childName: server.name, sign });
}

/** The server's own failure result with our explanation appended. */
function withSuggestion(result: Verbatim, unknown: SwitchboardError | undefined): Verbatim {
  const content = result.member('content');
  if (unknown === undefined || content === undefined) return result;
  const item = Verbatim.of({ type: 'text', text: unknown.text });
  return result.with('content', content.append(item));
}

/** Explains a refused call if the server lists no such tool. */
async function findUnknown(
  child: Child,
  { server, target, context, through }: Call,
): Promise<SwitchboardError | undefined> {
  // Without a list, the server's own message is all we have.
  const isKnown = await child.hasTool(target, context.cancellation).catch(() => true);
  const { toolNames } = child;
  return isKnown || toolNames.length === 0
    ? undefined
    : unknownSubtool(server, target, toolNames, through);
}

function toResult(child: Child, answer: Verbatim, { server, target }: Call): Verbatim {
  const result = server.wrapResults === 'json' ? toJsonResult(answer) : toToolResult(answer);
  if (result) return result;
  throw new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${server.name}" returned an invalid result for subtool "${target}": ${child.excerptOf(answer)}`,
  );
}

/** `names`: the tools the server has, exposed or not. */
export function unknownSubtool(
  { name, expose, rules }: ChildConfig,
  subtool: string,
  names: readonly string[],
  through: Call['through'] = 'suite',
): SwitchboardError {
  const exposed = names.filter(
    (each) => isExposed(each, expose) && isListed({ kind: 'tool', name: each }, { rules }),
  );
  const near = nearest(subtool, exposed).map((word) => `"${word}"`);
  const suggestion = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : '';
  const list =
    through === 'suite'
      ? `The action "introspect" (in a terminal: switchboard tools ${name}) lists its subtools.`
      : '';
  return new SwitchboardError('SUBTOOL_UNKNOWN', `Server "${name}" has no subtool "${subtool}".`, {
    hint: `${suggestion} ${list}`.trim() || undefined,
  });
}

/** `what`: "Subtool" or "Prompt". */
export function heldBack(
  what: string,
  { name: server }: ChildConfig,
  { name, where }: RefusedTool,
): SwitchboardError {
  const because = where === 'scan' ? 'its definition looks unsafe' : 'its definition has changed';
  return new SwitchboardError(
    'TOOL_HELD',
    `${what} "${printable(name)}" of server "${server}" is held: ${because}.`,
    {
      hint: `Ask the user to review it in a terminal with: switchboard changes ${server}`,
      data: { child: server },
    },
  );
}

function hidesCharacters({ name }: ChildConfig, subtool: string): SwitchboardError {
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subtool "${revealHidden(subtool)}" of server "${name}" cannot be called: its definition contains hidden characters.`,
    { hint: `In a terminal, switchboard doctor ${name} shows where.` },
  );
}
