// Suites in front of the fake server: the actions `introspect` and `call`.
import { describe, expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { childConfig } from '../../support/child-config.ts';
import { callView, createBoard, openView, say } from '../../support/fake-board.ts';
import { FakeChild } from '../../support/fake-child.ts';

const LONG = `First sentence that is long enough to fill more than half of a summary's room. ${'Then it goes on. '.repeat(20)}`;
const LOOK_UP = {
  name: 'look_up',
  title: 'Look up',
  description: LONG,
  inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
  _meta: { internal: true },
};

function openSuite(some: Partial<ChildConfig> = {}) {
  const child = new FakeChild();
  child.tools = [LOOK_UP, { name: 'bare' }];
  let starts = 0;
  const { board } = createBoard([childConfig({ name: 'dict', ...some })], async () => {
    starts++;
    return child;
  });
  const { view } = openView(board);
  const introspect = async (more: object = {}) => {
    const { value } = await callView(view, 'dict_suite', { action: 'introspect', ...more });
    const { structuredContent } = value as {
      structuredContent: { tools: Record<string, unknown>[] };
    };
    return structuredContent.tools;
  };
  const call = (more: object) => say(view, 'dict_suite', { action: 'call', ...more });
  return { view, child, introspect, call, starts: () => starts };
}

describe('introspect', () => {
  const KEYS = {
    redacted: ['name', 'summary'],
    summary: ['name', 'summary', 'inputSchema'],
    full: ['name', 'summary', 'inputSchema', 'description', 'title', 'outputSchema', 'annotations'],
  };
  const MODES = ['redacted', 'summary', 'full'] as const;

  test.each(MODES)(
    'in mode %s returns as much as the mode says, unless the call says otherwise',
    async (mode) => {
      const { introspect } = openSuite({ introspection: { mode, summaryMaxChars: 160 } });
      expect(Object.keys((await introspect())[0] ?? {})).toEqual(KEYS[mode]);
      for (const verbosity of MODES) {
        expect(Object.keys((await introspect({ verbosity }))[0] ?? {})).toEqual(KEYS[verbosity]);
      }
    },
  );

  test('summaries keep to the limit; full descriptions are whole', async () => {
    const { introspect } = openSuite({ introspection: { mode: 'full', summaryMaxChars: 40 } });
    const [lookUp, bare] = await introspect();
    expect(String(lookUp?.['summary']).length).toBeLessThanOrEqual(40);
    expect(lookUp?.['description']).toBe(LONG);
    expect(bare?.['summary']).toBe('');
  });

  test('narrows to one subtool, and suggests names for an unknown one', async () => {
    const { introspect } = openSuite();
    expect(await introspect({ subtool: 'bare' })).toMatchObject([{ name: 'bare' }]);
    await expect(introspect({ subtool: 'look-up' })).rejects.toMatchObject({
      code: 'SUBTOOL_UNKNOWN',
      text: expect.stringContaining('Did you mean "look_up"?') as string,
    });
  });

  test('an unknown verbosity is refused with the known ones', async () => {
    const { introspect, starts } = openSuite();
    await expect(introspect({ verbosity: 'loud' })).rejects.toMatchObject({
      text: 'Unknown verbosity: "loud". Use one of: summary, full, redacted.',
    });
    expect(starts()).toBe(0);
  });
});

describe('allow and deny', () => {
  const NAMES = ['look_up', 'bare'];

  test.each([
    [{ allow: ['look_up'], deny: undefined }, ['look_up']],
    [{ allow: undefined, deny: ['l*'] }, ['bare']],
    [{ allow: ['*'], deny: ['*_up'] }, ['bare']],
    [{ allow: [], deny: undefined }, []],
  ])('%j applies to introspect and call, and a refusal starts nothing', async (expose, shown) => {
    const { introspect, call, child, starts } = openSuite({ expose });
    for (const subtool of NAMES.filter((name) => !shown.includes(name))) {
      await expect(call({ subtool })).rejects.toThrow(
        `Subtool '${subtool}' not allowed by Switchboard (suite 'dict').`,
      );
    }
    expect(starts()).toBe(0);
    expect((await introspect()).map(({ name }) => name)).toEqual(shown);
    for (const subtool of shown) expect(await call({ subtool })).toBe(`called ${subtool}`);
    expect(child.called).toEqual(shown);
  });

  test('a hidden subtool is not suggested', async () => {
    const { introspect } = openSuite({ expose: { allow: undefined, deny: ['bare'] } });
    const refusal = introspect({ subtool: 'bard' });
    await expect(refusal).rejects.not.toMatchObject({ text: expect.stringContaining('"bare"') });
  });
});

describe('call', () => {
  test.each([{}, { subtool: '' }, { subtool: 7 }])('with %j starts nothing', async (more) => {
    const { call, starts } = openSuite();
    await expect(call(more)).rejects.toThrow('Missing required parameter: subtool');
    expect(starts()).toBe(0);
  });

  test('without args sends {}, and parses args written as a JSON string', async () => {
    const { call, child } = openSuite();
    await call({ subtool: 'bare' });
    await call({ subtool: 'bare', args: null });
    await call({ subtool: 'bare', args: '{"a": 1}' });
    expect(child.received.map((text) => JSON.parse(text) as unknown)).toEqual([{}, {}, { a: 1 }]);
    await expect(call({ subtool: 'bare', args: [1] })).rejects.toThrow(
      '"args" for subtool "bare" must be an object.',
    );
  });

  test.each([
    '{"big":12345678901234567890,"one":1.0,"zero":-0,"exp":1E400}',
    '{"__proto__":{"polluted":true},"":""}',
    '{"twice":1,"twice":2}',
    '{ "spaced" : [ 1 , 2 ] }',
  ])('forwards arguments and results as written: %s', async (value) => {
    const { view, child } = openSuite();
    child.result = `{"content":[{"type":"text","text":"x","odd":${value}}],"unknown":${value}}`;
    const args = Verbatim.parse(`{"action":"call","subtool":"bare","args":${value}}`);
    const result = await view.callTool('dict_suite', args, { cancellation: new Cancellation() });
    expect(child.received).toEqual([value]);
    expect(result.text).toBe(child.result);
  });

  test.each([
    ['"just text"', { content: [{ type: 'text', text: '"just text"' }] }],
    ['42', { content: [{ type: 'text', text: '42' }] }],
    [
      '{"ok":true}',
      {
        content: [{ type: 'text', text: '{"ok":true}' }],
        structuredContent: { ok: true },
        ok: true,
      },
    ],
  ])('turns the bare result %s into a tool result', async (result, expected) => {
    const { view, child } = openSuite();
    child.result = result;
    const answer = await callView(view, 'dict_suite', { action: 'call', subtool: 'bare' });
    expect(JSON.parse(answer.text)).toEqual(expected);
    expect(answer.value).toEqual(expected);
  });

  test.each(['null', '{"content":"no array"}', '{"content":[{"no":"type"}]}'])(
    'the unreadable result %s is the server’s mistake',
    async (result) => {
      const { call, child } = openSuite();
      child.result = result;
      await expect(call({ subtool: 'bare' })).rejects.toThrow(
        'Server "dict" returned an invalid result for subtool "bare"',
      );
    },
  );

  test('with results.wrap "json" the whole result is one text block', async () => {
    const { call, child } = openSuite({ wrapResults: 'json' });
    child.result = '{"ok":true}';
    expect(await call({ subtool: 'bare' })).toBe('{"ok":true}');
  });
});
