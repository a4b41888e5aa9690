// The real npx in a hostile repository: it has a program with the package's name, one called `node`, and an `.npmrc` with
// a shell and a registry. Packages come from a registry on this machine.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { commitAll } from '../support/git.ts';
import { createProject, PATIENT, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';

const NAME = 'switchboard-probe';

/** Answers calls with its folder and arguments. */
const SERVER = `#!/usr/bin/env node
import { createInterface } from 'node:readline';
const said = JSON.stringify([process.cwd(), ...process.argv.slice(2)]);
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'probe', version: '1' } },
  }),
  'tools/list': () => ({ result: { tools: [{ name: 'where', inputSchema: { type: 'object' } }] } }),
  'tools/call': () => ({ result: { content: [{ type: 'text', text: said }] } }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = ANSWERS[method] ?? (() => ({ error: { code: -32601, message: 'Unknown' } }));
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer(params) }) + '\\n');
}
`;

/** Serves one package, and counts requests. */
async function startRegistry(folder: string) {
  const manifest = { name: NAME, version: '1.0.0', type: 'module', bin: { [NAME]: 'server.mjs' } };
  const source = join(folder, 'package');
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(source, 'server.mjs'), SERVER, { mode: 0o755 });
  execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
  const tarball = readFileSync(join(folder, 'package.tgz'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    const { port } = server.address() as AddressInfo;
    const dist = { tarball: `http://127.0.0.1:${port}/package.tgz`, integrity };
    const versions = { '1.0.0': { ...manifest, dist } };
    const packument = { name: NAME, 'dist-tags': { latest: '1.0.0' }, versions };
    response.end(request.url?.endsWith('.tgz') ? tarball : JSON.stringify(packument));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, requests: () => requests };
}

interface Scene {
  readonly project: Project;
  readonly home: string;
  /** What of the repository has run. */
  readonly ran: () => string[];
  readonly hostileRequests: () => number;
}

async function createScene(entry: object): Promise<Scene> {
  const { dir, env } = createProject();
  const clone = join(dir, 'clone');
  const home = join(dir, 'home');
  const marks = join(dir, 'marks');
  for (const folder of [marks, join(home, '.switchboard'), join(clone, 'node_modules/.bin')]) {
    mkdirSync(folder, { recursive: true });
  }
  const registry = await startRegistry(join(dir, 'registry'));
  const hostile = await startRegistry(join(dir, 'hostile'));
  const write = (path: string, text: string) => writeFileSync(join(dir, path), text);
  write(
    'home/.npmrc',
    `registry=${registry.url}\ncache=${dir}/cache\nupdate-notifier=false\naudit=false\nfund=false\n`,
  );
  write(
    'home/.switchboard/switchboard.config.json',
    JSON.stringify({ mcpServers: { probe: entry }, ...PATIENT }),
  );
  write('clone/package.json', JSON.stringify({ name: 'x', bin: { [NAME]: './shell.sh' } }));
  write('clone/.npmrc', `registry=${hostile.url}\nscript-shell=${clone}/shell.sh\n`);
  const programs = {
    'shell.sh': 'shell',
    [`node_modules/.bin/${NAME}`]: 'bin',
    'node_modules/.bin/node': 'node',
  };
  for (const [path, mark] of Object.entries(programs)) {
    write(`clone/${path}`, `#!/bin/sh\ntouch ${marks}/${mark}\nexit 1\n`);
    chmodSync(join(clone, path), 0o755);
  }
  commitAll(clone);
  return {
    project: { dir: clone, write: () => '', env },
    home,
    ran: () => ['shell', 'bin', 'node'].filter((mark) => existsSync(join(marks, mark))),
    hostileRequests: hostile.requests,
  };
}

async function callProbe(project: Project): Promise<string> {
  const host = await RawHost.connect(project);
  return textOf(await host.call('probe', 'where', {}));
}

test.each([
  { args: ['-y', NAME, 'x'], words: ['x'] },
  { args: ['-y', NAME, '.', '--root=./docs'], words: ['<clone>', '--root=<clone>/docs'] },
])(
  "a server of the user's runs its own package in the home directory: npx $args",
  async ({ args, words }) => {
    const { project, home, ran, hostileRequests } = await createScene({ command: 'npx', args });
    const said = await callProbe(project);
    const expected = [home, ...words.map((word) => word.replace('<clone>', project.dir))];
    expect(said).toBe(JSON.stringify(expected));
    expect({ ran: ran(), requests: hostileRequests() }).toEqual({ ran: [], requests: 0 });
  },
);

test('with a cwd in the project, it runs only after an approval', async () => {
  const entry = { command: 'npx', args: ['-y', NAME], cwd: '${project}' };
  const { project, ran, hostileRequests } = await createScene(entry);
  expect(await callProbe(project)).toContain('switchboard trust approve probe');
  for (const command of [['doctor'], ['status'], ['config', 'check'], ['trust'], ['show']]) {
    await runSwitchboard(project, command);
  }
  expect({ ran: ran(), requests: hostileRequests() }).toEqual({ ran: [], requests: 0 });
  const { stdout } = await runSwitchboard(project, ['trust', 'approve', 'probe']);
  expect(stdout).toContain("lets npx use this project's packages and settings");
  await callProbe(project);
  // This is what the approval allows, and what would happen without it.
  expect(ran()).not.toEqual([]);
});
