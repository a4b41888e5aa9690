import { describe, expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { ListKind } from '../../../src/child/list-pages.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { Library } from '../../../src/surface/library.ts';
import { childConfig } from '../../support/child-config.ts';
import { callsFor, createFakePool, FakeChild } from '../../support/fake-child.ts';

type Lists = { [kind in ListKind]?: readonly unknown[] };

/** Servers by name, each with what it was known to have when it last ran. */
function createLibrary(servers: Record<string, Lists>) {
  const configs = Object.keys(servers).map((name) => childConfig({ name }));
  const children = new Map<string, FakeChild>();
  const { pool, catalog, listeners } = createFakePool(configs, async ({ name }) => {
    const child = new FakeChild();
    child.others = servers[name] ?? {};
    child.greeting = { ...child.greeting, capabilities: { prompts: {}, resources: {} } };
    children.set(name, child);
    return child;
  });
  const remember = (name: string, lists: Lists): void => {
    const config = configs.find((candidate) => candidate.name === name);
    if (!config) throw new Error(`There is no ${name}.`);
    for (const [kind, items] of Object.entries(lists)) {
      catalog.rememberList(config, kind as ListKind, items);
    }
  };
  for (const [name, lists] of Object.entries(servers)) remember(name, lists);
  const conflicts: string[] = [];
  const library = new Library(configs, {
    pool,
    calls: callsFor(configs, pool),
    onConflict: (conflict) => conflicts.push(conflict),
  });
  listeners.listChanged = (name) => library.learn(name);
  const ask = (method: string, params: unknown) => {
    const text = typeof params === 'string' ? params : JSON.stringify(params);
    const verbatim = new Verbatim(text, JSON.parse(text));
    return library.ask(method, verbatim, { cancellation: new Cancellation() });
  };
  const asked = (name: string) => children.get(name)?.asked ?? [];
  const ownerOf = (uri: string) => library.ownerOf(uri)?.name;
  /** A server lists something else from now on. */
  const change = (name: string, lists: Lists): void => {
    remember(name, lists);
    library.learn(name);
  };
  return { library, configs, pool, change, conflicts, ask, asked, ownerOf, children };
}

test('all prompts and resources are listed unchanged, without starting a server', () => {
  const prompt = { name: 'p', description: 'x', arguments: [] };
  const resource = { uri: 'a:1', name: 'one' };
  const template = { uriTemplate: 'b:{id}', name: 'two' };
  const { library, children } = createLibrary({
    a: { prompts: [prompt], resources: [resource] },
    b: { templates: [template] },
    c: {},
  });
  expect(library.listPrompts()).toEqual([prompt]);
  expect(library.listResources()).toEqual([resource]);
  expect(library.listTemplates()).toEqual([template]);
  expect(children.size).toBe(0);
});

test('invalid items are not listed', () => {
  const { library } = createLibrary({
    a: {
      prompts: [null, 'p', { name: 7 }, { title: 'no name' }],
      resources: [{ uri: null }, 3, []],
      templates: [{ uri: 'a:1' }],
    },
  });
  expect([library.listPrompts(), library.listResources(), library.listTemplates()]).toEqual([
    [],
    [],
    [],
  ]);
});

test('the second of two prompts with the same name is renamed after its server, and both work', async () => {
  const { library, ask, asked } = createLibrary({
    a: { prompts: [{ name: 'p', title: 'of a' }] },
    b: { prompts: [{ name: 'p', title: 'of b' }] },
  });
  expect(library.listPrompts()).toEqual([
    { name: 'p', title: 'of a' },
    { name: 'b_p', title: 'of b' },
  ]);
  await ask('prompts/get', '{ "name": "b_p", "arguments": { "n": 12345678901234567890 } }');
  await ask('prompts/get', { name: 'p' });
  expect(asked('b')).toEqual([
    'prompts/get { "name": "p", "arguments": { "n": 12345678901234567890 } }',
  ]);
  expect(asked('a')).toEqual(['prompts/get {"name":"p"}']);
});

test('a renamed prompt never takes another’s name', () => {
  const { library } = createLibrary({
    a: { prompts: [{ name: 'p' }, { name: 'b_p' }] },
    b: { prompts: [{ name: 'p' }] },
  });
  expect(library.listPrompts()).toEqual([{ name: 'p' }, { name: 'b_p' }]);
});

test('the first of two resources with the same URI is used', async () => {
  const { library, ask, asked } = createLibrary({
    a: { resources: [{ uri: 'x:1', name: 'of a' }] },
    b: { resources: [{ uri: 'x:1', name: 'of b' }] },
  });
  expect(library.listResources()).toEqual([{ uri: 'x:1', name: 'of a' }]);
  await ask('resources/read', '{ "uri" : "x:1" }');
  expect(asked('a')).toEqual(['resources/read { "uri" : "x:1" }']);
  expect(asked('b')).toEqual([]);
});

test.each([
  ['db://users/7', 'db'],
  ['db://users/7/posts/8', 'db'],
  ['db://users/{id}', 'db'],
  ['db://rows', undefined],
  ['file:///any/where', 'files'],
  ['file:///', 'files'],
  ['xfile:///any', undefined],
  ['', undefined],
])('by the templates, %s belongs to %s', (uri, owner) => {
  const { ownerOf } = createLibrary({
    db: { templates: [{ uriTemplate: 'db://users/{id}' }] },
    other: { templates: [{ uriTemplate: 'db://tables/{name}' }] },
    files: { templates: [{ uriTemplate: 'file:///{+path}' }] },
  });
  expect(ownerOf(uri)).toBe(owner);
});

test('a listed resource takes precedence over a template', () => {
  const { ownerOf } = createLibrary({
    a: { templates: [{ uriTemplate: 'x:{any}' }] },
    b: { resources: [{ uri: 'x:1' }] },
  });
  expect(ownerOf('x:1')).toBe('b');
  expect(ownerOf('x:2')).toBe('a');
});

test('a template without variables matches only itself, with any characters', () => {
  const { ownerOf } = createLibrary({
    a: { templates: [{ uriTemplate: 'x://a.b/(c)+' }] },
    b: { resources: [{ uri: 'x:1' }] },
  });
  expect(ownerOf('x://a.b/(c)+')).toBe('a');
  expect(ownerOf('x://aXb/(c)+')).toBeUndefined();
});

test('an unlisted URI belongs to the only server with its scheme', () => {
  const { ownerOf } = createLibrary({
    a: { resources: [{ uri: 'notes://1' }, { uri: 'shared:1' }] },
    b: { resources: [{ uri: 'shared:2' }], templates: [{ uriTemplate: 'Maps:{place}/{zoom}' }] },
  });
  expect(ownerOf('notes://2')).toBe('a');
  expect(ownerOf('NOTES://2')).toBe('a');
  expect(ownerOf('maps:Oslo')).toBe('b');
  expect(ownerOf('shared:3')).toBeUndefined();
  expect(ownerOf('notes')).toBeUndefined();
  expect(ownerOf('other:1')).toBeUndefined();
});

test('completions go to the server that owns the prompt, under its own name, or the resource', async () => {
  const { ask, asked } = createLibrary({
    a: { prompts: [{ name: 'p' }] },
    b: { prompts: [{ name: 'p' }], templates: [{ uriTemplate: 'b:{id}' }] },
  });
  const argument = { name: 'id', value: '1' };
  await ask('completion/complete', { ref: { type: 'ref/prompt', name: 'b_p' }, argument });
  await ask('completion/complete', { ref: { type: 'ref/resource', uri: 'b:{id}' }, argument });
  expect(asked('b').map((text) => JSON.parse(text.replace(/^\S+ /, '')) as unknown)).toEqual([
    { ref: { type: 'ref/prompt', name: 'p' }, argument },
    { ref: { type: 'ref/resource', uri: 'b:{id}' }, argument },
  ]);
});

test.each([
  ['prompts/get', { name: 'nope' }, -32602, 'Unknown prompt: "nope".'],
  ['prompts/get', {}, -32602, '"name" must be a string.'],
  ['resources/read', { uri: 'x:1' }, -32002, 'Resource not found: x:1'],
  ['resources/read', { uri: 7 }, -32602, '"uri" must be a string.'],
  ['completion/complete', {}, -32602, '"uri" must be a string.'],
  ['completion/complete', { ref: { type: 'ref/prompt' } }, -32602, '"name" must be a string.'],
])('%s %j is refused', async (method, params, code, message) => {
  const { ask } = createLibrary({ a: {} });
  await expect(ask(method, params)).rejects.toMatchObject({ code, message });
});

test('lists that are being fetched from a new server are awaited', async () => {
  const { pool, ask, asked, children } = createLibrary({ a: {} });
  await pool.use('a', new Cancellation());
  const child = children.get('a');
  if (!child) throw new Error('It was started.');
  child.others = { prompts: [{ name: 'late' }], resources: [{ uri: 'late:1' }] };
  await ask('prompts/get', { name: 'late' });
  await ask('resources/read', { uri: 'late:1' });
  expect(asked('a')).toHaveLength(2);
});

describe('the first to list something keeps it', () => {
  const p = (title: string) => ({ name: 'p', title });

  test('a prompt, whatever the order in the configuration', async () => {
    const { library, change, conflicts, ask, asked } = createLibrary({
      a: {},
      b: { prompts: [p('b')] },
    });
    expect(library.listPrompts()).toEqual([p('b')]);
    change('a', { prompts: [p('a')] });
    expect(library.listPrompts()).toEqual([{ ...p('a'), name: 'a_p' }, p('b')]);
    await ask('prompts/get', { name: 'p' });
    expect([asked('a'), asked('b').length]).toEqual([[], 1]);
    change('a', { prompts: [p('a'), { name: 'q' }] });
    expect(conflicts).toEqual([
      'prompt "p" of server "a" is listed as "a_p": server "b" already has a prompt with that name.',
    ]);
    change('b', { prompts: [] });
    expect(library.listPrompts()).toEqual([{ ...p('a'), name: 'a_p' }, { name: 'q' }]);
  });

  test('a resource and a template', () => {
    const resource = { uri: 'x://r/1' };
    const template = { uriTemplate: 'x://t/{id}' };
    const { library, change, conflicts, ownerOf } = createLibrary({
      a: {},
      b: { resources: [resource], templates: [template] },
    });
    library.listResources();
    change('a', { resources: [resource], templates: [template] });
    expect([ownerOf('x://r/1'), ownerOf('x://t/7'), ownerOf('x://t/{id}')]).toEqual([
      'b',
      'b',
      'b',
    ]);
    expect(library.listResources()).toEqual([resource]);
    expect(conflicts).toContain(
      'server "a" also lists the resource x://r/1. Server "b" listed it first and keeps it.',
    );
  });

  test('URIs that a later template would match', () => {
    const { library, change, conflicts, ownerOf } = createLibrary({
      greedy: {},
      notes: { resources: [{ uri: 'notes://1' }] },
      db: { templates: [{ uriTemplate: 'db://{table}/{id}' }] },
    });
    library.listResources();
    expect([ownerOf('notes://2'), ownerOf('db://users/7')]).toEqual(['notes', 'db']);
    change('greedy', {
      templates: ['{+any}', 'notes:{+any}', 'db://users/{id}', 'own://{x}'].map((uriTemplate) => ({
        uriTemplate,
      })),
      resources: [{ uri: 'notes://mine' }],
    });
    expect([ownerOf('notes://2'), ownerOf('db://users/7')]).toEqual(['notes', 'db']);
    expect([ownerOf('own://1'), ownerOf('new://1'), ownerOf('notes://mine')]).toEqual([
      'greedy',
      'greedy',
      'greedy',
    ]);
    expect(conflicts).toContain(
      'server "greedy" also uses notes: URIs. Server "notes" used the scheme first, so templates of "greedy" cannot match it.',
    );
  });

  test('servers can share common schemes', () => {
    const { library, change, ownerOf, conflicts } = createLibrary({
      logs: { resources: [{ uri: 'file:///logs/app.log' }] },
      files: {},
    });
    library.listResources();
    change('files', { templates: [{ uriTemplate: 'file:///{+path}' }] });
    expect(ownerOf('file:///logs/app.log')).toBe('logs');
    expect(ownerOf('file:///home/tea.txt')).toBe('files');
    expect(conflicts).toEqual([]);
  });

  test('a server added by a reload comes last', () => {
    const { library, change, configs } = createLibrary({
      a: { prompts: [p('a')] },
      b: { prompts: [p('b')] },
    });
    library.update(configs.slice(1));
    expect(library.listPrompts()).toEqual([p('b')]);
    library.update(configs);
    expect(library.listPrompts()).toEqual([{ ...p('a'), name: 'a_p' }, p('b')]);
    change('b', {});
  });
});

test('the most specific of several matching templates is used', () => {
  const { ownerOf } = createLibrary({
    greedy: { templates: [{ uriTemplate: 'db://{+any}' }] },
    users: { templates: [{ uriTemplate: 'db://users/{id}' }] },
  });
  expect([ownerOf('db://users/7'), ownerOf('db://rows/7')]).toEqual(['users', 'greedy']);
});

test('a template without a scheme only matches schemes no one else uses', () => {
  const { ownerOf } = createLibrary({
    greedy: { templates: [{ uriTemplate: '{+uri}' }] },
    files: { resources: [{ uri: 'file:///a' }] },
  });
  expect(ownerOf('file:///b')).toBe('files');
  expect(ownerOf('web://b')).toBe('greedy');
});

test('each conflict is reported once, up to a hundred', () => {
  const prompts = Array.from({ length: 500 }, (_, index) => ({ name: `p${index}` }));
  const { library, change, conflicts } = createLibrary({ a: { prompts }, b: { prompts } });
  library.listPrompts();
  expect(conflicts).toHaveLength(100);
  change('b', { prompts: prompts.slice(0, 50) });
  expect(conflicts).toHaveLength(100);
});
