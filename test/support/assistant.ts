// Shared by the assistant tests: a project with one server and a model provider, and the two ways a host
// reaches the assistant: on its own, or through the server's suite.
import { join } from 'node:path';
import type { HostDriver, Launch } from '../e2e/matrix/hosts.ts';
import { type ModelServer, type Script, startModelServer } from './model-server-chat.ts';
import { createProject, PATIENT, PROGRAM, type Project } from './project.ts';
import { publishedServer, type ServerEntry } from './servers.ts';

export type Route = 'alone' | 'suite';

export interface Scene {
  readonly project: Project;
  readonly model: ModelServer;
  readonly env: Record<string, string>;
}

/** A project with one server, `kid`, that has an assistant. Every process has its folder on the command line. */
export async function createScene(
  script: Script,
  entryIn: (folder: string) => ServerEntry & object,
  env: Record<string, string> = {},
): Promise<Scene> {
  const model = await startModelServer(script);
  const project = createProject();
  const { args, ...entry } = entryIn(project.dir);
  project.write('switchboard.config.json', {
    ...PATIENT,
    mcpServers: { kid: { assistant: true, args: [...args, project.dir], ...entry } },
  });
  return { project, model, env: { ...project.env, ...model.env('messages'), ...env } };
}

/** The published memory server, with its file in this folder. */
export function memoryServer(
  folder: string,
): ServerEntry & { env: Record<string, string>; description: string } {
  const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
  return { ...publishedServer('memory'), env, description: 'long-term memory' };
}

export function launchOf(route: Route, { project, env }: Omit<Scene, 'model'>): Launch {
  const serve = route === 'alone' ? ['assistant', 'serve', 'kid'] : ['serve'];
  const args = [PROGRAM, ...serve, '--config', join(project.dir, 'switchboard.config.json')];
  return { command: process.execPath, args, cwd: project.dir, env };
}

type Connected = Awaited<ReturnType<HostDriver['connect']>>;

/** Asks the assistant on either route. */
export function ask(
  host: Connected,
  route: Route,
  args: object,
  options: Parameters<Connected['callTool']>[2] = {},
): Promise<Readonly<Record<string, unknown>>> {
  const settings = { timeoutMs: 120_000, ...options };
  if (route === 'alone') return host.callTool('natural_language', args, settings);
  const call = { action: 'call', subtool: 'natural_language', args };
  return host.callTool('kid_suite', call, settings);
}
