// `key=value` and `key:=json` on the command line, typed by a tool's schema.
import { expect, test } from 'vitest';
import { findMistakes, parseArguments, typeArguments } from '../../../src/cli/tools/arguments.ts';
import { typeOfSchema } from '../../../src/mcp/schema-type.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    number: { type: 'number' },
    integer: { type: 'integer' },
    flag: { type: 'boolean' },
    nothing: { type: 'null' },
    level: { enum: ['low', 3, true, null] },
    tags: { type: 'array', items: { type: 'string' } },
    ids: { type: 'array', items: { type: 'integer' } },
    point: { type: 'object', properties: { x: { type: 'number' } } },
    either: { type: ['string', 'null', 'integer'] },
    list: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    any: {},
  },
};

function nothing(): string {
  throw new Error('Nothing is piped in.');
}

function typed(...words: string[]): string {
  const given = parseArguments(words, nothing);
  if (given.kind !== 'pairs') throw new Error(`${given.kind}, not pairs`);
  return typeArguments(given.pairs, typeOfSchema(SCHEMA)).text;
}

test.each([
  [['text=tea'], '{"text":"tea"}'],
  [['text=5'], '{"text":"5"}'],
  [['text=null'], '{"text":"null"}'],
  [['text='], '{"text":""}'],
  [['text=a=b:=c'], '{"text":"a=b:=c"}'],
  [['text={"a":1}'], '{"text":"{\\"a\\":1}"}'],
  [['number=1.0'], '{"number":1.0}'],
  [['number=-1e3'], '{"number":-1e3}'],
  [['integer=12345678901234567890'], '{"integer":12345678901234567890}'],
  [['flag=true'], '{"flag":true}'],
  [['flag=false'], '{"flag":false}'],
  [['nothing=null'], '{"nothing":null}'],
  [['level=low'], '{"level":"low"}'],
  [['level=3'], '{"level":3}'],
  [['level=true'], '{"level":true}'],
  [['level=null'], '{"level":null}'],
  [['tags=a'], '{"tags":["a"]}'],
  [['tags=a', 'tags=b,c'], '{"tags":["a","b,c"]}'],
  [['tags=["a", "b"]'], '{"tags":["a", "b"]}'],
  [['ids=1', 'ids=2'], '{"ids":[1,2]}'],
  [['point={"x": 1.50}'], '{"point":{"x": 1.50}}'],
  [['either=5'], '{"either":5}'],
  [['either=null'], '{"either":null}'],
  [['either=five'], '{"either":"five"}'],
  [['list=a'], '{"list":"a"}'],
  [['list=["a"]'], '{"list":["a"]}'],
  [['list=[draft] notes'], '{"list":"[draft] notes"}'],
  [['any=5'], '{"any":5}'],
  [['any=007'], '{"any":"007"}'],
  [['any={"a": [1]}'], '{"any":{"a": [1]}}'],
  [['any=tea'], '{"any":"tea"}'],
  [['text:="5"', 'number:=1'], '{"text":"5","number":1}'],
  [['text:=5'], '{"text":5}'],
])('%j is %s', (words, json) => {
  expect(typed(...words)).toBe(json);
});

test.each([
  [['number=five'], 'Invalid value for "number": expected number, got "five".'],
  [['integer=1.5'], 'Invalid value for "integer": expected integer, got "1.5".'],
  [['flag=yes'], 'Invalid value for "flag": expected boolean, got "yes".'],
  [['level=high'], 'Invalid value for "level": expected "low" | 3 | true | null, got "high".'],
  [['ids=1', 'ids=two'], 'Invalid value for "ids": expected integer, got "two".'],
  [['point=1,2'], 'Invalid value for "point": expected {x?: number}, got "1,2".'],
  [['point={x:1}'], 'Invalid value for "point": expected {x?: number}, got "{x:1}".'],
  [['text=a', 'text=b'], 'Duplicate argument: "text".'],
  [['text:={'], '"text" is not valid JSON:'],
  [['txt=a'], 'Unknown parameter: "txt". Did you mean "text"?'],
])('%j is refused', (words, message) => {
  expect(() => typed(...words)).toThrow(
    expect.objectContaining({ code: 'TOOL_ARGUMENTS', message: expect.stringContaining(message) }),
  );
});

test('without a schema, any parameters are accepted', () => {
  const given = parseArguments(['a=1', '__proto__=x'], nothing);
  const args = given.kind === 'pairs' && typeArguments(given.pairs, typeOfSchema({}));
  expect(args && args.text).toBe('{"a":1,"__proto__":"x"}');
});

test('parameters of all alternatives are known', () => {
  const type = typeOfSchema({
    oneOf: [
      { properties: { id: { type: 'string' } } },
      { properties: { id: { type: 'string' }, page: { type: 'integer' } } },
    ],
  });
  const given = parseArguments(['id=5', 'page=5'], nothing);
  expect(given.kind === 'pairs' && typeArguments(given.pairs, type).text).toBe(
    '{"id":"5","page":5}',
  );
});

test('a single word can be JSON, or ask for stdin', () => {
  const textOf = (words: string[], piped: () => string) => {
    const given = parseArguments(words, piped);
    return given.kind === 'json' && given.args.text;
  };
  expect(textOf([], nothing)).toBe('{}');
  expect(textOf(['{"a": "b=c"}'], nothing)).toBe('{"a": "b=c"}');
  expect(textOf(['-'], () => '{"n": 1.0}')).toBe('{"n": 1.0}');
  expect(() => textOf(['-'], () => 'tea')).toThrow('The arguments are not valid JSON');
});

test.each([
  [['tea'], 'The arguments are not valid JSON: '],
  [['a=1', '{"b": 2}'], '"{"b": 2}" is not key=value or key:=json.'],
  [['{}', '{}'], '"{}" is not key=value or key:=json.'],
  [['a=1', 'tea'], '"tea" is not key=value or key:=json.'],
  [['=x', 'a=1'], '"=x" is not key=value or key:=json.'],
  [['5'], 'The arguments must be a JSON object.'],
])('%j is a usage error', (words, message) => {
  expect(() => parseArguments(words, nothing)).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(message) }),
  );
});

test('finds mistakes in arguments', () => {
  const type = typeOfSchema({ ...SCHEMA, required: ['text', 'flag'] });
  expect(findMistakes({ text: 'a', flag: true, number: 1, tags: [], any: [] }, type)).toEqual([]);
  expect(
    findMistakes({ txt: 'a', integer: 1.5, level: 'x', point: 1, either: true }, type),
  ).toEqual([
    'Missing argument: text.',
    'Missing argument: flag.',
    'Unknown parameter: "txt". Did you mean "text"?',
    'Invalid value for "integer": expected integer.',
    'Invalid value for "level": expected "low" | 3 | true | null.',
    'Invalid value for "point": expected {x?: number}.',
    'Invalid value for "either": expected string | null | integer.',
  ]);
});
