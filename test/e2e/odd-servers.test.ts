// Servers that are odd in small ways, each a few lines long and written in the test itself.
import { expect, test } from 'vitest';
import { configWith, createProject } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';

/** A server that answers the handshake; `onCall` is the code that runs for a tools/call `m`. */
function inlineServer(onCall: string, more: object = {}) {
  const script = `
    const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const m = JSON.parse(line);
      if (m.method === 'initialize') send({ id: m.id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} } });
      else if (m.method === 'tools/list') send({ id: m.id, result: { tools: [{ name: 'listed' }] } });
      else if (m.method === 'tools/call') { ${onCall} }
    });`;
  return { command: process.execPath, args: ['-e', script], ...more };
}

async function connect(server: object, more: object = {}): Promise<RawHost> {
  return RawHost.connect(createProject(configWith({ kid: server }, more)));
}

test('error data with a secret stays JSON, without the secret', async () => {
  const secret = '{"debug":true}';
  const onCall = `send({ id: m.id, error: { code: -32000, message: 'no', data: { config: JSON.parse(process.env.OPTS), raw: process.env.OPTS } } });`;
  const host = await connect(inlineServer(onCall, { env: { OPTS: secret } }));

  const { error } = await host.call('kid', 'listed');

  expect(error).toMatchObject({ code: -32000, data: { raw: '***' } });
  expect(host.impure).toEqual([]);
});

test('a JSON log line with an id is not an answer', async () => {
  const onCall = `
    process.stdout.write(JSON.stringify({ level: 30, id: m.id, msg: 'working' }) + '\\n');
    send({ id: m.id, result: { content: [{ type: 'text', text: 'the answer' }] } });`;
  const host = await connect(inlineServer(onCall));

  expect(textOf(await host.call('kid', 'listed'))).toBe('the answer');
});

test('a server that has closed its input fails at once, and is restarted', async () => {
  const onCall = `
    if (m.params.name === 'close') { require('node:fs').closeSync(0); setInterval(() => {}, 1000); }
    send({ id: m.id, result: { content: [{ type: 'text', text: String(process.pid) }] } });`;
  const host = await connect(inlineServer(onCall), { timeouts: { rpcMs: 60_000, stopMs: 500 } });
  const pid = textOf(await host.call('kid', 'close'));

  const failed = await host.call('kid', 'listed');
  expect(failed.result?.isError).toBe(true);
  expect(textOf(failed)).toContain('closed its input');
  const again = textOf(await host.call('kid', 'listed'));
  expect(again).toMatch(/^\d+$/);
  expect(again).not.toBe(pid);
});

test('a failure result for an unlisted subtool passes through, with our explanation appended', async () => {
  const onCall = `send({ id: m.id, result: { isError: true, big: 1, content: [{ type: 'text', text: 'my own words' }] } });`;
  const host = await connect(inlineServer(onCall));

  const { result } = await host.call('kid', 'liste');
  expect(result).toMatchObject({ isError: true, big: 1 });
  expect(result?.content?.map(({ text }) => text)).toEqual([
    'my own words',
    'Server "kid" has no subtool "liste". Did you mean "listed"? The action "introspect" (in a terminal: switchboard tools kid) lists its subtools.',
  ]);
  const listed = await host.call('kid', 'listed');
  expect(listed.result?.content).toHaveLength(1);
});

test('request members other than arguments are forwarded exactly, with the token replaced', async () => {
  const onCall = `send({ id: m.id, result: { content: [{ type: 'text', text: line }] } });
    send({ method: 'notifications/progress', params: { progressToken: 0, progress: 1 } });`;
  const host = await connect(inlineServer(onCall));
  host.write(
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"kid_suite","arguments":{"action":"call","subtool":"listed"},"_meta":{"trace":12345678901234567890,"progressToken":98765432109876543210}}}\n',
  );
  const answer = await host.request('ping').then(() => host.call('kid', 'listed'));
  expect(textOf(answer)).not.toContain('_meta');
  const first = host.messages.find((message) => message['id'] === 7) as unknown as typeof answer;
  expect(textOf(first)).toMatch(/"_meta":\{"trace":12345678901234567890,"progressToken":\d\}/);
});

test('a server with an unset variable reports it every time', async () => {
  const host = await connect({ command: 'node', args: ['${NO_SUCH_VARIABLE}'] });
  for (let time = 0; time < 7; time++) {
    expect(textOf(await host.introspect('kid'))).toContain('NO_SUCH_VARIABLE');
  }
});

test('a variable’s value in the arguments does not appear in an error', async () => {
  const silent = {
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1000)', '${TOKEN}'],
  };
  const project = createProject(
    configWith({ kid: silent }, { timeouts: { childSpawnMs: 500, stopMs: 500 } }),
  );
  const host = await RawHost.connect(project, { env: { TOKEN: 'tok-1234567890' } });

  const text = textOf(await host.introspect('kid'));
  expect(text).toContain('${TOKEN}');
  expect(text).not.toContain('tok-1234567890');
});
