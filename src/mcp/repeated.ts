// What headers of a modern request over HTTP repeat of its body, for those on the way. Towards servers
// they are written from here, and hosts' requests are checked against it.

/** The parameter that `Mcp-Name` repeats, by method. Requests of other methods have no such header. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** What HTTP allows as a name. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** The header that a property of a tool's schema wants its argument repeated in, as it is written there. */
export function headerOf(property: Readonly<Record<string, unknown>>): string | undefined {
  const name = property['x-mcp-header'];
  return typeof name === 'string' && TOKEN.test(name) ? `Mcp-Param-${name}` : undefined;
}
