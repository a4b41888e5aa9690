// A list with all its pages. However a server pages, the list ends.
import { isObject } from '../base/object.ts';
import { nestingDepth, Verbatim } from '../rpc/verbatim.ts';

/** The lists a server can have: the method that returns them, and the key in its result. */
const LISTS = {
  tools: { method: 'tools/list', key: 'tools' },
  prompts: { method: 'prompts/list', key: 'prompts' },
  resources: { method: 'resources/list', key: 'resources' },
  templates: { method: 'resources/templates/list', key: 'resourceTemplates' },
} as const;

export type ListKind = keyof typeof LISTS;

/** Endless lists are cut off here. */
const MAX_PAGES = 1_000;
const MAX_ITEMS = 20_000;
/** More deeply nested values are useless to people and models, and serializing them may overflow the stack. */
const DEEPEST = 500;

interface PagesOptions {
  /** For all pages together. */
  readonly limitMs: number;
  readonly maxChars: number;
  /** Asks the server for a page, within the time that is left. */
  readonly request: (method: string, params: Verbatim, timeoutMs: number) => Promise<Verbatim>;
}

export async function listPages(kind: ListKind, options: PagesOptions): Promise<unknown[]> {
  const { limitMs, maxChars, request } = options;
  const { method, key } = LISTS[kind];
  const end = performance.now() + limitMs;
  const items: unknown[] = [];
  const seen = new Set<string>();
  let chars = 0;
  let cursor: string | undefined;
  do {
    const params = Verbatim.of(cursor === undefined ? {} : { cursor });
    const page = await request(method, params, Math.max(1, end - performance.now()));
    items.push(...itemsOf(page, key).slice(0, MAX_ITEMS - items.length));
    const next = isObject(page.value) ? page.value['nextCursor'] : undefined;
    // A repeated cursor would loop forever.
    cursor = typeof next === 'string' && !seen.has(next) ? next : undefined;
    if (cursor !== undefined) seen.add(cursor);
    chars += page.text.length;
  } while (cursor !== undefined && seen.size < MAX_PAGES && chars < maxChars);
  return items;
}

/** The items of a page, without members that are too deep to serialize. */
function itemsOf(page: Verbatim, key: string): unknown[] {
  const found = page.member(key);
  if (!Array.isArray(found?.value)) return [];
  if (!isTooDeep(page.text)) return found.value;
  return found.elements().map((item) => withoutDeepMembers(item).value);
}

function withoutDeepMembers(item: Verbatim): Verbatim {
  const keys = isObject(item.value) ? Object.keys(item.value) : [];
  return item.without(...keys.filter((key) => isTooDeep(item.member(key)?.text ?? '')));
}

/** Whether a value is too deep to serialize. */
export function isTooDeep(text: string): boolean {
  return nestingDepth(text) > DEEPEST;
}
