// `switchboard run <agent> "<task>"`: one run of an agent, as a host would have it, with what it does
// shown on a terminal while it does it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ListedAgent } from '../agents/agent.ts';
import type { EngineEvent } from '../agents/engine.ts';
import { listAgents } from '../agents/list.ts';
import { SwitchboardError } from '../base/errors.ts';
import { cleanText, excerpt } from '../base/text.ts';
import { unknownAgent } from '../surface/agent-tools.ts';
import { createOutput } from './output.ts';
import { Progress } from './progress.ts';
import { TerminalCaller } from './terminal-caller.ts';
import { type CommandOptions, withSwitchboard } from './with-switchboard.ts';
import { workingFolder } from './working-folder.ts';

export interface RunOptions extends CommandOptions {
  readonly cwd?: string | undefined;
}

const LONGEST_NOTE = 200;

export async function runAgent(name: string, given: string, options: RunOptions): Promise<number> {
  const output = createOutput(options);
  const task = given === '-' ? readTask() : given;
  const cwd = resolve(workingFolder(), options.cwd ?? '.');
  const result = await withSwitchboard(options, async ({ config, switchboard, cancellation }) => {
    const { agents } = await listAgents({ ...config, settings: config.agents });
    const agent = chosenAgent(agents, name);
    using progress = new Progress();
    const run = (await switchboard.crew()).runs.run(
      agent,
      { task, cwd },
      {
        cancellation,
        caller: TerminalCaller.open(progress),
        onEvent: (event) => show(event, progress),
      },
    );
    return progress.during(agent.toolName, run);
  });
  output.json(result);
  if (!output.isJson) {
    const stream = result.ok ? process.stdout : process.stderr;
    stream.write(`${cleanText(result.output).trimEnd()}\n`);
  }
  return result.ok ? 0 : 5;
}

/** By its tool's name, the name in its file, or that name as tools have it. */
export function chosenAgent(agents: readonly ListedAgent[], name: string): ListedAgent {
  const wanted = name.toLowerCase();
  const found =
    agents.find(({ toolName }) => toolName === name) ??
    agents.find((agent) => agent.name.toLowerCase() === wanted || agent.safeName === wanted);
  if (found) return found;
  throw unknownAgent(
    name,
    agents.map(({ toolName }) => toolName),
  );
}

function show({ kind, text }: EngineEvent, progress: Progress): void {
  if (kind === 'text' || kind === 'starting') return;
  progress.note(`  ${kind === 'warning' ? 'warning: ' : ''}${excerpt(text, LONGEST_NOTE)}`);
}

function readTask(): string {
  try {
    return readFileSync(0, 'utf8');
  } catch (cause) {
    throw new SwitchboardError('USAGE', `The task cannot be read from stdin: ${String(cause)}.`, {
      hint: 'Pipe it in: echo "Explain the build" | switchboard run NAME -',
      cause,
    });
  }
}
