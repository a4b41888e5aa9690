// Custom agents of VS Code and GitHub Copilot, which took the place of chat modes: Markdown in which every
// key may be missing, and which can bring servers along.
import { type AgentFile, createWarnings, type Draft, NOTHING_SAID, summarize } from './draft.ts';
import { COMMAS_AND_SPACES, listOf, textOf, toolsOf } from './fields.ts';
import { modelOf, nameFromFile, parsePlainMarkdown } from './markdown.ts';
import { serversOf } from './server-entry.ts';

export async function parseCopilot(file: AgentFile): Promise<Draft> {
  const { values, lineOf, body, warnings } = await parsePlainMarkdown(file);
  const { list, add } = createWarnings();
  const { servers, references } = serversOf(
    values['mcp-servers'],
    { ...file, variablesIn },
    (key, says) => add(() => `${lineOf('mcp-servers')}: mcp-servers.${key}: ${says}`),
  );
  const name = textOf(values['name']) ?? nameFromFile(file.file);
  return {
    ...NOTHING_SAID,
    ...summarize(name, textOf(values['description']), listOf(values['tags'], COMMAS_AND_SPACES)),
    instructions: body,
    run: modelOf(values),
    tools: toolsOf(values['tools']),
    references,
    servers,
    warnings: [...warnings, ...list],
  };
}

/** `$X` and `${{ secrets.X }}` as `${X}`. */
function variablesIn(text: string): string {
  return text
    .replace(/\$\{\{ {0,9}(?:secrets|vars|var|env)\.(\w+) {0,9}\}\}/g, (_, name: string) =>
      inOurs(name),
    )
    .replace(/^\$([A-Za-z_]\w*)$/, (_, name: string) => inOurs(name));
}

const inOurs = (name: string) => `\${${name}}`;
