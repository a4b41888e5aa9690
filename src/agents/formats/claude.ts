// Claude Code's agents: Markdown with `name`, `tools` and `model` in the front matter. Keys that only
// Claude Code can follow (permissionMode, hooks, color …) are ignored.
import { isObject } from '../../base/object.ts';
import type { ToolReference } from '../agent.ts';
import { type AgentFile, createWarnings, type Draft, EMPTY_DRAFT, summarize } from './draft.ts';
import { COMMAS, listOf, requiredText, textOf, toolsOf } from './fields.ts';
import { modelOf, parseMarkdown } from './markdown.ts';
import { runFieldsOf } from './run-fields.ts';
import { serversOf } from './server-entry.ts';

export async function parseClaude(file: AgentFile): Promise<Draft> {
  const { values, lineOf, body, warnings } = await parseMarkdown(file);
  const name = requiredText(values, 'name', lineOf);
  const { list, add } = createWarnings();
  const { named, declared } = splitServers(values['mcpServers']);
  const { servers, references } = serversOf(declared, file, (key, problem) =>
    add(() => `${lineOf('mcpServers')}: mcpServers.${key}: ${problem}`),
  );
  const { model, ...provider } = modelOf(values);
  const effort = runFieldsOf({ model_reasoning_effort: values['effort'] }, (_, problem) =>
    add(() => `${lineOf('effort')}: effort: ${problem}`),
  );
  return {
    ...EMPTY_DRAFT,
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

interface SplitServers {
  /** Servers configured elsewhere. */
  readonly named: readonly ToolReference[];
  /** Declarations, by key. */
  readonly declared: Readonly<Record<string, unknown>>;
}

/** The value is a list of names and declarations, or only declarations. */
function splitServers(value: unknown): SplitServers {
  if (isObject(value)) return { named: [], declared: value };
  const items: readonly unknown[] = Array.isArray(value) ? value : listOf(value, COMMAS);
  const names = items.flatMap((item) => textOf(item) ?? []);
  return {
    named: names.map((server) => ({ server, tool: undefined, text: server })),
    declared: Object.fromEntries(items.filter(isObject).flatMap((item) => Object.entries(item))),
  };
}
