// A project for the real Codex, with the test's model on loopback.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { locate, programOf } from '../../scripts/programs/programs.ts';
import { type EngineHome, writeEngineHome } from './engine-home.ts';
import { type ModelAnswer, type ModelServer, startModelServer } from './model-server.ts';
import { createProject, type Project } from './project.ts';

export interface EngineProject {
  readonly binary: string;
  readonly model: ModelServer;
  readonly project: Project;
  readonly codexHome: string;
  /** The working folder. */
  readonly cwd: string;
}

export interface EngineProjectOptions extends Pick<EngineHome, 'keys' | 'tables' | 'isOpenai'> {
  readonly script: readonly ModelAnswer[];
  readonly files?: Record<string, string | object>;
  /** Relative to the project. */
  readonly codexHome?: string;
}

export async function engineProject(options: EngineProjectOptions): Promise<EngineProject> {
  const binary = locate(programOf('codex'));
  if (binary === undefined) throw new Error('Fetch Codex first: npm run test:engine');
  const model = await startModelServer(options.script);
  onTestFinished(() => model.close());
  const created = createProject(options.files);
  // Codex doesn't install its helpers into a home in the temporary folder, and before version 0.9 a bubblewrap on the
  // PATH can't start them otherwise. People's homes are elsewhere.
  const temporary = join(created.dir, 'tmp');
  mkdirSync(temporary);
  const project = { ...created, env: { ...created.env, TMPDIR: temporary } };
  const codexHome = join(project.dir, options.codexHome ?? 'home/.codex');
  const cwd = join(project.dir, 'work');
  mkdirSync(cwd);
  const { keys, tables, isOpenai } = options;
  writeEngineHome({ binary, folder: codexHome, url: model.url, keys, tables, isOpenai });
  return { binary, model, project, codexHome, cwd };
}

/** The same, for the built program. */
export async function programProject(
  options: EngineProjectOptions,
  env: Record<string, string> = {},
): Promise<EngineProject> {
  const parts = await engineProject(options);
  const { project, binary } = parts;
  const ours = { ...project.env, SWITCHBOARD_CODEX_BIN: binary, ...env };
  return { ...parts, project: { ...project, env: ours } };
}
