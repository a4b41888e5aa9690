// Tools as providers take them. One schema with something in it that they refuse has the whole request
// refused, so what they do not take is said in the tool's description instead: the model reads it there,
// and the server still checks what it is given.
import { isObject } from '../../base/object.ts';
import { cut } from '../cut.ts';
import type { ModelTool } from '../provider.ts';

type Schema = Readonly<Record<string, unknown>>;

/** At the top of a schema, where nothing but an object is taken. */
const REFUSED = new Set(['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not']);
/** A schema is somebody else's, and of any length. */
const LONGEST_NOTE = 10_000;

/** `isKey` tells which names of arguments are taken; without it all are. */
export function takenTool(
  tool: ModelTool,
  isKey: (name: string) => boolean = () => true,
): ModelTool {
  const { properties, required, ...others } = tool.inputSchema;
  const named = splitBy(isObject(properties) ? properties : {}, isKey);
  const rest = splitBy(others, (keyword) => !REFUSED.has(keyword));
  const wanted = Array.isArray(required) ? required : undefined;
  const isUntaken = (name: unknown): boolean => Object.hasOwn(named.untaken, String(name));
  const untaken = {
    ...rest.untaken,
    ...(Object.keys(named.untaken).length > 0 && { properties: named.untaken }),
    ...(wanted?.some(isUntaken) && { required: wanted.filter(isUntaken) }),
  };
  const inputSchema = {
    ...rest.taken,
    type: 'object',
    ...(isObject(properties) && { properties: named.taken }),
    ...(wanted && { required: wanted.filter((name) => !isUntaken(name)) }),
  };
  if (Object.keys(untaken).length === 0) return { ...tool, inputSchema };
  const note = `Beyond that, this JSON Schema holds for its arguments: ${cut(JSON.stringify(untaken), LONGEST_NOTE)}`;
  return { ...tool, description: `${tool.description}\n\n${note}`.trim(), inputSchema };
}

function splitBy(
  members: Schema,
  isTaken: (key: string) => boolean,
): { readonly taken: Schema; readonly untaken: Schema } {
  const entries = Object.entries(members);
  return {
    taken: Object.fromEntries(entries.filter(([key]) => isTaken(key))),
    untaken: Object.fromEntries(entries.filter(([key]) => !isTaken(key))),
  };
}
