// The error for an unknown tool, with suggestions.
import { SwitchboardError } from '../base/errors.ts';
import { nearest } from '../base/text.ts';

export function unknownTool(
  name: string,
  known: Iterable<string>,
  hint?: string,
): SwitchboardError {
  return new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${name}.`, {
    hint: hint ?? suggest(name, known),
  });
}

function suggest(name: string, known: Iterable<string>): string | undefined {
  // Nearly all suite names end in `_suite`, so the ending says nothing about similarity.
  const byStem = new Map([...known].map((tool) => [stemOf(tool), tool]));
  const near = nearest(stemOf(name), byStem.keys()).map((stem) => byStem.get(stem) ?? stem);
  return near.length > 0 ? `Did you mean ${near.join(' or ')}?` : undefined;
}

function stemOf(toolName: string): string {
  return toolName.replace(/_suite$/, '');
}
