// Chat modes of VS Code: Markdown with a `description` in front; the name may come from the file's own.
import { type AgentFile, type Draft, NOTHING_SAID, summarize } from './draft.ts';
import { COMMAS_AND_SPACES, listOf, textOf, toolsOf } from './fields.ts';
import { modelOf, nameFromFile, parseMarkdown } from './markdown.ts';
import { requiredText } from './required.ts';

export async function parseChatmode(file: AgentFile): Promise<Draft> {
  const { values, lineOf, body, warnings } = await parseMarkdown(file);
  const description = requiredText(values, 'description', lineOf);
  const name = textOf(values['name']) ?? nameFromFile(file.file);
  return {
    ...NOTHING_SAID,
    ...summarize(name, description, listOf(values['tags'], COMMAS_AND_SPACES)),
    instructions: body,
    run: modelOf(values),
    tools: toolsOf(values['tools']),
    warnings,
  };
}
