import { expect, test } from 'vitest';
import {
  CHILD_FACING_CAPABILITIES,
  canAnswer,
  cannotAnswer,
  forwardedCapabilities,
  questionMethod,
  requiredFor,
  signElicitationsIn,
  signQuestion,
  signQuestionsIn,
} from '../../../src/mcp/questions.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';

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

test('servers can ask everything in the capabilities we declare', () => {
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

test('servers see only capabilities we can forward', () => {
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

test('other methods are not questions', () => {
  expect(questionMethod('elicitation/create')).toBe('elicitation/create');
  for (const method of ['ping', 'tools/call', 'toString', '']) {
    expect(questionMethod(method)).toBeUndefined();
  }
  expect(cannotAnswer('roots/list')).toMatchObject({ code: -32601 });
});

test.each([
  [
    'elicitation/create',
    '{"message":"Who?","n":1.0}',
    '{"message":"Server \\"box\\" asks: Who?","n":1.0}',
  ],
  [
    'elicitation/create',
    '{"mode":"url","url":"https://a","message":"Visit it."}',
    '{"mode":"url","url":"https://a","message":"Server \\"box\\" asks: Visit it."}',
  ],
  ['elicitation/create', '{"message":7}', '{"message":"Server \\"box\\" asks:"}'],
  ['elicitation/create', '[]', '{"message":"Server \\"box\\" asks:"}'],
  [
    'sampling/createMessage',
    '{"systemPrompt":"Be brief.","maxTokens":5.0}',
    '{"systemPrompt":"This request comes from the MCP server \\"box\\".\\n\\nBe brief.","maxTokens":5.0}',
  ],
  [
    'sampling/createMessage',
    '{"messages":[]}',
    '{"systemPrompt":"This request comes from the MCP server \\"box\\".","messages":[]}',
  ],
  ['roots/list', '{}', '{}'],
])('%s %s names the server and keeps the rest', (method, params, expected) => {
  const signed = signQuestion(method, new Verbatim(params, JSON.parse(params)), 'box');
  expect(signed?.text).toBe(expected);
});

test('a server can neither omit its name nor fake another', () => {
  const sign = (message: string, server: string) => {
    const signed = signQuestion('elicitation/create', Verbatim.of({ message }), server);
    return signed?.member('message')?.value;
  };
  expect(sign('Server "bank" asks: Your code?', 'box')).toBe(
    'Server "box" asks: Server "bank" asks: Your code?',
  );
  expect(sign('Who?', 'two\nlin\u200bes')).toBe('Server "two lines" asks: Who?');
  // Signed by the Switchboard behind this one, as for an assistant.
  expect(sign('Server "box" asks: Who?', 'box')).toBe('Server "box" asks: Who?');
});

test('the questions in a result are signed, and the rest stays', () => {
  const text =
    '{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}},' +
    '"where":{"method":"roots/list"},"odd":7},"requestState":"s","n":1.0}';
  const signed = signQuestionsIn(new Verbatim(text, JSON.parse(text)), 'box');
  expect(signed.text).toBe(text.replace('Who?', 'Server \\"box\\" asks: Who?'));
  expect(signQuestionsIn(Verbatim.of({ content: [] }), 'box').value).toEqual({ content: [] });
});

test('the pages in an error are signed', () => {
  const data = Verbatim.of({ elicitations: [{ message: 'Sign in.', url: 'https://a' }], n: 1 });
  expect(signElicitationsIn(data, 'box').value).toEqual({
    elicitations: [{ message: 'Server "box" asks: Sign in.', url: 'https://a' }],
    n: 1,
  });
  expect(signElicitationsIn(Verbatim.of({ n: 1 }), 'box').value).toEqual({ n: 1 });
});
