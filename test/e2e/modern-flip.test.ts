// Flip servers in a session of the modern era. Such a session is what a new user has: no server is
// configured yet, so both eras are offered, and the first flip server comes with a reload.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { GATEWAY, serversIn } from '../support/gateway.ts';
import { createProject, PROGRAM, type Project } from '../support/project.ts';
import { type Answer, RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const LISTED = [...GATEWAY, 'box_suite'];
/** The first sentence is all that the skill shows the user. */
const READY = /^"box" is ready: its 7 tools can be called through box_suite\. Subtools: .*\becho\b/;

/** What the installer leaves behind. */
function createEmptyProject(): Project {
  return createProject({ 'home/.switchboard/servers.json': {} });
}

async function addFlipServer(project: Project): Promise<void> {
  project.write('home/.switchboard/servers.json', { box: testServer('toolbox') });
  // Other commands can reach a session a moment after its first answers.
  const reload = async () => (await runSwitchboard(project, ['reload'])).stdout;
  await expect.poll(reload).toContain('reloaded the configuration');
}

test('a reload that adds the first flip server keeps a modern session alive, and works in it', async () => {
  const project = createEmptyProject();
  const host = new RawHost(project);
  const request = (method: string, params: object = {}) =>
    host.request(method, { ...params, _meta });
  const call = (name: string, args: object = {}): Promise<Answer> =>
    request('tools/call', { name, arguments: args });
  await request('server/discover');
  expect(toolsOf(await request('tools/list'))).toEqual([]);
  void request('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const heard = (method: string) => host.messages.filter((one) => one['method'] === method).length;
  await expect.poll(() => heard('notifications/subscriptions/acknowledged')).toBe(1);

  await addFlipServer(project);
  await expect.poll(() => heard('notifications/tools/list_changed')).toBeGreaterThan(0);
  expect(toolsOf(await request('tools/list')).map(({ name }) => name)).toEqual(LISTED);

  const status = await call('gateway_status');
  expect(serversIn(status.result).map(({ name }) => name)).toEqual(['box']);
  expect(textOf(await call('gateway_activate', { name: 'box' }))).toMatch(READY);
  const echo = { action: 'call', subtool: 'echo', args: { a: 1 } };
  expect(textOf(await call('box_suite', echo))).toBe('{"a":1}');
  // Nothing that the session does changes its list.
  expect(toolsOf(await request('tools/list')).map(({ name }) => name)).toEqual(LISTED);
  expect(textOf(await call('gateway_deactivate', { name: 'box' }))).toBe('"box" is not active.');
});

test('the SDK’s modern client continues after such a reload', async () => {
  const project = createEmptyProject();
  let timesTold = 0;
  const client = new Client(
    { name: 'modern-host', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setNotificationHandler('notifications/tools/list_changed', () => void timesTold++);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM],
      cwd: project.dir,
      env: project.env,
      stderr: 'ignore',
    }),
  );
  onTestFinished(() => client.close());
  await client.listen({ toolsListChanged: true });
  expect((await client.listTools()).tools).toEqual([]);

  await addFlipServer(project);
  await expect.poll(() => timesTold).toBeGreaterThan(0);
  const { tools } = await client.listTools({}, { cacheMode: 'refresh' });
  expect(tools.map(({ name }) => name)).toEqual(LISTED);
  const activated = await client.callTool({ name: 'gateway_activate', arguments: { name: 'box' } });
  expect(activated.content).toMatchObject([{ text: expect.stringMatching(READY) as string }]);
});
