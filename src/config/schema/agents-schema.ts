// The schema of `agents`, built from the table of settings.
import * as z from 'zod/mini';
import { AGENT_KEYS } from '../settings/agent-keys.ts';
import type { Setting } from '../settings/sources.ts';
import type { Kind } from '../settings/values.ts';
import { atLeastOne, key, milliseconds, strings } from './schema-parts.ts';

function settingKey({ kind, default: usual, variable, description }: Setting<unknown>) {
  return key(schemaOf(kind), `${description} Also set by \`${variable}\`.`, usual);
}

function schemaOf({ json }: Kind<unknown>): z.ZodMiniType {
  switch (json) {
    case 'boolean':
      return z.boolean();
    case 'count':
      return atLeastOne;
    case 'milliseconds':
      return milliseconds;
    case 'string':
      return z.string();
    case 'strings':
      return z.union([z.string(), strings]);
    default:
      return z.enum([...json]);
  }
}

export const agentsSchema = z.strictObject(
  Object.fromEntries(
    Object.entries<Setting<unknown>>(AGENT_KEYS).map(([name, setting]) => [
      name,
      settingKey(setting),
    ]),
  ),
);
