// HTTP headers that repeat parts of a modern request's body for proxies. We send them to servers and
// check them in hosts' requests.

/** The parameter that `Mcp-Name` repeats, by method. Other methods have no such header. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Valid header names. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** The header in which a schema property wants its argument repeated (`x-mcp-header`). */
export function headerOf(property: Readonly<Record<string, unknown>>): string | undefined {
  const name = property['x-mcp-header'];
  return typeof name === 'string' && TOKEN.test(name) ? `Mcp-Param-${name}` : undefined;
}
