// The part of `doctor` about agent files: how many agents there are, and which files were skipped.
import { listAgents } from '../../agents/list.ts';
import { cleanText } from '../../base/text.ts';
import type { Config } from '../../config/config.ts';
import { count, type Output } from '../terminal/output.ts';

interface AgentFiles {
  readonly found: number;
  readonly problems: readonly string[];
  readonly skipped: readonly string[];
}

export async function inspectAgentFiles(config: Config): Promise<AgentFiles> {
  const { agents: settings } = config;
  if (settings.show === 'off') return { found: 0, problems: [], skipped: [] };
  const { agents, hidden, problems, skipped } = await listAgents({ ...config, settings });
  return { found: agents.length + hidden, problems, skipped };
}

export function printAgentFiles(files: AgentFiles, output: Output): void {
  const { found, problems } = files;
  if (found > 0) output.line(`Agents: ${found}. Details: switchboard agents`);
  for (const problem of problems) {
    output.line(`  ${output.style('yellow', `warning: ${cleanText(problem)}`)}`);
  }
  printSkipped(files, output);
}

/** Files in agent folders that aren't agents. */
export function printSkipped({ skipped }: Pick<AgentFiles, 'skipped'>, output: Output): void {
  if (skipped.length === 0) return;
  output.line(`Skipped ${count(skipped.length, 'file')}:`);
  for (const sentence of skipped) output.line(`  ${output.style('dim', cleanText(sentence))}`);
}
