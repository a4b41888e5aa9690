// The shortest way to an answer: the model is asked once which call is meant, and the result of that is
// the answer, as it is. A model that does more than that in its words is not understood.
import type { Verbatim } from '../rpc/verbatim.ts';
import { notACall } from './failures.ts';
import { askModel, finalText, type Said, type Task } from './loop.ts';
import { readToldCall } from './told-call.ts';
import { findTool, nameTools } from './tool-names.ts';
import type { Toolbox } from './toolbox.ts';
import type { Work } from './work.ts';

export async function askForCall(task: Task): Promise<Said> {
  const question = { role: 'user', text: task.query } as const;
  const answer = await askModel(task, [question], []);
  const text = finalText(answer, task.settings);
  // Its words alone: a use of tools, which it was not given, would never be answered.
  return { text, turn: [question, { role: 'said', text }] };
}

/** Carries out the call that a model has told; undefined where its answer is none. */
export async function carryOutTold(
  text: string,
  toolbox: Toolbox,
  work: Work,
): Promise<Verbatim | undefined> {
  const told = readToldCall(text);
  if (!told) return undefined;
  const { subtool, args } = told;
  const tool = findTool(nameTools(toolbox.tools), subtool);
  if (!tool) throw toolbox.refusal(subtool);
  return work.call(toolbox, tool.name, args);
}

/** The same where nothing but a call will do. */
export async function mustCarryOut(text: string, toolbox: Toolbox, work: Work): Promise<Verbatim> {
  const result = await carryOutTold(text, toolbox, work);
  if (result) return result;
  throw notACall();
}
