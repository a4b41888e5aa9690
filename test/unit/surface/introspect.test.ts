import { expect, test } from 'vitest';
import { describeSubtools } from '../../../src/surface/introspect.ts';

const SUMMARY = { mode: 'summary', summaryMaxChars: 40 } as const;
const tool = {
  name: 'click',
  title: 'Click',
  description: `Clicks an element on the page. ${'More words follow here. '.repeat(10)}`,
  inputSchema: {
    type: 'object',
    properties: { selector: { type: 'string' } },
    required: ['selector'],
  },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: false },
};

test('a summary has name, summary and input schema', () => {
  expect(describeSubtools([tool], SUMMARY)).toEqual({
    tools: [
      { name: 'click', summary: 'Clicks an element on the page.', inputSchema: tool.inputSchema },
    ],
  });
});

test('the redacted form has only name and summary', () => {
  expect(describeSubtools([tool], { ...SUMMARY, mode: 'redacted' })).toEqual({
    tools: [{ name: 'click', summary: 'Clicks an element on the page.' }],
  });
});

test('the full form adds description, title, output schema and annotations', () => {
  expect(describeSubtools([tool], { ...SUMMARY, mode: 'full' })).toEqual({
    tools: [{ ...tool, summary: 'Clicks an element on the page.' }],
  });
});

test('hidden characters are removed from descriptions and schema prose, but not from enums', () => {
  const hidden = 'Weather.\u001b[8m\u200b\u202e\u{e0041}';
  const poisoned = {
    name: 'weather',
    description: hidden,
    inputSchema: { type: 'object', description: hidden, properties: { a: { enum: ['a\u200bb'] } } },
  };

  expect(describeSubtools([poisoned], { ...SUMMARY, mode: 'full' })).toEqual({
    tools: [
      {
        name: 'weather',
        summary: 'Weather.',
        description: 'Weather.',
        inputSchema: {
          type: 'object',
          description: 'Weather.',
          properties: { a: { enum: ['a\u200bb'] } },
        },
      },
    ],
  });
});

test('a description of megabytes is cut', () => {
  const { tools } = describeSubtools([{ name: 'huge', description: 'd'.repeat(4 << 20) }], {
    ...SUMMARY,
    mode: 'full',
  }) as { tools: { description: string }[] };
  expect(tools[0]?.description).toHaveLength(2_000);
});

test('duplicate and unprintable names are left out, with a note', () => {
  const names = ['echo', 'echo', 'x'.repeat(300), 'ok'];
  expect(
    describeSubtools(
      names.map((name) => ({ name })),
      { ...SUMMARY, mode: 'redacted' },
      [
        { name: 'hid', where: 'name' },
        { name: 'den', where: 'inputSchema' },
        { name: 'new', where: 'changed' },
      ],
    ),
  ).toEqual({
    tools: [
      { name: 'echo', summary: '' },
      { name: 'ok', summary: '' },
    ],
    note: 'Subtools left out because of hidden characters: 2. Subtools held until the user accepts them (with "switchboard changes"): 1. Subtools left out because of repeated or overlong names: 2.',
  });
});

test('a missing schema becomes one that accepts any object', () => {
  const { tools } = describeSubtools([{ name: 'a' }, { name: 'b', inputSchema: null }], SUMMARY);
  expect(tools).toEqual([
    { name: 'a', summary: '', inputSchema: { type: 'object' } },
    { name: 'b', summary: '', inputSchema: { type: 'object' } },
  ]);
});

test('a list too long for schemas keeps every name and says how to see one in full', () => {
  const many = Array.from({ length: 500 }, (_, index) => ({
    name: `tool_${index}`,
    inputSchema: { type: 'object', description: 'x'.repeat(500) },
  }));
  const { tools, note } = describeSubtools(many, SUMMARY) as { tools: object[]; note: string };

  expect(tools).toHaveLength(500);
  expect(tools[0]).toEqual({ name: 'tool_0', summary: '' });
  expect(note).toContain('Introspect with "subtool"');
});

test('a list too long even for names is cut, and says how many there are', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => ({ name: `tool_${index}` }));
  const { tools, note } = describeSubtools(many, SUMMARY) as { tools: object[]; note: string };

  expect(JSON.stringify(tools).length).toBeLessThan(450_000);
  expect(note).toContain(`Only the first ${tools.length} of 20000`);
});

test('null, and prose inside data, stay unchanged', () => {
  const data = { description: 'x'.repeat(3_000), title: 'a\u200bb' };
  const inputSchema = {
    type: 'object',
    properties: {
      a: { default: null, enum: ['a', null], const: null },
      b: { default: data, examples: [data] },
    },
  };
  const { tools } = describeSubtools([{ name: 'a', inputSchema }], SUMMARY);
  expect(tools).toEqual([{ name: 'a', summary: '', inputSchema }]);
});
