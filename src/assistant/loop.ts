// The usual way to an answer: the model is given the server's tools as its own and asked again with what
// came of using them, until it uses none. Rounds, time, tokens and the size of results are bounded.
import { Verbatim } from '../rpc/verbatim.ts';
import type { Turn } from './conversation.ts';
import { answerTooLong, noAnswer, refused, tooManyRounds, tooManyTokens } from './failures.ts';
import type { Completion, Message, ModelTool, Provider, ToolOutcome, ToolUse } from './provider.ts';
import { completePatiently } from './retry.ts';
import type { AssistantSettings } from './settings.ts';
import { nameTools } from './tool-names.ts';
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

export async function runLoop(task: Task): Promise<Said> {
  const { toolbox, settings, work, query } = task;
  const named = nameTools(toolbox.tools);
  const tools = [...named].map(([name, tool]) => toModelTool(name, tool));
  const turn: Message[] = [{ role: 'user', text: query }];
  while (work.rounds <= settings.maxRounds) {
    const answer = await askModel(task, turn, tools);
    turn.push({ role: 'assistant', answer });
    if (answer.toolCalls.length === 0) return { text: finalText(answer, settings), turn };
    if (answer.stop === 'limit') throw answerTooLong(settings.maxTokens);
    if (work.rounds > settings.maxRounds) break;
    const { inputTokens, outputTokens } = work.usage;
    if (inputTokens + outputTokens >= settings.maxTotalTokens) {
      throw tooManyTokens(settings.maxTotalTokens);
    }
    const outcomes: ToolOutcome[] = [];
    // One after the other, as the model wrote them: the second may rest on what the first has done.
    for (const use of answer.toolCalls) {
      const subtool = named.get(use.name)?.name;
      outcomes.push({ id: use.id, ...(await carryOut(use, subtool, task)) });
    }
    turn.push({ role: 'tools', outcomes });
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
    messages: [...history.flat(), ...turn],
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

/** The text of an answer in which nothing more is wanted. */
export function finalText(
  { text, stop }: Pick<Completion, 'text' | 'stop'>,
  { maxTokens }: AssistantSettings,
): string {
  if (stop === 'refused') throw refused(text);
  if (text.trim() === '') throw noAnswer();
  return stop === 'limit' ? `${text}\n(The answer was cut off at ${maxTokens} tokens.)` : text;
}

async function carryOut(
  { name, args }: ToolUse,
  subtool: string | undefined,
  { toolbox, work }: Task,
): Promise<Omit<ToolOutcome, 'id'>> {
  if (subtool === undefined) return { text: toolbox.refusal(name).text, isError: true };
  if (!args) return { text: 'The arguments must be a JSON object.', isError: true };
  return work.callForModel(toolbox, subtool, Verbatim.of(args));
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
