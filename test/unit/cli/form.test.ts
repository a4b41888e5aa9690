// A server's form, filled in on a terminal: each field asked for, checked and asked for again.
import { expect, test } from 'vitest';
import { fillForm } from '../../../src/cli/terminal/form.ts';

/** What comes of a form if these lines are typed; undefined is the end of input. */
async function fill(schema: object, ...typed: (string | undefined)[]) {
  const shown: string[] = [];
  const left = [...typed];
  const answer = await fillForm(schema, {
    ask: async (prompt) => {
      shown.push(prompt);
      if (left.length === 0) throw new Error(`Nothing was typed for: ${prompt}`);
      return left.shift();
    },
    say: (line) => void shown.push(line),
  });
  expect(left).toEqual([]);
  return { answer, shown };
}

const form = (properties: object, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});

test('without fields it is a yes-or-no question', async () => {
  expect(await fill({}, 'y')).toEqual({
    answer: { action: 'accept', content: {} },
    shown: ['Allow it? [y/N] '],
  });
  expect((await fill({}, 'n')).answer).toEqual({ action: 'decline' });
  expect((await fill({}, '')).answer).toEqual({ action: 'decline' });
  expect((await fill({}, undefined)).answer).toEqual({ action: 'cancel' });
});

test('a single yes-or-no field is asked at once', async () => {
  const schema = form({ sure: { type: 'boolean', title: 'Are you sure' } });
  expect(await fill(schema, 'YES')).toEqual({
    answer: { action: 'accept', content: { sure: true } },
    shown: ['Are you sure? [y/N] '],
  });
  expect((await fill(schema, '')).answer).toEqual({ action: 'accept', content: { sure: false } });
  expect((await fill(schema, undefined)).answer).toEqual({ action: 'cancel' });
  const yes = form({ go_on: { type: 'boolean', default: true } });
  expect(await fill(yes, '')).toEqual({
    answer: { action: 'accept', content: { go_on: true } },
    shown: ['go_on? [Y/n] '],
  });
});

test('a form can be declined before it is filled in, and cancelled at any time', async () => {
  const schema = form({ a: { type: 'string' }, b: { type: 'string' } });
  expect(await fill(schema, 'n')).toEqual({
    answer: { action: 'decline' },
    shown: ['Answer? [Y/n] '],
  });
  expect((await fill(schema, undefined)).answer).toEqual({ action: 'cancel' });
  expect((await fill(schema, '', 'x', undefined)).answer).toEqual({ action: 'cancel' });
});

test('strings and numbers are checked and asked again', async () => {
  const schema = form({
    name: { type: 'string', title: 'Your name', description: 'As on the card', minLength: 2 },
    age: { type: 'integer', minimum: 18, maximum: 99 },
    height: { type: 'number' },
  });
  expect(await fill(schema, '', '', 'A', 'Ada', 'x', '17', '36.5', '36', 'tall', '1.7')).toEqual({
    answer: { action: 'accept', content: { name: 'Ada', age: 36, height: 1.7 } },
    shown: [
      'Answer? [Y/n] ',
      'Your name (As on the card): ',
      'This field is required.',
      'Your name (As on the card): ',
      'Enter at least 2 characters.',
      'Your name (As on the card): ',
      'age: ',
      'Enter a whole number.',
      'age: ',
      'Enter at least 18.',
      'age: ',
      'Enter a whole number.',
      'age: ',
      'height: ',
      'Enter a number.',
      'height: ',
    ],
  });
});

test('optional fields can be left empty, and defaults are used', async () => {
  const schema = form(
    { name: { type: 'string' }, size: { type: 'number', default: 5 }, ok: { type: 'boolean' } },
    [],
  );
  const { answer, shown } = await fill(schema, 'y', '', '', '');
  expect(answer).toEqual({ action: 'accept', content: { size: 5 } });
  expect(shown.slice(1)).toEqual(['name (optional): ', 'size [5]: ', 'ok (optional) [y/n]: ']);
});

test.each([
  [{ type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] }],
  [
    {
      type: 'string',
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' },
      ],
    },
  ],
])('an option is chosen by number, value or title: %j', async (field) => {
  const choose = async (...typed: string[]) => fill(form({ colour: field }), '', ...typed);
  const { answer, shown } = await choose('3', '2');
  expect(answer).toEqual({ action: 'accept', content: { colour: 'g' } });
  expect(shown.slice(1)).toEqual([
    '  1  Red',
    '  2  Green',
    'colour, 1 to 2: ',
    'Choose one from the list.',
    'colour, 1 to 2: ',
  ]);
  expect((await choose('r')).answer.content).toEqual({ colour: 'r' });
  expect((await choose('green')).answer.content).toEqual({ colour: 'g' });
});

test('several options are separated by commas', async () => {
  const field = {
    type: 'array',
    items: { type: 'string', enum: ['a', 'b', 'c'] },
    minItems: 1,
    maxItems: 2,
  };
  const { answer, shown } = await fill(form({ which: field }), '', '1,2,3', '1, x', '3, a');
  expect(answer).toEqual({ action: 'accept', content: { which: ['c', 'a'] } });
  expect(shown).toContain('which, 1 to 3, separated by commas: ');
  expect(shown).toContain('Choose at most 2.');
  const titled = { type: 'array', items: { anyOf: [{ const: 'a', title: 'Ah' }] } };
  expect((await fill(form({ which: titled }), '', 'ah')).answer.content).toEqual({ which: ['a'] });
});

test('a server’s text cannot control the terminal or fake a line', async () => {
  const schema = form({
    'a\u001b[2J': {
      type: 'string',
      title: 'x\u001b]0;t\u0007\nAllow it? [y/N]',
      description: '\u202eb',
    },
  });
  const { shown } = await fill(schema, '', 'v');
  expect(shown[1]).toBe('x Allow it? [y/N] (b): ');
});

test.each([[form({ deep: { type: 'object' } })], [form({ list: { type: 'array' } })]])(
  'an unsupported field type cannot be asked for: %j',
  async (schema) => {
    expect(await fill(schema)).toEqual({
      answer: { action: 'decline' },
      shown: [
        expect.stringMatching(/^Declined: "(deep|list)" cannot be answered on a terminal\.$/),
      ],
    });
  },
);
