// One server with its own tools, as a session of the background process: for a provider's program that uses an
// assistant's server by itself.
import { Project, type ProjectOptions } from '../../project.ts';
import { serverOf } from '../assistant-parts.ts';
import { chosenChild } from '../commands/with-switchboard.ts';
import type { ServedOptions } from './serving.ts';

type ToolsOptions = Omit<ProjectOptions, 'adapt' | 'onLoaded'> &
  Pick<ServedOptions, 'check' | 'prepare'>;

/** Throws if the server doesn't start: these programs list tools only once. */
export async function openToolsProject(
  name: string,
  { check, prepare, ...options }: ToolsOptions,
): Promise<Project> {
  const project = await Project.open({
    ...options,
    adapt: (config) => {
      check?.(config);
      const server = serverOf(chosenChild(config, name), options.environment, true);
      return { ...config, children: new Map([[server.name, server]]) };
    },
    onLoaded: async (loaded) => prepare?.(loaded),
  });
  try {
    await project.switchboard.pool.warm(name);
    return project;
  } catch (error) {
    await project[Symbol.asyncDispose]();
    throw error;
  }
}
