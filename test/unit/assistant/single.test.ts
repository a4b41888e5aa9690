import { describe, expect, test } from 'vitest';
import { readCall } from '../../../src/assistant/single.ts';

describe('a call in text', () => {
  test.each([
    ['{"subtool":"a","args":{"n":1.0}}', '{"n":1.0}'],
    [' \n{"args": {}, "subtool": "a"}\n', '{}'],
    ['{"subtool":"a"}', '{}'],
    ['{"subtool":"a","args":null}', '{}'],
    ['```json\n{"subtool": "a", "args": {"n": [1]}}\n```', '{"n": [1]}'],
    ['```\n{"subtool": "a"}\n```', '{}'],
  ])('is %s', (answer, args) => {
    const told = readCall(answer);
    expect(told?.subtool).toBe('a');
    expect(told?.args.text).toBe(args); // as it was written
  });
});

test.each([
  '',
  'I would call {"subtool":"a","args":{}}',
  '{"subtool":"a","args":{}} and then nothing',
  '{"subtool":"a","args":[]}',
  '{"subtool":"a","args":"{}"}',
  '{"subtool":7}',
  '{"subtool":"a","args":{},"why":"because"}',
  '{"args":{}}',
  '[{"subtool":"a"}]',
  '{"subtool":"a"',
  '"subtool"',
])('no call is %s', (answer) => {
  expect(readCall(answer)).toBeUndefined();
});
