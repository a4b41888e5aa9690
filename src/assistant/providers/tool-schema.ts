// Tools in a form providers accept. A schema with an unsupported part makes them refuse the whole request, so that
// part moves to the tool's description: the model reads it there, and the server still checks it.
import { isObject } from '../../base/object.ts';
import { cut } from '../cut.ts';
import type { ModelTool } from '../provider.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Not allowed at the top of a schema, which must be an object. */
const REFUSED = new Set(['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not']);
/** Schemas can be arbitrarily long. */
const LONGEST_NOTE = 10_000;

/** `isKey` returns whether the provider accepts an argument name. */
export function toAcceptedTool(
  tool: ModelTool,
  isKey: (name: string) => boolean = () => true,
): ModelTool {
  const { properties, required, ...others } = tool.inputSchema;
  const named = splitBy(isObject(properties) ? properties : {}, isKey);
  const rest = splitBy(others, (keyword) => !REFUSED.has(keyword));
  const wanted = Array.isArray(required) ? required : undefined;
  const isRejected = (name: unknown): boolean => Object.hasOwn(named.rejected, String(name));
  const rejected = {
    ...rest.rejected,
    ...(Object.keys(named.rejected).length > 0 && { properties: named.rejected }),
    ...(wanted?.some(isRejected) && { required: wanted.filter(isRejected) }),
  };
  const inputSchema = {
    ...rest.accepted,
    type: 'object',
    ...(isObject(properties) && { properties: named.accepted }),
    ...(wanted && { required: wanted.filter((name) => !isRejected(name)) }),
  };
  if (Object.keys(rejected).length === 0) return { ...tool, inputSchema };
  const note = `The arguments must also match this JSON Schema: ${cut(JSON.stringify(rejected), LONGEST_NOTE)}`;
  return { ...tool, description: `${tool.description}\n\n${note}`.trim(), inputSchema };
}

function splitBy(
  members: Schema,
  isAccepted: (key: string) => boolean,
): { readonly accepted: Schema; readonly rejected: Schema } {
  const entries = Object.entries(members);
  return {
    accepted: Object.fromEntries(entries.filter(([key]) => isAccepted(key))),
    rejected: Object.fromEntries(entries.filter(([key]) => !isAccepted(key))),
  };
}
