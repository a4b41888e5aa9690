// What the one tool of an assistant is called.

export const TOOL_NAME = 'natural_language';
/** What it was called before: it is understood, and not listed. */
export const OTHER_NAME = 'converse';

/** The name that is listed for the tool that somebody calls by its other one, perhaps with a server's before it. */
export function listedNameFor(name: string): string | undefined {
  const isOther = name === OTHER_NAME || name.endsWith(`_${OTHER_NAME}`);
  return isOther ? `${name.slice(0, -OTHER_NAME.length)}${TOOL_NAME}` : undefined;
}
