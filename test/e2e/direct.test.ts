// Servers whose own tools are always listed: from the catalog, without waiting for the server.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { becomes } from '../support/gateway.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const ask = async (host: RawHost) => textOf(await host.callTool('ask'));

function projectWith(server: object, more: object = {}): Project {
  return createProject({
    'switchboard.config.json': { mcpServers: { own: { show: 'direct', ...server } }, ...more },
  });
}

const catalogOf = (project: Project) =>
  join(project.env['HOME'] ?? '', '.switchboard/cache/catalog');

test('unknown tools are found after the handshake, and announced', async () => {
  const project = projectWith(testServer('changes', 'one', 'two'));
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['own_suite']);
  expect(await eventually(() => host.listChanges === 1)).toBe(true);
  expect(await host.toolNames()).toEqual(['ask', 'change', 'one', 'two']);
  expect(textOf(await host.callTool('one'))).toBe('called one');
  expect(textOf(await host.call('own', 'two'))).toBe('called two');
});

test('no server is started for the list', async () => {
  const project = createProject();
  const marker = `tag-${Math.random().toString(36).slice(2)}`;
  project.write('switchboard.config.json', {
    mcpServers: { own: { show: 'direct', ...testServer('changes', marker) } },
  });
  const host = new RawHost(project);
  const [, listed] = await Promise.all([
    host.request('initialize', { protocolVersion: '2025-11-25', capabilities: {} }),
    host.request('tools/list'),
  ]);
  expect(listed.result?.['tools']).toMatchObject([{ name: 'own_suite' }]);
  host.notify('notifications/initialized');
  expect(await eventually(() => processesWith(marker).length > 0)).toBe(true);
});

test('known tools are listed without a start, and the first call starts the server', async () => {
  const project = projectWith(testServer('changes', 'one'));
  const first = await RawHost.connect(project);
  await eventually(() => first.listChanges === 1);
  await first.close();

  const second = await RawHost.connect(project);
  expect(await second.toolNames()).toEqual(['ask', 'change', 'one']);
  await new Promise((resolve) => setTimeout(resolve, 600)); // more than the start of due servers takes
  expect(second.listChanges).toBe(0);
  // Asked for its tools at the call and not before.
  expect(await ask(second)).toMatch(/^listed 0 times/);
  expect(await becomes(async () => (await ask(second)).startsWith('listed 1 times'))).toBe(true);
  expect(await eventually(() => second.listChanges > 0, 1_000)).toBe(false);
  expect(await ask(second)).toMatch(/^listed 1 times/);
});

test('changed tools are announced once the server runs', async () => {
  const project = createProject();
  const write = (...tools: string[]) => {
    const script = testServer('changes').args[0] ?? '';
    project.write(
      'server.mjs',
      `process.argv.push(...${JSON.stringify(tools)}); await import('${script}');`,
    );
  };
  write('old');
  project.write('switchboard.config.json', {
    mcpServers: { own: { show: 'direct', command: 'node', args: ['server.mjs'] } },
  });
  const first = await RawHost.connect(project);
  await eventually(() => first.listChanges === 1);
  await first.close();

  write('new');
  const second = await RawHost.connect(project);
  expect(await second.toolNames()).toEqual(['ask', 'change', 'old']);
  await second.callTool('ask');
  expect(await eventually(() => second.listChanges === 1)).toBe(true);
  expect(await second.toolNames()).toEqual(['ask', 'change', 'new']);
});

test("a server's own changes are forwarded, coalesced", async () => {
  const host = await RawHost.connect(projectWith(testServer('changes', 'one')));
  await eventually(() => host.listChanges === 1);
  await host.toolNames();
  await host.callTool('change', { tools: ['other'], times: 500 });
  expect(await eventually(() => host.listChanges > 1)).toBe(true);
  expect(await host.toolNames()).toEqual(['ask', 'change', 'other']);
  expect(host.listChanges).toBeLessThan(5);
  const [, lists] = /listed (\d+) times/.exec(await ask(host)) ?? [];
  expect(Number(lists)).toBeLessThan(5);
});

test('the catalog contains no variable values, and only its owner can read it', async () => {
  const secret = 'canary-value-of-a-variable';
  const project = projectWith({ ...testServer('changes', 'one'), env: { TOKEN: secret } });
  const host = await RawHost.connect(project);
  await eventually(() => host.listChanges === 1);
  await host.close();
  const folder = catalogOf(project);
  const files = readdirSync(folder);
  expect(files).toHaveLength(1);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const file of files) {
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, file), 'utf8')).not.toContain(secret);
  }
});

test('the cache is discarded when the declaration means another server', async () => {
  const project = projectWith(testServer('changes', 'one'));
  const first = await RawHost.connect(project);
  await eventually(() => first.listChanges === 1);
  await first.close();
  project.write('switchboard.config.json', {
    mcpServers: { own: { show: 'direct', ...testServer('changes', 'two') } },
  });
  const second = new RawHost(project);
  const listed = await second.request('tools/list');
  expect(listed.result?.['tools']).toMatchObject([{ name: 'own_suite' }]);
  expect(await eventually(() => second.listChanges === 1)).toBe(true);
  expect(await second.toolNames()).toEqual(['ask', 'change', 'two']);
  await second.close();
  expect(readdirSync(catalogOf(project))).toHaveLength(1);
});

test('a damaged catalog is ignored', async () => {
  const project = projectWith(testServer('changes', 'one'));
  const first = await RawHost.connect(project);
  await eventually(() => first.listChanges === 1);
  await first.close();
  const [file = ''] = readdirSync(catalogOf(project));
  for (const content of ['{"form":1,"tools":[{"na', '[]', '{"form":1,"tools":7}', '\0\0']) {
    writeFileSync(join(catalogOf(project), file), content);
    const host = await RawHost.connect(project);
    expect(await eventually(() => host.listChanges === 1)).toBe(true);
    expect(await host.toolNames()).toEqual(['ask', 'change', 'one']);
    await host.close();
  }
});

test('an unwritable home causes one warning and nothing else', async () => {
  const project = projectWith(testServer('changes', 'one'));
  project.write('home/.switchboard', 'a file where the folder belongs');
  const host = await RawHost.connect(project);
  expect(await eventually(() => host.listChanges === 1)).toBe(true);
  expect(await host.toolNames()).toEqual(['ask', 'change', 'one']);
  await host.callTool('change', { tools: ['two'] });
  await eventually(() => host.listChanges === 2);
  expect((await host.lastWords()).match(/cannot write the catalog/g)).toHaveLength(1);
});

test("a direct server's tools become known even if every session is short", async () => {
  const marker = `tag-${Math.random().toString(36).slice(2)}`;
  const project = projectWith(testServer('changes', marker));
  const first = await RawHost.connect(project);
  expect(await first.toolNames()).toEqual(['own_suite']);
  await eventually(() => processesWith(marker).length > 0);
  await first.close();
  const second = await RawHost.connect(project);
  expect(await second.toolNames()).toEqual(['ask', 'change', marker]);
});

test('a server that cannot start is listed as its suite, which explains why', async () => {
  const project = projectWith({ command: 'no-such-program-anywhere' });
  const host = await RawHost.connect(project);
  expect(textOf(await host.call('own', 'x'))).toContain('no-such-program-anywhere was not found');
  expect(await host.toolNames()).toEqual(['own_suite']);
});

test("a user's server is listed with its tools in a project it has never run in", async () => {
  const home = createProject();
  const others = [createProject(), createProject()];
  const server = { show: 'direct', ...testServer('changes', 'one') };
  home.write('home/.switchboard/switchboard.config.json', { mcpServers: { own: server } });
  const env = { HOME: home.env['HOME'] ?? '' };
  const [first, second] = others.map((project) => new RawHost(project, { env }));
  if (!first || !second) throw new Error('There are two.');
  const begin = async (host: RawHost) => {
    await host.request('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    host.notify('notifications/initialized');
    return host.toolNames();
  };
  expect(await begin(first)).toEqual(['own_suite']);
  expect(await eventually(() => first.listChanges === 1)).toBe(true);
  await first.close();
  expect(await begin(second)).toEqual(['ask', 'change', 'one']);
});
