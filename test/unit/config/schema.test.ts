import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { findStale } from '../../../scripts/generate.ts';
import { fits, type JsonSchema } from '../../../src/config/schema/fits.ts';
import {
  childFileSchema,
  configSchema,
  serversFileSchema,
} from '../../../src/config/schema/schema.ts';

const file = new URL('../../../switchboard.config.schema.json', import.meta.url);
const schema: JsonSchema & { $defs: { childFile: JsonSchema } } = JSON.parse(
  readFileSync(file, 'utf8'),
);

const serversJson = schema.properties?.['mcpServers'] ?? {};

test('the generated files match the schema', () => {
  expect(findStale()).toEqual([]);
});

test('every key has a description', () => {
  const undescribed: string[] = [];
  const visit = ({ properties = {}, additionalProperties }: JsonSchema, path: string) => {
    for (const [key, value] of Object.entries(properties)) {
      if (!value.description) undescribed.push(`${path}${key}`);
      visit(value, `${path}${key}.`);
    }
    if (typeof additionalProperties === 'object') visit(additionalProperties, `${path}*.`);
  };
  visit(schema, '');
  visit(schema.$defs.childFile, '');
  expect(undescribed).toEqual([]);
});

describe('the JSON schema', () => {
  const validate = new Ajv2020({ allowUnionTypes: true }).compile(schema);

  test.each([
    {},
    { $schema: './node_modules/switchboard/switchboard.config.schema.json' },
    {
      discoverGlobs: ['x/*.json'],
      suites: { a: { suiteName: 'b', expose: { allow: ['c'], deny: [] } } },
      timeouts: { childSpawnMs: 1, rpcMs: 2, stopMs: 3 },
      introspection: { mode: 'redacted', summaryMaxChars: 10 },
    },
    { mcpServers: { a: { command: 'x', args: [], env: { A: 1 }, disabled: true } } },
    { mcpServers: { a: { command: { cmd: 'x' } } } },
    { suites: { a: { show: 'flip', start: 'eager', idleMs: 0 } }, flip: { suites: 'never' } },
    { serversFile: '~/servers.json', mcpServers: { a: { show: 'off', idleMs: 0.5 } } },
    { mcpServers: { a: { type: 'http', url: 'x', headers: { A: 'b' }, oauth: { more: 1 } } } },
  ])('accepts %j', (value) => {
    expect(validate(value)).toBe(true);
    expect(fits(schema, value)).toBe(true);
  });

  test.each([
    [],
    { discoverGlobs: 'x' },
    { discoverGlob: [] },
    { timeouts: { rpcMs: 0 } },
    { timeouts: { rpcMs: 0.5 } },
    { limits: { messageBytes: 1023 } },
    { limits: { depth: 0 } },
    { limits: { members: 1.5 } },
    { introspection: { mode: 'short' } },
    { suites: { a: { show: 'tools' } } },
    { suites: { a: { command: 'x' } } },
    { flip: { suites: true } },
    { mcpServers: { a: { idleMs: -1 } } },
    { mcpServers: { a: { url: '' } } },
    { mcpServers: { a: { url: 'x', headers: { A: 1 } } } },
    { mcpServers: { a: { command: 42 } } },
    { mcpServers: { a: { command: {} } } },
    { mcpServers: { a: { env: { A: null } } } },
  ])('refuses %j', (value) => {
    expect(validate(value)).toBe(false);
    expect(fits(schema, value)).toBe(false);
  });
});

// Files are let through by fits() and explained by zod, so the two must never disagree.
describe('the quick check and zod agree', () => {
  const leaf = fc.oneof(
    fc.constantFrom('', 'x', 'mcp', 'auto', 'inherit', 'summary', '2025-06-18', 'flip', 'lazy'),
    fc.constantFrom(0, 1, 1.5, -1, 65_535, 65_536),
    fc.constantFrom(1023, 1024, 2 ** 31 - 1, 2 ** 31, 2 ** 53, Infinity, NaN),
    fc.constantFrom(null, true, undefined, [], ['x'], [1], {}, { x: 'y' }),
  );

  test.each([
    ['configuration files', configSchema, schema],
    ['child files', childFileSchema, schema.$defs.childFile],
    ['servers.json', serversFileSchema, serversJson],
  ])('on %s', (_, zod, json) => {
    fc.assert(
      fc.property(valuesNear(json, leaf), (value) => {
        expect(fits(json, value)).toBe(z.safeParse(zod, value).success);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Values that mostly follow a schema and now and then do not. */
function valuesNear(json: JsonSchema, leaf: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { properties, additionalProperties, anyOf, enum: allowed } = json;
  const options = [{ arbitrary: leaf, weight: 1 }];
  if (allowed) options.push({ arbitrary: fc.constantFrom(...allowed), weight: 4 });
  for (const option of anyOf ?? [])
    options.push({ arbitrary: valuesNear(option, leaf), weight: 3 });
  if (json.type === 'object') {
    const known = Object.entries(properties ?? {}).map(([key, value]) => [
      key,
      valuesNear(value, leaf),
    ]);
    const other = typeof additionalProperties === 'object' ? additionalProperties : {};
    const record = fc.record(
      { ...Object.fromEntries(known), unknown: valuesNear(other, leaf) },
      { requiredKeys: [] },
    );
    options.push({ arbitrary: record, weight: 12 });
  }
  return fc.oneof(...options);
}
