// Value types that several keys of the configuration share.
import * as z from 'zod/mini';
import { LONGEST_MS } from '../defaults.ts';

/** An optional key with its description and default. */
export const key = <T extends z.ZodMiniType>(schema: T, description: string, usual?: unknown) =>
  z.optional(
    schema.check(z.meta(usual === undefined ? { description } : { description, default: usual })),
  );

export const nonEmpty = z.string().check(z.minLength(1));
export const strings = z.array(z.string());
// Fractions are allowed: limits are sometimes computed.
export const milliseconds = z.number().check(z.minimum(1), z.maximum(LONGEST_MS));
export const atLeastOne = z.int().check(z.minimum(1));

/** 0 means never. */
export const idleMilliseconds = z.number().check(z.minimum(0), z.maximum(LONGEST_MS));

/** Messages and files are read as one string, and V8's limit isn't much higher. */
export const MOST_BYTES = 512 * 1024 * 1024;
