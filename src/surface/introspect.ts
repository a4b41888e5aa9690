// The answer to `introspect`: a server's subtools for the model. Descriptions are untrusted, so hidden
// characters are removed and their length is bounded, as is the whole answer.
import { isObject } from '../base/object.ts';
import { cleanText } from '../base/text.ts';
import type { Introspection } from '../config/config.ts';
import { isHeld, type RefusedTool } from '../mcp/clean-lists.ts';
import type { Tool } from '../mcp/tools.ts';
import { summarise } from './summary.ts';

const LONGEST_NAME = 256;
const LONGEST_DESCRIPTION = 2_000;
/** Characters of JSON beyond which input schemas are left out; about 25,000 tokens. */
const MOST_WITH_SCHEMAS = 100_000;
/** Characters of JSON beyond which even the plain list is cut. */
const MOST = 400_000;

/** The subtools, and a note if some are left out. `refused`: those that must not be shown. */
export function describeSubtools(
  tools: readonly Tool[],
  settings: Introspection,
  refused: readonly RefusedTool[] = [],
): Record<string, unknown> {
  const usable = uniqueByName(tools.filter(({ name }) => name.length <= LONGEST_NAME));
  const notes: string[] = [];
  const held = refused.filter(isHeld).length;
  const hiding = refused.length - held;
  if (hiding > 0) notes.push(`Subtools left out because of hidden characters: ${hiding}.`);
  if (held > 0) {
    notes.push(`Subtools held until the user accepts them (with "switchboard changes"): ${held}.`);
  }
  const unusable = tools.length - usable.length;
  if (unusable > 0)
    notes.push(`Subtools left out because of repeated or overlong names: ${unusable}.`);

  let described = usable.map((tool) => describeSubtool(tool, settings));
  if (settings.mode !== 'redacted' && usable.length > 1 && sizeOf(described) > MOST_WITH_SCHEMAS) {
    described = usable.map((tool) => describeSubtool(tool, { ...settings, mode: 'redacted' }));
    notes.push(
      'The list is long, so input schemas are left out. Introspect with "subtool" to see one in full.',
    );
  }
  const fitting = takeWhileFitting(described);
  if (fitting.length < described.length) {
    notes.push(`Only the first ${fitting.length} of ${described.length} subtools are shown.`);
  }
  return { tools: fitting, ...(notes.length > 0 ? { note: notes.join(' ') } : {}) };
}

function describeSubtool(
  tool: Tool,
  { mode, summaryMaxChars }: Introspection,
): Record<string, unknown> {
  const description = typeof tool['description'] === 'string' ? tool['description'] : undefined;
  // Only the beginning is summarized, so that a megabyte of text costs nothing.
  const beginning = description && cleanText(description.slice(0, 8 * summaryMaxChars + 2_000));
  const short = { name: tool.name, summary: summarise(beginning, summaryMaxChars) };
  if (mode === 'redacted') return short;
  const inputSchema = isObject(tool['inputSchema']) ? tool['inputSchema'] : { type: 'object' };
  const withSchema = { ...short, inputSchema: cleanSchema(inputSchema) };
  if (mode === 'summary') return withSchema;
  return {
    ...withSchema,
    description: boundedText(description ?? ''),
    ...(typeof tool['title'] === 'string' ? { title: boundedText(tool['title']) } : {}),
    ...(tool['outputSchema'] === undefined
      ? {}
      : { outputSchema: cleanSchema(tool['outputSchema']) }),
    ...(tool['annotations'] === undefined ? {} : { annotations: cleanSchema(tool['annotations']) }),
  };
}

const PROSE_KEYS = new Set(['description', 'title', '$comment', 'markdownDescription']);
/** Their values are the tool's data, no matter which keys they contain. */
const DATA_KEYS = new Set(['default', 'const', 'enum', 'examples']);

/** Cleans a schema's prose. Names, enums and defaults stay exactly as they are. */
function cleanSchema(value: unknown, depth = 0): unknown {
  if (depth > 64) return {}; // no real schema nests this deep
  if (Array.isArray(value)) return value.map((item) => cleanSchema(item, depth + 1));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    if (DATA_KEYS.has(key)) return [key, member];
    const isProse = PROSE_KEYS.has(key) && typeof member === 'string';
    return [key, isProse ? boundedText(member) : cleanSchema(member, depth + 1)];
  });
  return Object.fromEntries(entries);
}

function boundedText(text: string): string {
  const beginning = cleanText(text.slice(0, 2 * LONGEST_DESCRIPTION));
  if (beginning.length <= LONGEST_DESCRIPTION && text.length <= 2 * LONGEST_DESCRIPTION)
    return beginning;
  return `${beginning.slice(0, LONGEST_DESCRIPTION - 3).toWellFormed()}...`;
}

function uniqueByName(tools: readonly Tool[]): Tool[] {
  const byName = new Map<string, Tool>();
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
  return [...byName.values()];
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

function takeWhileFitting(items: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  let size = 0;
  return items.filter((item) => (size += sizeOf(item)) <= MOST);
}
