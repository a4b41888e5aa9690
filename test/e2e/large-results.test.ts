// A large result passes through without being decoded. It must arrive exactly as the server wrote it, and everything
// that looks into results must still see all of it.
import { describe, expect, test } from 'vitest';
import { createSharedProject } from '../support/background.ts';
import { configWith, createProject } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';

/** Returns text that JSON.stringify would write differently: an escaped slash, and numbers it would change. */
const SERVER = `
  const lines = require('node:readline').createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const send = (result) => process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + result + '}\\n');
    if (method === 'initialize') {
      send(JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }));
    } else if (method === 'tools/list') {
      send(JSON.stringify({ tools: [{ name: 'large', inputSchema: { type: 'object' } }] }));
    } else if (method === 'tools/call') {
      const { fill, end } = params.arguments;
      const text = JSON.stringify(fill.repeat(300_000)).slice(1, -1) + '\\\\/' + end;
      send('{"content":[{"type":"text","text":"' + text + '"}],"n":1.0,"big":12345678901234567890}');
    } else send('{}');
  });
`;

const server = { command: process.execPath, args: ['-e', SERVER] };

function expected(fill: string, end = ''): string {
  const text = `${JSON.stringify(fill.repeat(300_000)).slice(1, -1)}\\/${end}`;
  return `"result":{"content":[{"type":"text","text":"${text}"}],"n":1.0,"big":12345678901234567890}}`;
}

describe.each([
  ['alone', () => createProject(configWith({ kid: server }))],
  ['shared', () => createSharedProject({ kid: server })],
])('a large result, %s', (_how, create) => {
  test.each(['abc ', 'a "quoted" \\ text', 'é漢🎉'])('arrives as it is (%s)', async (fill) => {
    const host = await RawHost.connect(create());
    await host.call('kid', 'large', { fill, end: '' });
    expect(host.texts.at(-1)?.endsWith(expected(fill))).toBe(true);
    await host.request('ping');
    expect(host.impure).toEqual([]);
  });

  test('arrives in the other framing, too', async () => {
    const host = await RawHost.connect(create(), { framing: 'content-length' });
    await host.call('kid', 'large', { fill: 'abc ', end: '' });
    expect(host.texts.at(-1)?.endsWith(expected('abc '))).toBe(true);
  });
});

test('secrets in a large result are masked', async () => {
  const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  const results = { secrets: 'mask' };
  const host = await RawHost.connect(createSharedProject({ kid: { ...server, results } }));
  await host.call('kid', 'large', { fill: 'abc ', end: token });
  const text = host.texts.at(-1) ?? '';
  expect(text.length).toBeGreaterThan(1_200_000);
  expect(text).not.toContain(token);
});
