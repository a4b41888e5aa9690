// A short digest for telling names apart, not for secrets: loading node:crypto would cost every start
// milliseconds.

/** Eight hexadecimal digits (FNV-1a, 32 bit). */
export function shortDigest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
