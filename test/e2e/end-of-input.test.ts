// A host that closes its input still gets its answers: `echo '…' | switchboard` is one.
import { expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { processesWith } from '../support/processes.ts';
import { configWith, createProject } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
/** Longer than any test runs: who waits for it hangs. */
const FOR_EVER = { timeouts: { stopMs: 600_000 } };

function callOf(id: number, subtool: string, args: object = {}, more: object = {}): object {
  const params = { name: 'box_suite', arguments: { action: 'call', subtool, args }, ...more };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

const lines = (...messages: object[]) => messages.map((one) => `${JSON.stringify(one)}\n`).join('');

/** Starts the program with this as its whole input; gives what it answered, by id. */
async function pipe(config: Record<string, object>, input: string) {
  const project = createProject(config);
  const { status, stdout } = await runSwitchboard(project, [], { input });
  expect(status).toBe(0);
  const messages = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id?: unknown });
  return { messages, byId: new Map(messages.map((message) => [message.id, message])) };
}

test('piped calls are answered, the last one without a line end', async () => {
  const { byId, messages } = await pipe(
    configWith({ box: testServer('toolbox') }, FOR_EVER),
    lines(callOf(1, 'wait', { ms: 200 })) + JSON.stringify(callOf(2, 'echo', { a: 1 })),
  );
  expect(messages).toHaveLength(2);
  expect(byId.get(1)).toMatchObject({ result: { content: [{ text: 'waited 200 ms' }] } });
  expect(byId.get(2)).toMatchObject({ result: { content: [{ text: '{"a":1}' }] } });
});

test('also with Content-Length headers', async () => {
  const project = createProject(configWith({ box: testServer('toolbox') }, FOR_EVER));
  const json = JSON.stringify(callOf(1, 'echo', { a: 1 }));
  const input = `Content-Length: ${json.length}\r\n\r\n${json}`;
  const { stdout } = await runSwitchboard(project, [], { input });
  expect(stdout).toMatch(/^Content-Length: \d+\r\n\r\n\{.*"id":1/);
});

test('a host of 2026-07-28 gets its answers, and its subscriptions do not delay the exit', async () => {
  const notifications = { toolsListChanged: true };
  const { byId } = await pipe(
    configWith({ box: testServer('toolbox') }, FOR_EVER),
    lines(
      { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: ENVELOPE } },
      {
        jsonrpc: '2.0',
        id: 2,
        method: 'subscriptions/listen',
        params: { _meta: ENVELOPE, notifications },
      },
      callOf(3, 'echo', { a: 1 }, { _meta: ENVELOPE }),
    ),
  );
  expect(byId.get(2)).toMatchObject({ result: { resultType: 'complete' } });
  expect(byId.get(3)).toMatchObject({ result: { content: [{ text: '{"a":1}' }] } });
});

test('calls beyond stopMs get an error, and the server stops', async () => {
  const project = createProject();
  project.write('switchboard.config.json', {
    mcpServers: { box: testServer('toolbox', `${project.dir}/server`) },
    timeouts: { stopMs: 300 },
  });
  const host = await RawHost.connect(project);
  await host.call('box', 'echo');
  const call = host.call('box', 'wait', { ms: 600_000 });
  await host.request('ping');
  expect(await host.close()).toEqual({ code: 0, signal: null });
  expect((await call).error).toMatchObject({
    code: -32_000,
    message: 'The host closed its input before this request finished.',
    data: { code: 'CANCELLED' },
  });
  expect(processesWith(`${project.dir}/server`)).toEqual([]);
});

test('a question without an answer is refused, and the call continues', async () => {
  const project = createProject(configWith({ box: testServer('asks') }, FOR_EVER));
  const host = new RawHost(project);
  await host.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
  });
  const call = host.call('box', 'ask');
  const isAsked = () => host.messages.some(({ method }) => method === 'elicitation/create');
  await expect.poll(isAsked).toBe(true);
  await host.close();
  expect(textOf(await call)).toBe('null');
});
