// Shortens strings without splitting a surrogate pair, because providers reject a request that contains half of one.

export function head(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  const isFirstHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isFirstHalf ? maxChars - 1 : maxChars);
}

export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${head(text, maxChars)}\n… (cut off after ${maxChars} of ${text.length} characters)`;
}

/** Replaces lone surrogates in all strings of a value. */
export function wellFormed<T>(value: T): T {
  return repair(value) as T;
}

function repair(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(repair);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [
    key.toWellFormed(),
    repair(member),
  ]);
  return Object.fromEntries(entries);
}
