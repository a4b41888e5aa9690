// Removes hidden characters from what servers list. Prose is cleaned. Names and values that have to be
// sent back exactly can't be changed, so an item with hidden characters in those is left out.
import { isObject } from '../base/object.ts';
import { cleanText, hasHiddenCharacters, revealHidden } from '../base/text.ts';
import { parseTools, type Tool } from './tools.ts';

const PARTS = ['name', 'inputSchema', 'outputSchema'] as const;
const HELD = ['changed', 'scan'] as const;

/** A tool that must not be listed or called. */
export interface RefusedTool {
  readonly name: string;
  /**
   * The part of its definition that has hidden characters. Or why it is held until the user accepts it: its definition
   * has changed, or the scanner has found something.
   */
  readonly where: (typeof PARTS)[number] | (typeof HELD)[number];
}

/** Whether the user can accept the tool. */
export function isHeld({ where }: RefusedTool): boolean {
  return HELD.some((because) => because === where);
}

/** Refused tools, read back from JSON. */
export function parseRefusedTools(value: unknown): RefusedTool[] {
  const items = Array.isArray(value) ? value.filter(isObject) : [];
  return items.flatMap(({ name, where }) => {
    const part = [...PARTS, ...HELD].find((known) => known === where);
    return typeof name === 'string' && part ? [{ name, where: part }] : [];
  });
}

/** Sentences that name the refused tools, without their full stops. */
export function explainRefusedTools(refused: readonly RefusedTool[]): string[] {
  const hiding = refused.filter((tool) => !isHeld(tool));
  const held = refused.filter(isHeld);
  const named = hiding.map(({ name, where }) => `${escapeName(name)} (${where})`);
  const names = held.map(({ name }) => escapeName(name));
  return [
    ...(hiding.length > 0 ? [`Not listed because of hidden characters: ${named.join(', ')}`] : []),
    ...(held.length > 0
      ? [`Held until you accept them: ${names.join(', ')} (see: switchboard changes)`]
      : []),
  ];
}

/** On one line, with hidden characters as escapes. */
function escapeName(name: string): string {
  return revealHidden(JSON.stringify(name).slice(1, -1));
}

export function cleanTools(items: readonly unknown[]): {
  readonly tools: Tool[];
  readonly refused: RefusedTool[];
} {
  const tools: Tool[] = [];
  const refused: RefusedTool[] = [];
  for (const tool of parseTools(items)) {
    const clean = mayHide(tool) ? cleanTool(tool) : tool;
    if (typeof clean === 'string') refused.push({ name: tool.name, where: clean });
    else tools.push(clean);
  }
  return { tools, refused };
}

/** The identifying key of an item, by kind of list. */
const NAMED_BY = { prompts: 'name', resources: 'uri', templates: 'uriTemplate' } as const;

export function cleanList(
  kind: keyof typeof NAMED_BY,
  items: readonly unknown[],
): readonly unknown[] {
  return items.flatMap((item) => {
    if (!isObject(item) || !mayHide(item)) return [item];
    const names = [item[NAMED_BY[kind]], ...argumentsOf(item).map((one) => one['name'])];
    if (names.some((name) => typeof name === 'string' && hasHiddenCharacters(name))) return [];
    const clean = cleanProse(item, 'name', 'title', 'description');
    if (!Array.isArray(item['arguments'])) return [clean];
    return [{ ...clean, arguments: argumentsOf(item).map((one) => cleanProse(one, ...PROSE)) }];
  });
}

/** The cleaned tool, or the part that cannot be cleaned. */
function cleanTool(tool: Tool): Tool | (typeof PARTS)[number] {
  if (hasHiddenCharacters(tool.name)) return 'name';
  const schemas: Record<string, unknown> = {};
  for (const key of ['inputSchema', 'outputSchema'] as const) {
    if (tool[key] === undefined) continue;
    const cleaner = new SchemaCleaner();
    schemas[key] = cleaner.schema(tool[key]);
    if (cleaner.isRefused) return key;
  }
  const { annotations } = tool;
  return {
    ...cleanProse(tool, ...PROSE),
    name: tool.name,
    ...schemas,
    ...(isObject(annotations) && { annotations: cleanProse(annotations, 'title') }),
  };
}

const PROSE = ['title', 'description'];

function cleanProse(holder: Record<string, unknown>, ...keys: string[]): Record<string, unknown> {
  const texts = keys.flatMap((key) => {
    const text = holder[key];
    return typeof text === 'string' ? [[key, cleanText(text)] as const] : [];
  });
  return { ...holder, ...Object.fromEntries(texts) };
}

function argumentsOf(prompt: Record<string, unknown>): Record<string, unknown>[] {
  const { arguments: given } = prompt;
  return Array.isArray(given) ? given.filter(isObject) : [];
}

/** Schema keywords that hold schemas by name. */
const NAMED_SCHEMAS = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);
/** Schema keywords whose values must not be changed. */
const EXACT = new Set(['enum', 'const', 'default', 'required', 'dependentRequired', '$ref']);

class SchemaCleaner {
  /** Set when a name or an exact value contains hidden characters. */
  isRefused = false;

  schema(value: unknown): unknown {
    if (typeof value === 'string') return cleanText(value);
    if (Array.isArray(value)) return value.map((item) => this.schema(item));
    if (!isObject(value)) return value;
    return this.#map(value, (member, key) => {
      if (NAMED_SCHEMAS.has(key) && isObject(member)) {
        return this.#map(member, (schema) => this.schema(schema));
      }
      if (EXACT.has(key)) return this.#exact(member);
      // An escaped character matches the same in a pattern.
      if (key === 'pattern' && typeof member === 'string') return revealHidden(member);
      return this.schema(member);
    });
  }

  #map(
    value: Record<string, unknown>,
    clean: (member: unknown, key: string) => unknown,
  ): Record<string, unknown> {
    const entries = Object.entries(value).map(([key, member]) => {
      if (hasHiddenCharacters(key)) this.isRefused = true;
      return [key, clean(member, key)] as const;
    });
    return Object.fromEntries(entries);
  }

  #exact(value: unknown): unknown {
    // JSON escapes control characters, so "\r\n" is visible and a fair value.
    const shown = JSON.stringify(value);
    if (hasHiddenCharacters(shown)) this.isRefused = true;
    return value;
  }
}

/** Whether there may be something to clean; JSON escapes some hidden characters. */
function mayHide(item: object): boolean {
  const text = JSON.stringify(item);
  return hasHiddenCharacters(text) || /\\[bfru]/.test(text);
}
