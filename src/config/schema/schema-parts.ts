// What the schema of the configuration is put together from: the kinds of values that stand under many keys.
import * as z from 'zod/mini';
import { LONGEST_MS } from '../defaults.ts';

/** A key that may be left out: what it is for, and what holds without it. */
export const key = <T extends z.ZodMiniType>(schema: T, description: string, standard?: unknown) =>
  z.optional(
    schema.check(
      z.meta(standard === undefined ? { description } : { description, default: standard }),
    ),
  );

export const text = z.string().check(z.minLength(1));
export const texts = z.array(z.string());
// Fractions are welcome: limits are sometimes computed.
export const milliseconds = z.number().check(z.minimum(1), z.maximum(LONGEST_MS));
export const atLeastOne = z.int().check(z.minimum(1));

/** 0 switches the limit off. */
export const idleMilliseconds = z.number().check(z.minimum(0), z.maximum(LONGEST_MS));
