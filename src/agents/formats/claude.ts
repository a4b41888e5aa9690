// Agents of Claude Code: Markdown with `name`, `tools` and `model` in front. Keys that only that program
// can follow (permissionMode, hooks, color …) are passed over.
import { isObject } from '../../base/object.ts';
import type { ToolReference } from '../agent.ts';
import { type AgentFile, createWarnings, type Draft, NOTHING_SAID, summarize } from './draft.ts';
import { COMMAS, listOf, textOf, toolsOf } from './fields.ts';
import { modelOf, parseMarkdown } from './markdown.ts';
import { requiredText } from './required.ts';
import { runFieldsOf } from './run-fields.ts';
import { serversOf } from './server-entry.ts';

export async function parseClaude(file: AgentFile): Promise<Draft> {
  const { values, lineOf, body, warnings } = await parseMarkdown(file);
  const name = requiredText(values, 'name', lineOf);
  const { list, add } = createWarnings();
  const { named, declared } = partServers(values['mcpServers']);
  const { servers, references } = serversOf(declared, file, (key, says) =>
    add(() => `${lineOf('mcpServers')}: mcpServers.${key}: ${says}`),
  );
  const { model, ...provider } = modelOf(values);
  const effort = runFieldsOf({ model_reasoning_effort: values['effort'] }, (_, says) =>
    add(() => `${lineOf('effort')}: effort: ${says}`),
  );
  return {
    ...NOTHING_SAID,
    ...summarize(name, textOf(values['description']), listOf(values['tags'], COMMAS)),
    instructions: body,
    run: {
      ...(model !== undefined && model.toLowerCase() !== 'inherit' && { model }),
      ...provider,
      ...effort,
    },
    tools: toolsOf(values['tools']),
    deniedTools: toolsOf(values['disallowedTools']),
    references: [...named, ...references],
    servers,
    warnings: [...warnings, ...list],
  };
}

interface PartedServers {
  /** Servers that are configured elsewhere. */
  readonly named: readonly ToolReference[];
  /** Declarations, by key. */
  readonly declared: Readonly<Record<string, unknown>>;
}

/** A list of names and declarations, or declarations alone. */
function partServers(value: unknown): PartedServers {
  if (isObject(value)) return { named: [], declared: value };
  const items: readonly unknown[] = Array.isArray(value) ? value : listOf(value, COMMAS);
  const names = items.flatMap((item) => textOf(item) ?? []);
  return {
    named: names.map((server) => ({ server, tool: undefined, text: server })),
    declared: Object.fromEntries(items.filter(isObject).flatMap((item) => Object.entries(item))),
  };
}
