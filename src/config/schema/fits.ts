// A minimal JSON Schema validator for the schema generated from schema.ts. It supports only the keywords used there
// and answers yes or no: nearly every file is valid, and then nothing else has to be loaded. problems.ts explains
// invalid files.

export interface JsonSchema {
  readonly type?: string | readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: boolean | JsonSchema | undefined;
  readonly items?: JsonSchema | undefined;
  readonly anyOf?: readonly JsonSchema[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly minLength?: number | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly description?: string | undefined;
  readonly default?: unknown;
}

// No closures: with 500 child files they would dominate garbage collection.
export function fits(schema: JsonSchema, value: unknown): boolean {
  const { type, anyOf, enum: allowed } = schema;
  if (anyOf && !fitsOne(anyOf, value)) return false;
  if (allowed && !allowed.includes(value)) return false;
  if (type === undefined || typeof type === 'string') return fitsType(type, schema, value);
  for (const one of type) if (fitsType(one, schema, value)) return true;
  return false;
}

function fitsOne(options: readonly JsonSchema[], value: unknown): boolean {
  for (const option of options) if (fits(option, value)) return true;
  return false;
}

function fitsType(type: string | undefined, schema: JsonSchema, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case 'string':
      return typeof value === 'string' && value.length >= (schema.minLength ?? 0);
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return isWithin(schema, value);
    case 'integer':
      return isWithin(schema, value) && Number.isSafeInteger(value);
    case 'array':
      return Array.isArray(value) && itemsFit(schema.items ?? {}, value);
    case 'object':
      return isPlainObject(value) && membersFit(schema, value);
    default:
      return false;
  }
}

function itemsFit(schema: JsonSchema, items: readonly unknown[]): boolean {
  for (const item of items) if (!fits(schema, item)) return false;
  return true;
}

function isWithin({ minimum, maximum }: JsonSchema, value: unknown): boolean {
  return (
    typeof value === 'number' &&
    Number.isFinite(value) &&
    value >= (minimum ?? -Infinity) &&
    value <= (maximum ?? Infinity)
  );
}

function membersFit(schema: JsonSchema, value: Readonly<Record<string, unknown>>): boolean {
  const { properties, required, additionalProperties = true } = schema;
  for (const key of required ?? []) if (!Object.hasOwn(value, key)) return false;
  for (const key of Object.keys(value)) {
    const known = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const expected = known ?? additionalProperties;
    if (expected === false) return false;
    // A JavaScript file may set a key to undefined, which counts as leaving it out.
    const isLeftOut = known && value[key] === undefined && !required?.includes(key);
    if (expected !== true && !isLeftOut && !fits(expected, value[key])) return false;
  }
  return true;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
