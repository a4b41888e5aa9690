// A project with agents that run on the scripted engine, and access to the engine's records.
import { join } from 'node:path';
import { createProject, type Project } from './project.ts';
import { RawHost } from './raw-host.ts';
import { type EngineRecord, readRecords, SCRIPTED_CODEX } from './scripted-engine.ts';

export interface AgentProject extends Project {
  records(): EngineRecord[];
  /** The parameters of the engine's last `thread/start`. */
  thread(): Record<string, unknown> & { readonly config: Record<string, unknown> };
}

export function agentProject(
  files: Record<string, string | object>,
  env: Record<string, string> = {},
): AgentProject {
  const project = createProject(files);
  const record = join(project.dir, 'record.jsonl');
  const records = () => readRecords(record);
  return {
    ...project,
    env: {
      ...project.env,
      SWITCHBOARD_CODEX_BIN: SCRIPTED_CODEX,
      SCRIPTED_CODEX_RECORD: record,
      AGENTS_MCP_ENUM_TIMEOUT_MS: '60000', // generous: a busy machine is slow
      ...env,
    },
    records,
    thread: () => {
      const params = records().findLast(({ received }) => received?.method === 'thread/start')
        ?.received?.params;
      if (!params) throw new Error('The engine has started no thread.');
      return params as ReturnType<AgentProject['thread']>;
    },
  };
}

/** Runs an agent through a host and returns the payload. */
export async function runThrough(
  host: RawHost,
  tool: string,
  args: Record<string, unknown>,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  const { result, error } = await host.callTool(tool, args);
  const text = result?.content?.[0]?.text;
  if (text === undefined) throw new Error(error?.message ?? 'There is no text.');
  return JSON.parse(text) as { ok: boolean; output: string };
}

export const toml = (name: string, more = ''): string =>
  `name = ${JSON.stringify(name)}\n${more}\n`;

export const frontMatter = (head: string, body = 'Do it well.'): string =>
  `---\n${head}\n---\n${body}\n`;
