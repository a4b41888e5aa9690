// Lists the agents. Every session's first response has to wait for this, so files are read only if
// they have changed since last time.
import { basename } from 'node:path';
import { type ReadText, readTextFile } from '../base/read-text.ts';
import type { AgentSettings } from '../config/config.ts';
import type { Gate } from '../config/files/gate.ts';
import type { Dialect, ListedAgent } from './agent.ts';
import { type FoundFile, findAgentFiles } from './find.ts';
import { readAgentFile } from './gated.ts';
import { createToolNamer, safeName } from './names.ts';
import { type AgentPlace, type AgentRoots, agentPlaces } from './places.ts';
import { type Outcome, openSummaryCache } from './summary-cache.ts';

export interface ListAgentsOptions extends AgentRoots {
  readonly settings: Pick<AgentSettings, 'formats' | 'extraFormats' | 'filter' | 'modelMapFile'>;
  /** Switchboard's own folder, which holds the cache. */
  readonly home: string;
  /** Judges the project's files; without it, all are trusted. */
  readonly gate?: Gate | undefined;
}

export interface AgentList {
  readonly agents: readonly ListedAgent[];
  /** How many others the filter hides. */
  readonly hidden: number;
  /** The folders searched. */
  readonly folders: readonly string[];
  /** Problems with files and folders: sentences that name them. */
  readonly problems: readonly string[];
  /** Files in agent folders that aren't agents: sentences that name them. */
  readonly skipped: readonly string[];
  /** The problems of ignored agents, except those that came with the project. */
  readonly broken?: readonly string[];
}

export async function listAgents({
  settings,
  home,
  gate,
  ...roots
}: ListAgentsOptions): Promise<AgentList> {
  const { formats, filter, modelMapFile } = settings;
  const isAgent = (file: string) =>
    basename(file).toLowerCase() !== 'model-map.toml' && file !== modelMapFile;
  const places = agentPlaces(settings, roots);
  const folders = [...new Set(places.map(({ folder }) => folder))];
  const found = findAgentFiles(places, isAgent);
  const problems = [...found.problems];
  if (found.files.length === 0) {
    return { agents: [], hidden: 0, folders, problems, skipped: [] };
  }
  gate?.expect(found.files.map(({ file }) => file));
  const cache = openSummaryCache(home);
  const unnamed: Unnamed[] = [];
  const skipped: string[] = [];
  const broken: string[] = [];
  let waiting = 0;
  for (const { place, file, real, stat } of found.files) {
    const { kind, dialect, host } = place;
    const read = gate?.covers(file) ? await readUnlessNote(place, file, gate) : undefined;
    if (read === 'waiting') {
      waiting++;
      continue;
    }
    // The text that was approved is the one to read.
    const isApproved = read !== undefined && 'origin' in read && read.origin === 'foreign';
    let outcome: Outcome | string | undefined = isApproved
      ? undefined
      : cache.get(real, stat, dialect);
    if (outcome === undefined) {
      outcome = await inspect({ place, file }, read ?? readTextFile(file), roots);
      if (typeof outcome !== 'string' && !isApproved) cache.remember(real, stat, dialect, outcome);
    }
    if (typeof outcome === 'string') {
      problems.push(`${file}: ${outcome}`);
      continue;
    }
    const { summary } = outcome;
    const sentences = outcome.problems.map((problem) => `${file}:${problem}`);
    problems.push(...sentences);
    if (!summary && !isApproved) broken.push(...sentences);
    if (outcome.skipped !== undefined) skipped.push(`${file}: ${outcome.skipped}`);
    if (summary) {
      unnamed.push({ ...summary, kind, dialect, file, host, safeName: safeName(summary.name) });
    }
  }
  cache.save();
  if (waiting > 0) problems.push(describeWaitingAgents(waiting));
  // Before filtering, so that names don't depend on the filter.
  const all = nameAgents(unnamed, ({ kind }) => formats[kind].prefix);
  const agents = all.filter((agent) => isWanted(agent, filter));
  return { agents, hidden: all.length - agents.length, folders, problems, skipped, broken };
}

type Unnamed = Omit<ListedAgent, 'toolName'>;

function nameAgents(
  agents: readonly Unnamed[],
  prefixOf: (agent: Unnamed) => string,
): ListedAgent[] {
  const wanted = (agent: Unnamed) => prefixOf(agent) + agent.safeName;
  const toolName = createToolNamer(agents.map(wanted));
  return agents.map((agent) => Object.assign(agent, { toolName: toolName(wanted(agent)) }));
}

/** The file's summary, or a sentence about why it can't be read. */
async function inspect(
  { place, file }: Pick<FoundFile, 'place' | 'file'>,
  read: ReadText,
  roots: AgentRoots,
): Promise<Outcome | string> {
  if ('problem' in read) return read.problem;
  const isPlain = mayBeNote(place.dialect, file);
  if (isPlain && isNote(read.text)) {
    return { summary: undefined, problems: [], skipped: 'Not an agent: no front matter.' };
  }
  const [{ parseAgentFile }, { AgentFileError }] = await Promise.all([
    import('./formats/parse.ts'),
    import('./formats/draft.ts'),
  ]);
  try {
    const draft = await parseAgentFile(place.dialect, { file, text: read.text, ...roots });
    const { name, description, tags, warnings } = draft;
    return { summary: { name, description, tags }, problems: warnings };
  } catch (error) {
    if (!(error instanceof AgentFileError)) throw error;
    if (isPlain && error.missing === 'name') {
      return { summary: undefined, problems: [], skipped: 'Not an agent: no name.' };
    }
    return { summary: undefined, problems: [`${error.message} The agent is ignored.`] };
  }
}

function describeWaitingAgents(count: number): string {
  const what = count === 1 ? 'One agent' : `${count} agents`;
  const verb = count === 1 ? 'needs' : 'need';
  return `${what} came with the project's repository and ${verb} your approval. Run: switchboard trust`;
}

/** A note for people needs no approval: it isn't used. */
async function readUnlessNote({ dialect }: AgentPlace, file: string, gate: Gate) {
  if (mayBeNote(dialect, file)) {
    const read = readTextFile(file);
    if ('text' in read && isNote(read.text)) return read;
  }
  return readAgentFile(file, dialect, gate);
}

function isNote(text: string): boolean {
  return !text.trimStart().startsWith('---');
}

/** Folders with agents in plain `.md` files also hold notes for people. */
function mayBeNote(dialect: Dialect, file: string): boolean {
  return (dialect === 'claude' || dialect === 'copilot') && !/\.agent\.md$/i.test(file);
}

/** Whether an item of the filter, or a word in one, is the agent's name, safe name or tag. */
function isWanted({ name, safeName: safe, tags }: ListedAgent, filter: readonly string[]): boolean {
  if (filter.length === 0) return true;
  const own = new Set([name, safe, ...tags].map((word) => word.toLowerCase()));
  const wanted = filter.map((item) => item.toLowerCase());
  return wanted.some((item) => [item, ...item.split(/\s+/)].some((word) => own.has(word)));
}
