// A call that the model tells in words instead of making it: an answer that is exactly
// `{"subtool": …, "args": …}`, bare or in a code block.
import { isObject } from '../base/object.ts';
import { Verbatim } from '../rpc/verbatim.ts';

export interface ToldCall {
  readonly subtool: string;
  readonly args: Verbatim;
}

const CODE_BLOCK = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/;

/** Undefined for an answer that is anything else. */
export function readToldCall(answer: string): ToldCall | undefined {
  const text = answer.trim();
  const json = CODE_BLOCK.exec(text)?.[1] ?? text;
  if (!json.trimStart().startsWith('{')) return undefined;
  let told: Verbatim;
  try {
    told = Verbatim.parse(json);
  } catch {
    return undefined; // it only looks like one
  }
  if (!isObject(told.value)) return undefined;
  const { subtool, args, ...others } = told.value;
  if (typeof subtool !== 'string' || Object.keys(others).length > 0) return undefined;
  if (args === undefined || args === null) return { subtool, args: Verbatim.of({}) };
  const given = told.member('args');
  return given && isObject(args) ? { subtool, args: given } : undefined;
}
