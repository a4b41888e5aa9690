// A key that an agent cannot do without.
import { AgentFileError } from './draft.ts';
import { describeValue, textOf } from './fields.ts';

/** Its text. Throws an `AgentFileError` where it is missing, blank or something else. */
export function requiredText(
  values: Readonly<Record<string, unknown>>,
  key: string,
  lineOf: (key: string) => number,
): string {
  const value = values[key];
  const text = textOf(value);
  if (text !== undefined) return text;
  const isSomething = typeof value === 'object' && value !== null;
  const says = `${key}: expected a text, got ${describeValue(value)}.`;
  if (isSomething) throw new AgentFileError(lineOf(key), says);
  throw new AgentFileError(lineOf(key), `It has no ${key}.`, key);
}
