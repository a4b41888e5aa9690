// What a file says about an agent, before tools and models are mapped to what the engine has. Every format
// ends here, so that nothing behind this knows which one it was.
import { cleanText, excerpt } from '../../base/text.ts';
import type { AgentServer, AgentSummary, RunFields, ToolReference } from '../agent.ts';

export interface Draft extends AgentSummary {
  readonly instructions: string | undefined;
  /** As written: where it leads depends on who runs the agent. */
  readonly instructionsFile: string | undefined;
  readonly run: RunFields;
  /** Tools that the agent wants, as written. */
  readonly tools: readonly string[];
  /** Tools that it must not have, as written. */
  readonly deniedTools: readonly string[];
  /** What its declaration of servers says about tools. */
  readonly references: readonly ToolReference[];
  readonly servers: ReadonlyMap<string, AgentServer>;
  /** Each as `3: …`, with the line. */
  readonly warnings: readonly string[];
}

/** Nobody writes NUL; it is what UTF-16 looks like to who expects UTF-8. */
export function isReadable(text: string): boolean {
  return !text.includes('\0');
}

/** A file to be read as an agent. */
export interface AgentFile {
  /** Absolute; names and origins come from it, it is not opened. */
  readonly file: string;
  readonly text: string;
  /** What relative paths in it are meant from. */
  readonly project: string;
  /** What `~` stands for. */
  readonly homeFolder: string;
}

export const NOTHING_SAID = {
  instructions: undefined,
  instructionsFile: undefined,
  run: {},
  tools: [],
  deniedTools: [],
  references: [],
  servers: new Map<string, AgentServer>(),
} satisfies Partial<Draft>;

/** Sentences quote what stands in a file, and that has no bound. */
export const LONGEST_SENTENCE = 500;

/** Why a file is no agent. The message is `3: …`, with the line. */
export class AgentFileError extends Error {
  override readonly name = 'AgentFileError';
  /** The key that is not there, where that is what is wrong. */
  readonly missing: string | undefined;

  constructor(line: number, says: string, missing?: string) {
    super(excerpt(`${line}: ${says}`, LONGEST_SENTENCE));
    this.missing = missing;
  }
}

export interface Warnings {
  readonly list: readonly string[];
  /** As `3: …`; asked only if it is kept: a file that is wrong all over is told of often enough. */
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

/** More than anybody writes, and what a list of tools can bear. */
const LONGEST_DESCRIPTION = 8_000;

/** Models read these texts: what cannot be seen in them is taken out, and a description is always there. */
export function summarize(
  name: string,
  description: string | undefined,
  tags: readonly string[],
): AgentSummary {
  const clean = (text: string) => cleanText(text).trim();
  const shown = clean(name);
  if (shown === '') throw new AgentFileError(1, 'Its name has no character that can be seen.');
  const said = clean(description ?? '')
    .slice(0, LONGEST_DESCRIPTION)
    .toWellFormed();
  return {
    name: shown,
    description: said || `Agent '${shown}': Execute tasks via Codex`,
    tags: tags.map(clean).filter((tag) => tag !== ''),
  };
}
