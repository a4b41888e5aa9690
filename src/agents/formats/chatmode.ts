// VS Code chat modes: Markdown with a `description` in the front matter. The name may come from the file's name.
import { type AgentFile, type Draft, EMPTY_DRAFT, summarize } from './draft.ts';
import { COMMAS_AND_SPACES, listOf, requiredText, textOf, toolsOf } from './fields.ts';
import { modelOf, nameFromFile, parseMarkdown } from './markdown.ts';

export async function parseChatmode(file: AgentFile): Promise<Draft> {
  const { values, lineOf, body, warnings } = await parseMarkdown(file);
  const description = requiredText(values, 'description', lineOf);
  const name = textOf(values['name']) ?? nameFromFile(file.file);
  return {
    ...EMPTY_DRAFT,
    ...summarize(name, description, listOf(values['tags'], COMMAS_AND_SPACES)),
    instructions: body,
    run: modelOf(values),
    tools: toolsOf(values['tools']),
    warnings,
  };
}
