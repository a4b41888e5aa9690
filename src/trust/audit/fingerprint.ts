// What the audit log keeps of arguments: their size, their shape and a hash, but none of their values.
import { createHash } from 'node:crypto';
import type { Verbatim } from '../../rpc/verbatim.ts';

export interface Fingerprint {
  readonly bytes: number;
  /** Of the JSON text, as it was sent. */
  readonly sha256: string;
  readonly shape: Shape;
}

/** A type, or the types of members or elements. */
export type Shape = string | readonly Shape[] | { readonly [key: string]: Shape };

const MAX_DEPTH = 3;
const MAX_KEYS = 32;

export function fingerprint({ text, value }: Verbatim): Fingerprint {
  return {
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
    shape: shapeOf(value),
  };
}

export function shapeOf(value: unknown, left = MAX_DEPTH): Shape {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return left === 0 ? 'array' : elementShapes(value, left);
  return left === 0 ? 'object' : memberShapes(value, left);
}

/** Each shape once. */
function elementShapes(items: readonly unknown[], left: number): Shape {
  const shapes = new Map<string, Shape>();
  for (const item of items.slice(0, MAX_KEYS)) {
    const shape = shapeOf(item, left - 1);
    shapes.set(JSON.stringify(shape), shape);
  }
  return [...shapes.values()];
}

function memberShapes(value: object, left: number): Shape {
  const shapes: [string, Shape][] = [];
  for (const [key, member] of Object.entries(value).slice(0, MAX_KEYS)) {
    shapes.push([keyName(key), shapeOf(member, left - 1)]);
  }
  return Object.fromEntries(shapes);
}

/** Keys can be data, such as paths, addresses and tokens. Parameter names are short words. */
function keyName(key: string): string {
  return /^[A-Za-z_$][A-Za-z_$.-]*\d{0,3}$/.test(key) && key.length <= 40 ? key : '*';
}
