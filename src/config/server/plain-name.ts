// What is left of a server's name when everything that people write differently is taken away, so
// that `memory`, `Memory`, `mcp-server-memory` and `@modelcontextprotocol/server-memory` are one.

/** Words that say only that it is a server. */
const EMPTY_WORDS = new Set(['mcp', 'server', 'servers']);

/** Lower case, without a scope such as `@me/`, without those words, letters and digits alone. */
export function plainName(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/^@[^/]*\//, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const telling = words.filter((word) => !EMPTY_WORDS.has(word));
  return (telling.length > 0 ? telling : words).join('');
}
