// `switchboard run <agent> "<task>"`: runs an agent as a host would, and shows its steps on the terminal.
import { resolve } from 'node:path';
import type { ListedAgent } from '../../agents/agent.ts';
import type { EngineEvent, EngineResult } from '../../agents/engine.ts';
import { type AgentList, listAgents } from '../../agents/list.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { cleanText, excerpt } from '../../base/text.ts';
import type { Config } from '../../config/config.ts';
import { unknownAgent } from '../../surface/agent-tools.ts';
import type { Switchboard } from '../../switchboard.ts';
import { createOutput } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { readStdin } from '../terminal/stdin.ts';
import { isOnTerminal, TerminalCaller } from '../terminal/terminal-caller.ts';
import { workingFolder } from '../working-folder.ts';
import { type CommandOptions, printWarnings, withSwitchboard } from './with-switchboard.ts';

export interface RunCommandOptions extends CommandOptions {
  readonly cwd?: string | undefined;
}

const LONGEST_NOTE = 200;
const HOW_TO_PIPE = 'Pipe it in: echo "Explain the build" | switchboard run NAME -';

export async function runAgent(
  name: string,
  given: string,
  options: RunCommandOptions,
): Promise<number> {
  const output = createOutput({ ...options, isExact: true });
  const task = given === '-' ? readStdin('the task', HOW_TO_PIPE) : given;
  const cwd = folderOfRun(options);
  const shown = { ...options, warnings: 'shown' } as const;
  const result = await withSwitchboard(shown, async ({ config, switchboard, cancellation }) => {
    printWarnings(config.warnings);
    const { agents } = await findAgents(config, switchboard);
    const agent = chosenAgent(agents, name);
    using progress = new Progress();
    const watch = new Watch(progress);
    const run = (await switchboard.crew()).runs.run(
      agent,
      { task, cwd },
      {
        cancellation,
        caller: isOnTerminal() ? new TerminalCaller(progress) : undefined,
        onEvent: (event) => watch.show(event),
      },
    );
    const ended = await progress.during(agent.toolName, run);
    watch.end(ended);
    return ended;
  });
  output.json(result);
  if (!output.isJson) {
    const stream = result.ok ? process.stdout : process.stderr;
    stream.write(`${cleanText(result.output).trimEnd()}\n`);
    for (const note of result.notes ?? []) process.stderr.write(`note: ${cleanText(note)}\n`);
  }
  return result.ok ? 0 : 5;
}

/** An empty value is probably an unset variable, not the current folder. */
function folderOfRun({ cwd = '.' }: RunCommandOptions): string {
  if (cwd !== '') return resolve(workingFolder(), cwd);
  throw new SwitchboardError('USAGE', '--cwd is empty.', {
    hint: 'Name a folder, or leave out --cwd to use the current one.',
  });
}

/** The agents, with the tool names that hosts see. */
export async function findAgents(config: Config, { board }: Switchboard): Promise<AgentList> {
  const list = await listAgents({ ...config, settings: config.agents });
  return { ...list, agents: [...board.nameAgents(list.agents).values()] };
}

/** By tool name, name in the file, or safe name. */
export function chosenAgent(agents: readonly ListedAgent[], name: string): ListedAgent {
  const wanted = name.toLowerCase();
  const found =
    agents.find(({ toolName }) => toolName === name) ??
    agents.find((agent) => agent.name.toLowerCase() === wanted || agent.safeName === wanted);
  if (found) return found;
  throw unknownAgent(
    name,
    agents.flatMap(({ toolName, safeName }) => [toolName, safeName]),
  );
}

/**
 * Shows a run's steps. The last message is the result, which is printed at the end, so each message is held back until
 * something follows it.
 */
class Watch {
  readonly #progress: Progress;
  #message = '';

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  show({ kind, text }: EngineEvent): void {
    // Warnings are already in the log on stderr.
    if (kind !== 'message' && kind !== 'step') return;
    this.#note(this.#message);
    this.#message = kind === 'message' ? text : '';
    if (kind === 'step') this.#note(text);
  }

  end({ ok, output }: EngineResult): void {
    if (!ok && !output.includes(this.#message)) this.#note(this.#message);
  }

  #note(text: string): void {
    if (text !== '') this.#progress.note(`  ${excerpt(text, LONGEST_NOTE)}`);
  }
}
