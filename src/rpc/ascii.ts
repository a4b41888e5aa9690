// JSON for readers that count characters where they should count bytes.

/** The same JSON in ASCII: characters outside it can only be in strings, where they may be escaped. */
export function toAscii(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
