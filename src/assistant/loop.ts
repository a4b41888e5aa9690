// The usual way to an answer: the model is given the server's tools as its own and asked again with what
// came of using them, until it uses none. Rounds, calls, time, tokens and the size of results are bounded.
import type { Turn } from './conversation.ts';
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
import { completePatiently } from './retry.ts';
import type { AssistantSettings } from './settings.ts';
import { findTool, type NamedTools, nameTools } from './tool-names.ts';
import type { Toolbox } from './toolbox.ts';
import type { Work } from './work.ts';

export interface Task {
  readonly provider: Provider;
  readonly toolbox: Toolbox;
  readonly settings: AssistantSettings;
  readonly system: string;
  /** What was said before. */
  readonly history: readonly Turn[];
  readonly query: string;
  readonly work: Work;
}

export interface Said {
  readonly text: string;
  /** The query and all that came of it. */
  readonly turn: Turn;
}

/** The most calls that are made for one query: as many as a careful model needs, many times over. */
const MOST_CALLS = 100;
/** What the results of one round may come to together, in results of the longest kind. */
const RESULTS_OF_A_ROUND = 4;

/** The name in it is the model's own, of any length. */
const LONGEST_REFUSAL = 1_000;

const TOO_MANY = {
  text: `Not made: one query may make ${MOST_CALLS} calls. Answer with what you have.`,
  isError: true,
};
const NO_ROOM =
  '(left out, though the call was made: the results of this round are too long together; use fewer tools at once, or ask them for less)';
const NO_ARGUMENTS =
  'Not made: what was written as arguments cannot be read as a JSON object. Write them again.';

export async function runLoop(task: Task): Promise<Said> {
  const { toolbox, settings, work, query } = task;
  const named = nameTools(toolbox.tools);
  const tools = [...named].map(([name, tool]) => toModelTool(name, tool));
  const turn: Message[] = [{ role: 'user', text: query }];
  while (work.rounds <= settings.maxRounds) {
    const answer = await askModel(task, turn, tools);
    turn.push({ role: 'assistant', answer });
    // First of all: what a model wants to do in an answer that was refused is not done.
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

/** One round with the model; what it costs is written down. */
export async function askModel(
  { provider, system, history, work }: Task,
  turn: readonly Message[],
  tools: readonly ModelTool[],
): Promise<Completion> {
  const { deadline } = work;
  work.beginRound();
  const request = {
    system,
    messages: takingTurns([...history.flat(), ...turn]),
    tools,
    cancellation: deadline.cancellation,
  };
  const answer = await completePatiently(provider, request, {
    remainingMs: () => deadline.remainingMs,
    onWait: (ms) => work.noteWait(ms),
  });
  work.noteUsage(answer.usage);
  return answer;
}

/** Some models know only that one speaks after the other: what the user says in a row is said at once. */
function takingTurns(messages: readonly Message[]): Message[] {
  const taken: Message[] = [];
  for (const message of messages) {
    const last = taken.at(-1);
    const isSame = message.role === 'user' && last?.role === 'user';
    if (isSame) taken.splice(-1, 1, { role: 'user', text: `${last.text}\n\n${message.text}` });
    else taken.push(message);
  }
  return taken;
}

/** The text of an answer in which nothing more is wanted. */
export function finalText(
  { text, stop }: Pick<Completion, 'text' | 'stop'>,
  { maxTokens }: AssistantSettings,
): string {
  if (stop === 'refused') throw refused(text);
  if (text.trim() === '') throw stop === 'limit' ? nothingSaidYet(maxTokens) : noAnswer();
  return stop === 'limit' ? `${text}\n(The answer was cut off at ${maxTokens} tokens.)` : text;
}

/** One after the other, as the model wrote them: the second may rest on what the first has done. */
async function carryOutAll(
  uses: readonly ToolUse[],
  named: NamedTools,
  task: Task,
): Promise<ToolOutcome[]> {
  const { settings, work } = task;
  const { maxResultChars } = settings;
  const outcomes: ToolOutcome[] = [];
  let room = RESULTS_OF_A_ROUND * maxResultChars;
  for (const use of uses) {
    // Every use must be answered, and there may be thousands.
    const isTooMany = Math.max(outcomes.length, work.deeds.length) >= MOST_CALLS;
    const maxChars = Math.min(maxResultChars, room);
    const outcome = isTooMany ? TOO_MANY : await carryOut(use, named, task, maxChars);
    room = Math.max(0, room - outcome.text.length);
    outcomes.push({ id: use.id, ...outcome });
  }
  return outcomes;
}

async function carryOut(
  { name, args }: ToolUse,
  named: NamedTools,
  { toolbox, work }: Task,
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
