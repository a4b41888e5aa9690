// How the settings for agents may be written: made from the one table of them.
import * as z from 'zod/mini';
import { AGENT_KEYS } from '../settings/agent-keys.ts';
import type { Setting } from '../settings/said.ts';
import type { Kind } from '../settings/values.ts';
import { atLeastOne, key, milliseconds, texts } from './schema-parts.ts';

/** A setting that can also be made by a variable. */
function settingKey({ kind, standard, variable, says }: Setting<unknown>) {
  return key(schemaOf(kind), `${says} Or: \`${variable}\`.`, standard);
}

function schemaOf({ json }: Kind<unknown>): z.ZodMiniType {
  switch (json) {
    case 'boolean':
      return z.boolean();
    case 'count':
      return atLeastOne;
    case 'milliseconds':
      return milliseconds;
    case 'text':
      return z.string();
    case 'texts':
      return z.union([z.string(), texts]);
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
