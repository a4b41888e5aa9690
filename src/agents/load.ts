// Loads an agent for a run: reads its file again, so that the run uses the current file, and maps its tools and
// model to the engine's. The names it was listed under stay.
import { dirname, isAbsolute, resolve } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { readTextFile } from '../base/read-text.ts';
import { excerpt } from '../base/text.ts';
import type { AgentSettings } from '../config/config.ts';
import { withoutByteOrderMark } from '../config/files/files.ts';
import type { Gate } from '../config/files/gate.ts';
import { expandHome } from '../config/files/globs.ts';
import type { Agent, ListedAgent } from './agent.ts';
import type { Engine } from './engine.ts';
import { AgentFileError, type Draft, isReadable, LONGEST_SENTENCE } from './formats/draft.ts';
import { parseAgentFile } from './formats/parse.ts';
import { withBuiltins } from './formats/run-fields.ts';
import { agentName, readAgentFile, readApproved } from './gated.ts';
import { loadModelMap, mapModel } from './model-map.ts';
import type { AgentRoots } from './places.ts';
import { mapTools } from './tool-map.ts';

export interface LoadAgentOptions extends AgentRoots {
  readonly settings: AgentSettings;
  readonly engine: Pick<Engine, 'models' | 'configuredProvider'>;
  /** Judges the project's files; without it, all are trusted. */
  readonly gate?: Gate | undefined;
}

/** Rejects with AGENT_INVALID if the file is gone or no longer an agent. */
export async function loadAgent(
  listed: ListedAgent,
  { settings, engine, gate, ...roots }: LoadAgentOptions,
): Promise<Agent> {
  const { file, dialect } = listed;
  const draft = await readDraft(listed, roots, gate);
  const mapped = mapTools(draft, dialect, settings);
  // A switch in the file takes precedence over its list of tools.
  const run = withBuiltins(draft.run, mapped.builtins);
  const hasModel = run.model !== undefined || run.provider !== undefined;
  const map =
    settings.modelMapEnable && hasModel
      ? await loadModelMap(settings.modelMapFile, roots.project, engine.models, gate)
      : undefined;
  const model = map
    ? mapModel(run, map, settings, await engine.configuredProvider())
    : { run, warnings: [] };
  const text = await instructionsOf(draft, listed, roots, gate);
  const warnings = [...text.warnings, ...mapped.warnings, ...model.warnings];
  return {
    ...listed,
    instructions: text.instructions,
    run: model.run,
    tools: mapped.references,
    servers: mapped.servers,
    warnings: [
      ...draft.warnings.map((warning) => `${file}:${warning}`),
      ...warnings.map((warning) => `${file}: ${excerpt(warning, LONGEST_SENTENCE)}`),
      ...(map?.warnings ?? []),
    ],
  };
}

async function readDraft(
  { name, file, dialect }: ListedAgent,
  roots: AgentRoots,
  gate: Gate | undefined,
): Promise<Draft> {
  const read = gate ? await readAgentFile(file, dialect, gate) : readTextFile(file);
  if (read === 'waiting') throw waiting(name, file);
  if ('problem' in read) {
    const what = `Agent "${name}" can't be loaded. ${file}: ${read.problem}`;
    throw new SwitchboardError('AGENT_INVALID', what, {
      hint: 'Restore the file, or run `switchboard reload` to refresh the list of agents.',
    });
  }
  try {
    return await parseAgentFile(dialect, { file, text: read.text, ...roots });
  } catch (cause) {
    if (!(cause instanceof AgentFileError)) throw cause;
    const what = `Agent "${name}" can't be loaded. ${file}:${cause.message}`;
    throw new SwitchboardError('AGENT_INVALID', what, { hint: 'Fix the file.', cause });
  }
}

function waiting(name: string, file: string): SwitchboardError {
  return new SwitchboardError(
    'APPROVAL_NEEDED',
    `Agent "${name}" waits for approval: ${file} came with the project's repository.`,
    { hint: 'Run: switchboard trust', data: { agent: name, file } },
  );
}

interface Instructions {
  readonly instructions: string | undefined;
  /** Sentences without file and line. */
  readonly warnings: readonly string[];
}

/** The named file, the text in the agent's own file, or the prompt file next to it. */
async function instructionsOf(
  draft: Draft,
  { name, file, dialect }: ListedAgent,
  roots: AgentRoots,
  gate: Gate | undefined,
): Promise<Instructions> {
  const readFirst = (files: readonly string[]) => readFirstOf(files, { name, file }, gate);
  const { instructionsFile, instructions } = draft;
  const places = instructionPlaces(draft, { file, dialect }, roots);
  if (instructionsFile !== undefined) {
    const text = await readFirst(places);
    if (text !== undefined) return { instructions: text, warnings: [] };
    const instead =
      instructions === undefined ? 'The agent has no instructions' : 'Using "instructions" instead';
    const warning = `instructions_file: "${instructionsFile}" is blank or can't be read. ${instead}.`;
    return { instructions, warnings: [warning] };
  }
  return { instructions: instructions ?? (await readFirst(places)), warnings: [] };
}

/** Where an agent's instructions may be, apart from its own file. */
export function instructionPlaces(
  { instructionsFile, instructions }: Draft,
  { file, dialect }: Pick<ListedAgent, 'file' | 'dialect'>,
  { project, homeFolder }: AgentRoots,
): string[] {
  if (instructionsFile === undefined) {
    const isBeside = instructions === undefined && dialect === 'switchboard-toml';
    return isBeside ? [file.replace(/\.toml$/i, '.prompt.md')] : [];
  }
  const path = expandHome(instructionsFile, homeFolder);
  return isAbsolute(path) ? [path] : [resolve(project, path), resolve(dirname(file), path)];
}

/** The first file that exists and isn't blank. */
async function readFirstOf(
  files: readonly string[],
  agent: Pick<ListedAgent, 'name' | 'file'>,
  gate: Gate | undefined,
): Promise<string | undefined> {
  for (const file of files) {
    const read = gate
      ? await readApproved('instructions', agentName(agent.file), file, gate)
      : readTextFile(file);
    if (read === 'waiting') throw waiting(agent.name, file);
    const text = 'text' in read ? withoutByteOrderMark(read.text).trim() : '';
    if (text !== '' && isReadable(text)) return text;
  }
  return undefined;
}
