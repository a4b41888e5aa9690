// JSON for readers that count characters instead of bytes.

/** Escapes everything beyond ASCII, which in JSON only occurs in strings. */
export function toAscii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
