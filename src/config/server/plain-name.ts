// Normalizes a server's name, so that `memory`, `Memory`, `mcp-server-memory` and
// `@modelcontextprotocol/server-memory` match.

const NOISE_WORDS = new Set(['mcp', 'server', 'servers']);

/** Lower case, only letters and digits, without a scope such as `@me/` and without noise words. */
export function plainName(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/^@[^/]*\//, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const telling = words.filter((word) => !NOISE_WORDS.has(word));
  return (telling.length > 0 ? telling : words).join('');
}
