// Judges everything in a project that only agents use, for `switchboard trust`. Nothing is run, and no server is
// started.
import type { Config } from '../config/config.ts';
import type { Dialect } from './agent.ts';
import { AgentFileError } from './formats/draft.ts';
import { parseAgentFile } from './formats/parse.ts';
import { agentName, readApproved } from './gated.ts';
import { listAgents } from './list.ts';
import { instructionPlaces } from './load.ts';
import { rightsOf } from './rights.ts';
import { discoverServers } from './servers/discover.ts';

export async function judgeAgentFiles(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  const { agents: settings, project, homeFolder, gate } = config;
  if (!gate) return;
  await listAgents({ ...config, settings });
  const roots = { project, homeFolder };
  for (const { subject, content } of gate.judge?.judged ?? []) {
    if (subject.kind !== 'agent') continue;
    const { text, dialect } = content as { readonly text: string; readonly dialect: Dialect };
    const { file } = subject;
    try {
      const draft = await parseAgentFile(dialect, { file, text, ...roots });
      const rights = rightsOf(draft.run);
      if (rights.length > 0) gate.decide({ ...subject, rights });
      const { places, within } = instructionPlaces(draft, { file, dialect }, roots, 'project');
      for (const place of places) {
        await readApproved('instructions', agentName(file), place, gate, { within });
      }
    } catch (error) {
      if (!(error instanceof AgentFileError)) throw error; // it isn't an agent
    }
  }
  await readApproved('model-map', 'model-map.toml', settings.modelMapFile, gate);
  await discoverServers({ settings, project, homeFolder, env, gate });
}
