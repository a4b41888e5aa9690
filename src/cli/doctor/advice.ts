// Notes from `switchboard doctor` about a working server's tools.
import type { Child } from '../../child/child.ts';
import type { ChildConfig } from '../../config/config.ts';
import { isExposed } from '../../config/server/expose.ts';
import { hintsOf, isReadOnly } from '../../mcp/annotations.ts';
import { explainRefusedTools } from '../../mcp/clean-lists.ts';
import type { Tool } from '../../mcp/tools.ts';
import { modeOf } from '../../surface/modes/table.ts';

export function adviceOnTools(
  config: ChildConfig,
  tools: readonly Tool[],
  { refusedTools }: Pick<Child, 'refusedTools'>,
): string[] {
  const refusal = explainRefusedTools(refusedTools);
  return [...(refusal === undefined ? [] : [`${refusal}.`]), ...adviceOnReading(config, tools)];
}

/** A host that asks before writes has to ask for every call of a suite that does both. */
function adviceOnReading(config: ChildConfig, tools: readonly Tool[]): string[] {
  const { name, expose, readOnlyTool, assistant } = config;
  const exposed = tools.filter((tool) => isExposed(tool.name, expose));
  const reading = exposed.filter((tool) => isReadOnly(hintsOf(tool))).length;
  const isMixed = reading > 0 && reading < exposed.length;
  if (!isMixed || readOnlyTool || !modeOf(config).usesSuite || assistant) return [];
  return [
    `${reading} of its ${exposed.length} tools only read. Set suites.${name}.readOnlyTool to true to add a tool for these that hosts can run without asking.`,
  ];
}
