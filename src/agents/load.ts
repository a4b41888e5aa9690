// Loads an agent for a run: reads its file again, so that the run uses the current file, and maps its tools and
// model to the engine's. The names it was listed under stay.
import { dirname, resolve } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { pathInside } from '../base/paths.ts';
import { readTextFile } from '../base/read-text.ts';
import { excerpt } from '../base/text.ts';
import type { AgentSettings } from '../config/config.ts';
import { withoutByteOrderMark } from '../config/files/files.ts';
import { type Gate, type GatedText, isOutside } from '../config/files/gate.ts';
import { expandHome } from '../config/files/globs.ts';
import type { Subject } from '../config/judge.ts';
import type { Agent, ListedAgent } from './agent.ts';
import type { Engine } from './engine.ts';
import { AgentFileError, type Draft, isReadable, LONGEST_SENTENCE } from './formats/draft.ts';
import { parseAgentFile } from './formats/parse.ts';
import { withBuiltins } from './formats/run-fields.ts';
import { agentName, agentSubject, readAgentFile, readApproved } from './gated.ts';
import { loadModelMap, mapModel } from './model-map.ts';
import type { AgentRoots } from './places.ts';
import { type LimitedRun, limitRun, rightsOf, withoutProvider } from './rights.ts';
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
  const { draft, origin, limits, ...own } = await readDraft(listed, roots, gate);
  const mapped = mapTools(draft, dialect, settings);
  // A switch in the file takes precedence over its list of tools.
  const wanted = withBuiltins(own.run, mapped.builtins);
  const hasModel = wanted.model !== undefined || wanted.provider !== undefined;
  const map =
    settings.modelMapEnable && hasModel
      ? await loadModelMap(settings.modelMapFile, roots.project, engine.models, gate)
      : undefined;
  const usersProvider = await engine.configuredProvider();
  const usual = usersProvider ?? engine.models.defaultProvider;
  const isUsual = (provider: string) =>
    (map?.providers.get(provider.trim().toLowerCase()) ?? provider) === usual;
  const { run, ...ignored } = origin
    ? withoutProvider(wanted, isUsual)
    : { run: wanted, warnings: [] };
  const model = map ? mapModel(run, map, settings, usersProvider) : { run, warnings: [] };
  const text = await instructionsOf(draft, { ...listed, origin }, roots, gate);
  const warnings = [...ignored.warnings, ...text.warnings, ...mapped.warnings, ...model.warnings];
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
    limits,
  };
}

interface ReadDraft extends LimitedRun {
  readonly draft: Draft;
  /** Undefined if the agent isn't the project's. */
  readonly origin: Subject['origin'] | undefined;
}

async function readDraft(
  { name, file, dialect }: ListedAgent,
  roots: AgentRoots,
  gate: Gate | undefined,
): Promise<ReadDraft> {
  const read: GatedText | 'waiting' = gate
    ? await readAgentFile(file, dialect, gate)
    : { ...readTextFile(file), origin: undefined };
  if (read === 'waiting') throw waiting(name, file);
  if ('problem' in read) {
    const what = `Agent "${name}" can't be loaded. ${file}: ${read.problem}`;
    throw new SwitchboardError('AGENT_INVALID', what, {
      hint: 'Restore the file, or run `switchboard reload` to refresh the list of agents.',
    });
  }
  try {
    const { text, origin } = read;
    const draft = await parseAgentFile(dialect, { file, text, ...roots });
    const { run } = draft;
    const rights = rightsOf(run);
    const isGranted =
      !gate ||
      origin === undefined ||
      rights.length === 0 ||
      gate.grants({ ...agentSubject({ file, dialect, text, origin }), rights });
    const limited = isGranted ? { run, limits: [] } : limitRun(run, agentName(file));
    return { draft, origin, ...limited };
  } catch (cause) {
    if (!(cause instanceof AgentFileError)) throw cause;
    const what = `Agent "${name}" can't be loaded. ${file}:${cause.message}`;
    throw new SwitchboardError('AGENT_INVALID', what, { hint: 'Fix the file.', cause });
  }
}

function waiting(name: string, file: string): SwitchboardError {
  return new SwitchboardError(
    'APPROVAL_NEEDED',
    `Agent "${name}" needs your approval: ${file} came with the project's repository.`,
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
  { name, file, dialect, origin }: ListedAgent & Pick<ReadDraft, 'origin'>,
  roots: AgentRoots,
  gate: Gate | undefined,
): Promise<Instructions> {
  const { instructionsFile, instructions } = draft;
  const owner = origin ? 'project' : 'user';
  const where = instructionPlaces(draft, { file, dialect }, roots, owner);
  const outside = () => outsideError({ name, file }, instructionsFile, owner);
  const readFirst = () => readFirstOf(where, { name, file }, gate, outside);
  if (instructionsFile !== undefined) {
    if (where.places.length === 0) throw outside();
    const text = await readFirst();
    if (text !== undefined) return { instructions: text, warnings: [] };
    const instead =
      instructions === undefined ? 'The agent has no instructions' : 'Using "instructions" instead';
    const warning = `instructions_file: "${instructionsFile}" is blank or can't be read. ${instead}.`;
    return { instructions, warnings: [warning] };
  }
  return { instructions: instructions ?? (await readFirst()), warnings: [] };
}

export interface InstructionPlaces {
  readonly places: readonly string[];
  /** The folders they have to be in, once links are followed. */
  readonly within: readonly string[];
}

/**
 * Where an agent's instructions may be, apart from its own file. A project's agent must not have the model read other
 * files of the user's, such as keys.
 */
export function instructionPlaces(
  { instructionsFile, instructions }: Draft,
  { file, dialect }: Pick<ListedAgent, 'file' | 'dialect'>,
  { project, homeFolder }: AgentRoots,
  owner: 'project' | 'user',
): InstructionPlaces {
  const within = owner === 'project' ? [project] : [dirname(file), homeFolder, project];
  if (instructionsFile === undefined) {
    const isBeside = instructions === undefined && dialect === 'switchboard-toml';
    return { places: isBeside ? [file.replace(/\.toml$/i, '.prompt.md')] : [], within };
  }
  const path = expandHome(instructionsFile, homeFolder);
  const paths = [resolve(project, path), resolve(dirname(file), path)];
  const isWithin = (place: string) =>
    within.some((folder) => pathInside(folder, place) !== undefined);
  return { places: [...new Set(paths)].filter(isWithin), within };
}

function outsideError(
  { name, file }: Pick<ListedAgent, 'name' | 'file'>,
  instructionsFile: string | undefined,
  owner: 'project' | 'user',
): SwitchboardError {
  const what =
    instructionsFile === undefined
      ? 'Its .prompt.md file'
      : `instructions_file: ${JSON.stringify(excerpt(instructionsFile, LONGEST_SENTENCE))}`;
  const where =
    owner === 'project'
      ? 'outside the project'
      : "outside the agent's folder, your home and the project";
  return new SwitchboardError(
    'AGENT_INVALID',
    `Agent "${name}" can't be loaded. ${file}: ${what} is ${where}.`,
    {
      hint: `Move the instructions ${owner === 'project' ? 'into the project' : 'to one of these folders'}, or put them in the agent's own file.`,
    },
  );
}

/** The first file that exists and isn't blank. */
async function readFirstOf(
  { places, within }: InstructionPlaces,
  agent: Pick<ListedAgent, 'name' | 'file'>,
  gate: Gate | undefined,
  outside: () => SwitchboardError,
): Promise<string | undefined> {
  for (const file of places) {
    const read = gate
      ? await readApproved('instructions', agentName(agent.file), file, gate, { within })
      : readTextFile(file);
    if (read === 'waiting') throw waiting(agent.name, file);
    if ('problem' in read && isOutside(read)) throw outside();
    const text = 'text' in read ? withoutByteOrderMark(read.text).trim() : '';
    if (text !== '' && isReadable(text)) return text;
  }
  return undefined;
}
