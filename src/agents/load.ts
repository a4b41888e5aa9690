// An agent for a run: its file is read again, so that a run follows what the file says now, and tools and
// model are mapped to what the engine has. Its names stay those under which it was called.
import { dirname, isAbsolute, resolve } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { readTextFile } from '../base/read-text.ts';
import { excerpt } from '../base/text.ts';
import type { AgentSettings } from '../config/config.ts';
import { withoutByteOrderMark } from '../config/files/files.ts';
import { expandHome } from '../config/files/globs.ts';
import type { Agent, ListedAgent } from './agent.ts';
import { AgentFileError, type Draft, isReadable, LONGEST_SENTENCE } from './formats/draft.ts';
import { parseAgentFile } from './formats/parse.ts';
import { loadModelMap, mapModel } from './model-map.ts';
import type { Roots } from './places.ts';
import { mapTools } from './tool-map.ts';

export interface LoadOptions extends Roots {
  readonly settings: AgentSettings;
  /** The provider that the user's Codex configuration names. Asked only for an agent with a model. */
  readonly usersProvider: () => Promise<string | undefined>;
}

/** Rejects with AGENT_INVALID where the file is gone or no agent any more. */
export async function loadAgent(
  listed: ListedAgent,
  { settings, usersProvider, ...roots }: LoadOptions,
): Promise<Agent> {
  const { file, dialect } = listed;
  const draft = await readDraft(listed, roots);
  const mapped = mapTools(draft, dialect, settings);
  // What a file says of a switch outright counts more than what its list of tools amounts to.
  const run = { ...mapped.run, ...draft.run };
  const hasModel = run.model !== undefined || run.modelProvider !== undefined;
  const map =
    settings.modelMapEnable && hasModel
      ? await loadModelMap(settings.modelMapFile, roots.project)
      : undefined;
  const model = map ? mapModel(run, map, settings, await usersProvider()) : { run, warnings: [] };
  const text = instructionsOf(draft, listed, roots);
  const sayings = [...text.warnings, ...mapped.warnings, ...model.warnings];
  return {
    ...listed,
    instructions: text.instructions,
    run: model.run,
    tools: mapped.tools,
    servers: mapped.servers,
    warnings: [
      ...draft.warnings.map((warning) => `${file}:${warning}`),
      ...sayings.map((says) => `${file}: ${excerpt(says, LONGEST_SENTENCE)}`),
      ...(map?.warnings ?? []),
    ],
  };
}

async function readDraft({ name, file, dialect }: ListedAgent, roots: Roots): Promise<Draft> {
  const read = readTextFile(file);
  if ('problem' in read) {
    const what = `The file of agent "${name}" cannot be used. ${file}: ${read.problem}`;
    throw new SwitchboardError('AGENT_INVALID', what, {
      hint: 'Put it back, or run `switchboard reload` to have the agents listed anew.',
    });
  }
  try {
    return await parseAgentFile(dialect, { file, text: read.text, ...roots });
  } catch (cause) {
    if (!(cause instanceof AgentFileError)) throw cause;
    const what = `The file of agent "${name}" cannot be used. ${file}:${cause.message}`;
    throw new SwitchboardError('AGENT_INVALID', what, { hint: 'Correct the file.', cause });
  }
}

interface Instructions {
  readonly instructions: string | undefined;
  /** Sentences without file and line. */
  readonly warnings: readonly string[];
}

/** The file that is named, the text in the agent's own file, or a file beside it of the same name. */
function instructionsOf(draft: Draft, { file, dialect }: ListedAgent, roots: Roots): Instructions {
  const { instructionsFile, instructions } = draft;
  if (instructionsFile !== undefined) {
    const text = readFirst(placesOf(instructionsFile, file, roots));
    if (text !== undefined) return { instructions: text, warnings: [] };
    const instead = instructions === undefined ? 'The agent has none' : '"instructions" are used';
    const says = `instructions_file: "${instructionsFile}" is blank or cannot be read. ${instead}.`;
    return { instructions, warnings: [says] };
  }
  const beside = dialect === 'switchboard-toml' ? [file.replace(/\.toml$/i, '.prompt.md')] : [];
  return { instructions: instructions ?? readFirst(beside), warnings: [] };
}

function placesOf(written: string, file: string, { project, homeFolder }: Roots): string[] {
  const path = expandHome(written, homeFolder);
  return isAbsolute(path) ? [path] : [resolve(project, path), resolve(dirname(file), path)];
}

/** The first text that is there and not blank. */
function readFirst(files: readonly string[]): string | undefined {
  for (const file of files) {
    const read = readTextFile(file);
    const text = 'text' in read ? withoutByteOrderMark(read.text).trim() : '';
    if (text !== '' && isReadable(text)) return text;
  }
  return undefined;
}
