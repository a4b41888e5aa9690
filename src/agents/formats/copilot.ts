// Custom agents of VS Code and GitHub Copilot, the successor of chat modes: Markdown in which every key
// is optional, and which can bring servers along.
import { type AgentFile, createWarnings, type Draft, EMPTY_DRAFT, summarize } from './draft.ts';
import { COMMAS_AND_SPACES, listOf, textOf, toolsOf } from './fields.ts';
import { modelOf, nameFromFile, parsePlainMarkdown } from './markdown.ts';
import { serversOf } from './server-entry.ts';

export async function parseCopilot(file: AgentFile): Promise<Draft> {
  const { values, lineOf, body, warnings } = await parsePlainMarkdown(file);
  const { list, add } = createWarnings();
  const { servers, references } = serversOf(
    values['mcp-servers'],
    { ...file, variablesIn },
    (key, problem) => add(() => `${lineOf('mcp-servers')}: mcp-servers.${key}: ${problem}`),
  );
  const name = textOf(values['name']) ?? nameFromFile(file.file);
  return {
    ...EMPTY_DRAFT,
    ...summarize(name, textOf(values['description']), listOf(values['tags'], COMMAS_AND_SPACES)),
    instructions: body,
    run: modelOf(values),
    tools: toolsOf(values['tools']),
    references,
    servers,
    warnings: [...warnings, ...list],
  };
}

/** Turns `$X` and `${{ secrets.X }}` into `${X}`. */
function variablesIn(text: string): string {
  return text
    .replace(/\$\{\{ {0,9}(?:secrets|vars|var|env)\.(\w+) {0,9}\}\}/g, (_, name: string) =>
      reference(name),
    )
    .replace(/^\$([A-Za-z_]\w*)$/, (_, name: string) => reference(name));
}

const reference = (name: string) => `\${${name}}`;
