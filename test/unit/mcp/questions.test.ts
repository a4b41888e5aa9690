import { expect, test } from 'vitest';
import {
  CHILD_FACING_CAPABILITIES,
  canAnswer,
  cannotAnswer,
  forwardedCapabilities,
  questionMethod,
  requiredFor,
} from '../../../src/mcp/questions.ts';

test.each([
  ['roots/list', undefined, { roots: {} }, true],
  ['roots/list', undefined, { sampling: {} }, false],
  ['roots/list', undefined, { roots: true }, false],
  ['sampling/createMessage', {}, { sampling: {} }, true],
  ['sampling/createMessage', {}, {}, false],
  ['elicitation/create', {}, {}, false],
  ['elicitation/create', {}, { elicitation: {} }, true],
  ['elicitation/create', undefined, { elicitation: {} }, true],
  ['elicitation/create', { mode: 'form' }, { elicitation: {} }, true],
  ['elicitation/create', { mode: 'form' }, { elicitation: { form: {} } }, true],
  ['elicitation/create', { mode: 'form' }, { elicitation: { url: {} } }, false],
  ['elicitation/create', { mode: 'url' }, { elicitation: {} }, false],
  ['elicitation/create', { mode: 'url' }, { elicitation: { form: {} } }, false],
  ['elicitation/create', { mode: 'url' }, { elicitation: { form: {}, url: {} } }, true],
] as const)('%s %j of a host with %j: %s', (method, params, capabilities, isPossible) => {
  expect(canAnswer(capabilities, method, params)).toBe(isPossible);
});

test('what we tell servers that we can do, we can be asked', () => {
  for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create'] as const) {
    expect(canAnswer(CHILD_FACING_CAPABILITIES, method, {})).toBe(true);
  }
  expect(canAnswer(CHILD_FACING_CAPABILITIES, 'elicitation/create', { mode: 'url' })).toBe(true);
});

test.each([
  ['roots/list', undefined, { roots: {} }],
  ['sampling/createMessage', {}, { sampling: {} }],
  ['elicitation/create', {}, { elicitation: { form: {} } }],
  ['elicitation/create', { mode: 'form' }, { elicitation: { form: {} } }],
  ['elicitation/create', { mode: 'url' }, { elicitation: { url: {} } }],
] as const)('%s %j needs %j, and who has it can be asked', (method, params, needed) => {
  expect(requiredFor(method, params)).toEqual(needed);
  expect(canAnswer(needed, method, params)).toBe(true);
  expect(canAnswer({}, method, params)).toBe(false);
});

test('only what we can hand on is said to a server', () => {
  const elicitation = { form: {}, url: {} };
  const capabilities = {
    elicitation,
    sampling: { tools: {} },
    roots: 7,
    tasks: {},
    extensions: {},
  };
  expect(forwardedCapabilities(capabilities)).toEqual({ elicitation, sampling: { tools: {} } });
});

test('other methods are no questions', () => {
  expect(questionMethod('elicitation/create')).toBe('elicitation/create');
  for (const method of ['ping', 'tools/call', 'toString', '']) {
    expect(questionMethod(method)).toBeUndefined();
  }
  expect(cannotAnswer('roots/list')).toMatchObject({ code: -32601 });
});
