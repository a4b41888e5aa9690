// Mode "single": the model chooses one call, written as `{"subtool": …, "args": …}`, and the call's result is the
// answer. Models also write calls like this when they should make them.
import { isObject } from '../base/object.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { notACall } from './failures.ts';
import { askModel, finalText, type LoopResult, type ModelTask } from './loop.ts';
import { findTool, nameTools } from './tool-names.ts';
import type { Toolbox } from './toolbox.ts';
import type { QueryWork } from './work.ts';

export async function askForCall(task: ModelTask): Promise<LoopResult> {
  const question = { role: 'user', text: task.query } as const;
  const answer = await askModel(task, [question], []);
  const text = finalText(answer, task.settings);
  // Only its text: it has no tools, so a tool use would never get a result.
  return { text, turn: [question, { role: 'said', text }] };
}

/** Makes the call the model wrote; undefined if its answer isn't a call. */
export async function carryOut(
  text: string,
  toolbox: Toolbox,
  work: QueryWork,
): Promise<Verbatim | undefined> {
  const call = readCall(text);
  if (!call) return undefined;
  const { subtool, args } = call;
  const tool = findTool(nameTools(toolbox.tools), subtool);
  if (!tool) throw toolbox.refusal(subtool);
  return work.call(toolbox, tool.name, args);
}

/** Throws if the answer isn't a call. */
export async function mustCarryOut(
  text: string,
  toolbox: Toolbox,
  work: QueryWork,
): Promise<Verbatim> {
  const result = await carryOut(text, toolbox, work);
  if (result) return result;
  throw notACall();
}

export interface WrittenCall {
  readonly subtool: string;
  readonly args: Verbatim;
}

const CODE_BLOCK = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/;

/** Undefined unless the answer is exactly a call, bare or in a code block. */
export function readCall(answer: string): WrittenCall | undefined {
  const text = answer.trim();
  const json = CODE_BLOCK.exec(text)?.[1] ?? text;
  if (!json.trimStart().startsWith('{')) return undefined;
  let call: Verbatim;
  try {
    call = Verbatim.parse(json);
  } catch {
    return undefined; // it only looks like one
  }
  if (!isObject(call.value)) return undefined;
  const { subtool, args, ...others } = call.value;
  if (typeof subtool !== 'string' || Object.keys(others).length > 0) return undefined;
  if (args === undefined || args === null) return { subtool, args: Verbatim.of({}) };
  const given = call.member('args');
  return given && isObject(args) ? { subtool, args: given } : undefined;
}
