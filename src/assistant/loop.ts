// Mode "loop": the model gets the server's tools, and is prompted again with their results until it calls no more.
// Rounds, calls, time, tokens and the size of results are limited.
import type { Exchange } from './conversation.ts';
import { cut } from './cut.ts';
import {
  answerTooLong,
  noAnswer,
  nothingSaidYet,
  refused,
  tooManyRounds,
  tooManyTokens,
} from './failures.ts';
import type { Completion, Message, ModelTool, Provider, ToolOutcome, ToolUse } from './provider.ts';
import { completeWithRetries } from './retry.ts';
import type { AssistantSettings } from './settings.ts';
import { findTool, nameTools, type ToolsByName } from './tool-names.ts';
import type { Toolbox } from './toolbox.ts';
import type { QueryWork } from './work.ts';

export interface ModelTask {
  readonly provider: Provider;
  readonly toolbox: Toolbox;
  readonly settings: AssistantSettings;
  readonly system: string;
  readonly history: readonly Exchange[];
  readonly query: string;
  readonly work: QueryWork;
}

export interface LoopResult {
  readonly text: string;
  /** The query and everything up to the answer. */
  readonly turn: Exchange;
}

/** Per query; many times what a careful model needs. */
const MOST_CALLS = 100;
/** The results of one round may be as long as this many results of maximum length. */
const RESULTS_OF_A_ROUND = 4;

/** It quotes the model's own name for the tool, which may be long. */
const LONGEST_REFUSAL = 1_000;

const TOO_MANY = {
  text: `Not called: the limit is ${MOST_CALLS} calls per query. Answer with what you have.`,
  isError: true,
};
const NO_ROOM =
  '(The tool was called, but its result is omitted because the results of this round are too long. Use fewer tools at once, or request less.)';
const NO_ARGUMENTS = 'Not called: the arguments are not a valid JSON object. Try again.';

export async function runLoop(task: ModelTask): Promise<LoopResult> {
  const { toolbox, settings, work, query } = task;
  const named = nameTools(toolbox.tools);
  const tools = [...named].map(([name, tool]) => toModelTool(name, tool));
  const turn: Message[] = [{ role: 'user', text: query }];
  while (work.rounds <= settings.maxRounds) {
    const answer = await askModel(task, turn, tools);
    turn.push({ role: 'assistant', answer });
    // First: the tool calls of a refused answer must not be made.
    if (answer.stop === 'refused') throw refused(answer.text);
    if (answer.toolCalls.length === 0) return { text: finalText(answer, settings), turn };
    if (answer.stop === 'limit') throw answerTooLong(settings.maxTokens);
    if (work.rounds > settings.maxRounds) break;
    const { inputTokens, outputTokens } = work.usage;
    if (inputTokens + outputTokens >= settings.maxTotalTokens) {
      throw tooManyTokens(settings.maxTotalTokens);
    }
    turn.push({ role: 'tools', outcomes: await carryOutAll(answer.toolCalls, named, task) });
  }
  throw tooManyRounds(settings.maxRounds);
}

/** One round with the model, including its cost. */
export async function askModel(
  { provider, system, history, work }: ModelTask,
  turn: readonly Message[],
  tools: readonly ModelTool[],
): Promise<Completion> {
  const { deadline } = work;
  work.beginRound();
  const request = {
    system,
    messages: joinUserMessages([...history.flat(), ...turn]),
    tools,
    cancellation: deadline.cancellation,
  };
  const answer = await completeWithRetries(provider, request, {
    remainingMs: () => deadline.remainingMs,
    onWait: (ms) => work.noteWait(ms),
  });
  work.noteUsage(answer.usage);
  return answer;
}

/** Some models accept only alternating roles, so consecutive user messages become one. */
function joinUserMessages(messages: readonly Message[]): Message[] {
  const taken: Message[] = [];
  for (const message of messages) {
    const last = taken.at(-1);
    const isSame = message.role === 'user' && last?.role === 'user';
    if (isSame) taken.splice(-1, 1, { role: 'user', text: `${last.text}\n\n${message.text}` });
    else taken.push(message);
  }
  return taken;
}

/** The text of a final answer. */
export function finalText(
  { text, stop }: Pick<Completion, 'text' | 'stop'>,
  { maxTokens }: AssistantSettings,
): string {
  if (stop === 'refused') throw refused(text);
  if (text.trim() === '') throw stop === 'limit' ? nothingSaidYet(maxTokens) : noAnswer();
  return stop === 'limit' ? `${text}\n(The answer was cut off at ${maxTokens} tokens.)` : text;
}

/** In order, because a call may depend on the one before. */
async function carryOutAll(
  uses: readonly ToolUse[],
  named: ToolsByName,
  task: ModelTask,
): Promise<ToolOutcome[]> {
  const { settings, work } = task;
  const { maxResultChars } = settings;
  const outcomes: ToolOutcome[] = [];
  let room = RESULTS_OF_A_ROUND * maxResultChars;
  for (const use of uses) {
    // Every use needs a result, and there may be thousands.
    const isTooMany = Math.max(outcomes.length, work.calls.length) >= MOST_CALLS;
    const maxChars = Math.min(maxResultChars, room);
    const outcome = isTooMany ? TOO_MANY : await carryOut(use, named, task, maxChars);
    room = Math.max(0, room - outcome.text.length);
    outcomes.push({ id: use.id, ...outcome });
  }
  return outcomes;
}

async function carryOut(
  { name, args }: ToolUse,
  named: ToolsByName,
  { toolbox, work }: ModelTask,
  maxChars: number,
): Promise<Omit<ToolOutcome, 'id'>> {
  const subtool = findTool(named, name)?.name;
  if (subtool === undefined) {
    return { text: cut(toolbox.refusal(name).text, LONGEST_REFUSAL), isError: true };
  }
  if (!args) return { text: NO_ARGUMENTS, isError: true };
  const outcome = await work.callForModel(toolbox, subtool, args, maxChars);
  return maxChars > 0 ? outcome : { ...outcome, text: NO_ROOM };
}

function toModelTool(name: string, tool: Toolbox['tools'][number]): ModelTool {
  const { description, inputSchema } = tool;
  return {
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema:
      typeof inputSchema === 'object' && inputSchema !== null
        ? (inputSchema as Record<string, unknown>)
        : { type: 'object' },
  };
}
