// What a modern request is about, for those on the way: over HTTP the header Mcp-Name repeats this
// parameter. Towards servers it is written from here, and hosts' requests are checked against it.

/** The parameter, by method. Requests of other methods have no such header. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);
