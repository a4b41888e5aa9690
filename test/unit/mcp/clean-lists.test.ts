import { expect, test } from 'vitest';
import { cleanList, cleanTools, explainRefusedTools } from '../../../src/mcp/clean-lists.ts';

const HIDDEN = '\u200b\u{e0041}\u3164\u{e0101}';
const schemaOf = (property: object, name = 'a') => ({
  type: 'object',
  properties: { [name]: property },
});

test('a tool without hidden characters stays unchanged', () => {
  const tool = {
    name: 'a',
    title: '❤️ می‌خواهم',
    inputSchema: schemaOf({ enum: ['\n', '\r\n'], default: '\t', pattern: '^\\s\u00e9$' }),
  };
  const { tools, refused } = cleanTools([tool]);
  expect(tools[0]).toEqual(tool);
  expect(refused).toEqual([]);
});

test('prose is cleaned everywhere in a definition, and nothing else changes', () => {
  const prose = `Reads${HIDDEN}\u001b[8m files.`;
  const property = {
    type: 'string',
    title: prose,
    description: prose,
    $comment: prose,
    examples: [prose, { deep: [prose] }],
    'x-note': prose,
  };
  const clean = 'Reads files.';
  const cleanProperty = {
    type: 'string',
    title: clean,
    description: clean,
    $comment: clean,
    examples: [clean, { deep: [clean] }],
    'x-note': clean,
  };
  // A property may have the name of a keyword.
  const schema = (inside: object, text: string) => ({
    type: 'object',
    properties: { enum: inside, default: { anyOf: [inside, null, 7] } },
    $defs: { pattern: { items: inside, description: text } },
    required: ['enum'],
  });
  const tool = (inside: object, text: string) => ({
    name: 'read',
    title: text,
    description: text,
    inputSchema: schema(inside, text),
    outputSchema: schema(inside, text),
    annotations: { title: text, readOnlyHint: true },
    _meta: { own: [1] },
  });
  const { tools, refused } = cleanTools([tool(property, prose)]);
  expect(refused).toEqual([]);
  expect(JSON.stringify(tools)).toBe(JSON.stringify([tool(cleanProperty, clean)]));
});

test('hidden characters in a pattern become escapes', () => {
  const pattern = '^[^\u200b\u{e0041}\r]+$';
  const [tool] = cleanTools([{ name: 'a', inputSchema: schemaOf({ pattern }) }]).tools;
  expect(tool?.['inputSchema']).toEqual(
    schemaOf({ pattern: '^[^\\u200b\\udb40\\udc41\\u000d]+$' }),
  );
});

test.each([
  ['name', { name: `a${HIDDEN}b` }],
  ['name', { name: 'a\u0007b' }],
  ['inputSchema', { name: 'a', inputSchema: schemaOf({}, 'x\ufe00') }],
  ['inputSchema', { name: 'a', inputSchema: { anyOf: [{ properties: { 'x\u3164': {} } }] } }],
  ['inputSchema', { name: 'a', inputSchema: schemaOf({ enum: ['x', ['y', 'x\u2060']] }) }],
  ['inputSchema', { name: 'a', inputSchema: schemaOf({ const: 'x\u200d' }) }],
  ['inputSchema', { name: 'a', inputSchema: schemaOf({ default: { 'x\u202e': 1 } }) }],
  ['inputSchema', { name: 'a', inputSchema: { required: ['x\u200b'] } }],
  ['inputSchema', { name: 'a', inputSchema: { $defs: { 'x\u00ad': {} } } }],
  ['outputSchema', { name: 'a', outputSchema: schemaOf({}, 'x\u200b') }],
])('a tool with hidden characters in names or exact values is refused: %s, %j', (where, tool) => {
  expect(cleanTools([tool, { name: 'fine' }])).toEqual({
    tools: [{ name: 'fine' }],
    refused: [{ name: tool.name, where }],
  });
});

test('refused tools are named with their hidden characters escaped', () => {
  expect(explainRefusedTools([])).toEqual([]);
  const refused = [
    { name: 'a\u200bb', where: 'name' },
    { name: 'weather', where: 'inputSchema' },
    { name: 'send', where: 'changed' },
    { name: 'po\nst', where: 'scan' },
  ] as const;
  expect(explainRefusedTools(refused)).toEqual([
    'Not listed because of hidden characters: a\\u200bb (name), weather (inputSchema)',
    'Held until you accept them: send, po\\nst (see: switchboard changes)',
  ]);
});

test('prompts, resources and templates are cleaned, or left out if their name hides characters', () => {
  const prose = `T\u200be${HIDDEN}a`;
  const prompt = (text: string) => ({
    name: 'p',
    title: text,
    description: text,
    arguments: [{ name: 'a', description: text, required: true }],
  });
  expect(
    cleanList('prompts', [
      prompt(prose),
      { name: 'p\u200b' },
      { name: 'q', arguments: [{ name: 'a\u200b' }] },
      { name: 'r\u202e', title: 'x' },
      7,
    ]),
  ).toEqual([prompt('Tea'), 7]);
  expect(
    cleanList('resources', [
      { uri: 'a:1', name: prose, title: prose, description: prose, size: 3 },
      { uri: 'a:\u200b2', name: 'x' },
    ]),
  ).toEqual([{ uri: 'a:1', name: 'Tea', title: 'Tea', description: 'Tea', size: 3 }]);
  expect(
    cleanList('templates', [
      { uriTemplate: 'a:{id}', description: prose },
      { uriTemplate: 'a:{i\u2063d}' },
    ]),
  ).toEqual([{ uriTemplate: 'a:{id}', description: 'Tea' }]);
});

test('a property named __proto__ is cleaned like any other', () => {
  const inputSchema = JSON.parse(
    '{"properties":{"__proto__":{"description":"a\\u200bb"},"constructor":{}}}',
  ) as object;
  const [tool] = cleanTools([{ name: 'a', inputSchema }]).tools;
  expect(JSON.stringify(tool?.['inputSchema'])).toBe(
    '{"properties":{"__proto__":{"description":"ab"},"constructor":{}}}',
  );
});
