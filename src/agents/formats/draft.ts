// An agent file's content before its tools and model are mapped to the engine's. Every parser returns
// this, so that the rest of the code doesn't know the format.
import { cleanText, excerpt } from '../../base/text.ts';
import type { AgentServer, AgentSummary, RunFields, ToolReference } from '../agent.ts';
import { defaultDescription } from '../engines.ts';

export interface Draft extends AgentSummary {
  readonly instructions: string | undefined;
  /** As written. */
  readonly instructionsFile: string | undefined;
  readonly run: RunFields;
  /** As written. */
  readonly tools: readonly string[];
  /** As written. */
  readonly deniedTools: readonly string[];
  /** The tools named in its server declarations. */
  readonly references: readonly ToolReference[];
  readonly servers: ReadonlyMap<string, AgentServer>;
  /** Each as `3: …`, with the line. */
  readonly warnings: readonly string[];
}

/** UTF-16 read as UTF-8 is full of NULs, which text files don't contain. */
export function isReadable(text: string): boolean {
  return !text.includes('\0');
}

export interface AgentFile {
  /** Absolute. Used for names and origins, not opened. */
  readonly file: string;
  readonly text: string;
  /** The base of relative paths. */
  readonly project: string;
  /** What `~` expands to. */
  readonly homeFolder: string;
}

export const EMPTY_DRAFT = {
  instructions: undefined,
  instructionsFile: undefined,
  run: {},
  tools: [],
  deniedTools: [],
  references: [],
  servers: new Map<string, AgentServer>(),
} satisfies Partial<Draft>;

/** Sentences quote file content of any length. */
export const LONGEST_SENTENCE = 500;

/** Why a file isn't an agent. The message is `3: …`, with the line. */
export class AgentFileError extends Error {
  override readonly name = 'AgentFileError';
  /** The missing key, if that's the problem. */
  readonly missing: string | undefined;

  constructor(line: number, problem: string, missing?: string) {
    super(excerpt(`${line}: ${problem}`, LONGEST_SENTENCE));
    this.missing = missing;
  }
}

export interface Warnings {
  readonly list: readonly string[];
  /** As `3: …`. Called only if there is room, because a file may be full of mistakes. */
  readonly add: (warning: () => string) => void;
}

const MOST_WARNINGS = 20;

export function createWarnings(): Warnings {
  const list: string[] = [];
  return {
    list,
    add: (warning) => {
      if (list.length < MOST_WARNINGS) list.push(excerpt(warning(), LONGEST_SENTENCE));
    },
  };
}

/** Longer than any real description, short enough for a tool list. */
const LONGEST_DESCRIPTION = 8_000;

/** Models read this, so it drops invisible characters and always has a description. */
export function summarize(
  name: string,
  description: string | undefined,
  tags: readonly string[],
): AgentSummary {
  const clean = (text: string) => cleanText(text).trim();
  const shown = clean(name);
  if (shown === '') throw new AgentFileError(1, 'The name has no visible characters.');
  const said = clean(description ?? '')
    .slice(0, LONGEST_DESCRIPTION)
    .toWellFormed();
  return {
    name: shown,
    description: said || defaultDescription(shown),
    tags: tags.map(clean).filter((tag) => tag !== ''),
  };
}
