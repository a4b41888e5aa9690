// The name of an assistant's only tool.

export const TOOL_NAME = 'natural_language';
/** Its former name, which still works but isn't listed. */
export const OTHER_NAME = 'converse';

/** The listed name for a tool called by its former name, perhaps with a server's name as prefix. */
export function listedNameFor(name: string): string | undefined {
  const isOther = name === OTHER_NAME || name.endsWith(`_${OTHER_NAME}`);
  return isOther ? `${name.slice(0, -OTHER_NAME.length)}${TOOL_NAME}` : undefined;
}
