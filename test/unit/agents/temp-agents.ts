// A project, a home folder and Switchboard's own folder for agent files, gone when the test is over.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Agent, ListedAgent } from '../../../src/agents/agent.ts';
import { MODEL_TABLE } from '../../../src/agents/codex/model-table.ts';
import { type AgentList, listAgents } from '../../../src/agents/list.ts';
import { loadAgent } from '../../../src/agents/load.ts';
import type { AgentSettings } from '../../../src/config/config.ts';
import { agentSettings } from '../../support/agent-settings.ts';

export interface Agents {
  readonly root: string;
  readonly project: string;
  readonly home: string;
  readonly homeFolder: string;
  readonly settings: (said?: Partial<AgentSettings>) => AgentSettings;
  /** A path as `project/…`, `home/…` (Switchboard's own folder) or `user/…`. */
  readonly path: (file: string) => string;
  readonly write: (file: string, content: string | Uint8Array) => string;
  readonly list: (said?: Partial<AgentSettings>) => Promise<AgentList>;
  readonly load: (
    agent: ListedAgent,
    said?: Partial<AgentSettings>,
    usersProvider?: string,
  ) => Promise<Agent>;
  /** Lists, and loads the one agent that there is. */
  readonly loadOnly: (said?: Partial<AgentSettings>, usersProvider?: string) => Promise<Agent>;
  /** Texts with `project`, `home` and `user` in the place of the folders. */
  readonly plain: (texts: readonly string[]) => string[];
}

export function createAgents(files: Record<string, string> = {}): Agents {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-agents-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [project, home, homeFolder] = [
    join(root, 'project'),
    join(root, 'home'),
    join(root, 'user'),
  ];
  for (const folder of [project, home, homeFolder]) mkdirSync(folder);

  const path = (file: string) => join(root, file);
  const settings = (said: Partial<AgentSettings> = {}) =>
    agentSettings(said, { project, home, homeFolder });
  const write = (file: string, content: string | Uint8Array) => {
    mkdirSync(dirname(path(file)), { recursive: true });
    writeFileSync(path(file), content);
    return path(file);
  };
  const list = (said?: Partial<AgentSettings>) =>
    listAgents({ settings: settings(said), project, home, homeFolder });
  const load = (agent: ListedAgent, said?: Partial<AgentSettings>, usersProvider?: string) =>
    loadAgent(agent, {
      settings: settings(said),
      project,
      homeFolder,
      engine: { models: MODEL_TABLE, configuredProvider: async () => usersProvider },
    });
  const loadOnly = async (said?: Partial<AgentSettings>, usersProvider?: string) => {
    const { agents, problems } = await list(said);
    const [agent] = agents;
    if (!agent || agents.length > 1) throw new Error(`${agents.length} agents; ${problems.join()}`);
    return load(agent, said, usersProvider);
  };
  const plain = (texts: readonly string[]) => texts.map((text) => text.replaceAll(`${root}/`, ''));
  for (const [file, content] of Object.entries(files)) write(file, content);
  return { root, project, home, homeFolder, settings, path, write, list, load, loadOnly, plain };
}

/** Makes files old enough to be remembered. */
export function age(...files: readonly string[]): void {
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const file of files) utimesSync(file, hourAgo, hourAgo);
}

/** Front matter and a body. */
export function markdown(head: string, body = 'Do it well.'): string {
  return `---\n${head}\n---\n\n${body}\n`;
}
