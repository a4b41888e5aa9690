import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

async function loadChild(entry: object) {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { a: entry } } });
  const child = (await project.load()).children.get('a');
  if (!child) throw new Error('no child');
  return { ...child, says: project.plain(child.problem?.text ?? '') };
}

test('a URL keeps all its settings, and no others', async () => {
  const { remote, command, problem } = await loadChild({
    url: 'https://${HOST}/mcp',
    headers: { Authorization: 'Bearer ${TOKEN}' },
    oauth: { clientId: 'me', clientSecret: '${SECRET}', scopes: ['read'], callbackPort: 7777 },
  });
  expect(remote).toEqual({
    type: 'http',
    url: 'https://${HOST}/mcp',
    headers: { Authorization: 'Bearer ${TOKEN}' },
    oauth: { clientId: 'me', clientSecret: '${SECRET}', scopes: ['read'], callbackPort: 7777 },
  });
  expect({ command, problem }).toEqual({ command: undefined, problem: undefined });
  expect((await loadChild({ url: 'http://x' })).remote).toEqual({
    type: 'http',
    url: 'http://x',
    headers: {},
    oauth: undefined,
  });
});

test.each([
  [undefined, 'https://x', 'http'],
  [undefined, 'wss://x', 'ws'],
  [undefined, 'WS://x', 'ws'],
  ['http', 'https://x', 'http'],
  ['streamable-http', 'https://x', 'http'],
  ['streamableHttp', 'https://x', 'http'],
  ['streamable_http', 'https://x', 'http'],
  ['SSE', 'https://x', 'sse'],
  ['ws', 'wss://x', 'ws'],
  ['WebSocket', 'wss://x', 'ws'],
])('the type %j with %s is %s', async (type, url, expected) => {
  expect((await loadChild({ type, url })).remote?.type).toBe(expected);
});

test.each(['stdio', 'grpc', ''])('the type "%s" does not fit a URL', async (type) => {
  const { remote, problem, says } = await loadChild({ type, url: 'https://x' });
  expect({ remote, code: problem?.code }).toEqual({
    remote: undefined,
    code: 'CHILD_NOT_CONFIGURED',
  });
  expect(says).toBe(
    `Server "a" has a "url", but its type "${type}" is not supported for remote servers. Set "type" to "http", "sse" or "ws" in <project>/switchboard.config.json, or remove it.`,
  );
});

test.each([{ command: 'x' }, { command: { cmd: 'x' } }])(
  'a url next to %j is an error for that server',
  async (entry) => {
    const { problem, says } = await loadChild({ ...entry, url: 'https://x' });
    expect(problem?.code).toBe('CONFIG_INVALID');
    expect(says).toBe(
      'Server "a" has both a "command" and a "url". Remove one of them in <project>/switchboard.config.json.',
    );
  },
);

test('a URL takes precedence over a program in the folder', async () => {
  const project = createProject({
    'mcps/a/.mcp.json': { name: 'a', url: 'https://x' },
    'mcps/a/dist/index.js': '',
  });
  expect((await project.load()).children.get('a')).toMatchObject({
    command: undefined,
    remote: { url: 'https://x' },
  });
});
