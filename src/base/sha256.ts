// SHA-256. Most starts need none, and loading node:crypto takes milliseconds.

/** As hexadecimal digits. */
export function sha256(text: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(text).digest('hex');
}
