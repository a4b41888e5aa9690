// What the checks need to know about a host: how to configure and start it, and how it names tools.
import type { ProgramId } from '../../../scripts/programs/programs.ts';
import type { Project } from '../../support/project.ts';
import type { CheckId } from '../checks/table.ts';
import type { ModelApi } from '../model/api.ts';

/** How the host reaches Switchboard. */
export type McpEntry =
  | { readonly command: string; readonly args: string[]; readonly env: Record<string, string> }
  | { readonly url: string; readonly token: string };

/** `all` allows every tool, `default` configures nothing, `plan` starts in plan mode. */
export type Approval = 'all' | 'default' | 'plan';

export interface Setup {
  readonly project: Project;
  /** The path of the host's program. */
  readonly program: string;
  readonly modelUrl: string;
  readonly entry: McpEntry;
  readonly approval: Approval;
}

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
}

export interface HostDriver {
  readonly id: ProgramId;
  readonly api: ModelApi;
  /** Whether the host fetches the tool list again when it changes. */
  readonly relists: boolean;
  /** The tool with which the model searches for tools; undefined if the host lists them all. */
  readonly toolSearch?: string;
  /** Checks that don't apply to this host, and why. */
  readonly cannot: Partial<Record<CheckId, string>>;
  /** Footnotes for checks that pass. */
  readonly notes: Partial<Record<CheckId, string>>;
  /** The answer that a server gets when it asks for a name. */
  readonly reply?: object;
  /** The questions shown to the user so far, if the host reveals them. */
  questions?(project: Project): string[];
  /** Writes the host's configuration into the project. */
  prepare(setup: Setup): Launch;
  /** What the host calls one of Switchboard's tools. */
  nameOf(tool: string): { readonly tool: string; readonly namespace?: string };
}

export const SERVER = 'switchboard';
export const PROMPT = 'Do what the user wants.';
