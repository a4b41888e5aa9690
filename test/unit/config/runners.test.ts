import { expect, test } from 'vitest';
import { isPackageRunner } from '../../../src/config/server/runners.ts';
import { createProject } from './temp-project.ts';

test.each([
  'npx -y x',
  'npx.cmd x',
  'C:\\Program\\npx.CMD x',
  '/usr/bin/uvx x',
  'bunx x',
  'bun x x',
  'pnpm dlx x',
  'pnpm --silent dlx x',
  'yarn dlx x',
  'npm exec x',
  'pipx run x',
  'uv tool run x',
  'docker run -i x',
  'docker.exe run x',
  'podman run x',
  'cmd /c npx x',
])('%s may download first', (line) => {
  const [cmd = '', ...args] = line.split(' ');
  expect(isPackageRunner({ cmd, args, env: {} })).toBe(true);
});

test.each([
  'node npx',
  'npm start',
  'pnpm run dlx',
  'bun run x',
  'uv run x',
  'uv tool',
  'mynpx x',
  'cmd /c dir',
])('%s is already installed', (line) => {
  const [cmd = '', ...args] = line.split(' ');
  expect(isPackageRunner({ cmd, args, env: {} })).toBe(false);
});

test('a download gets a request’s time limit to start, unless configured', async () => {
  const mcpServers = { a: { command: 'npx', rpcTimeoutMs: 5 }, b: { command: 'node' } };
  const spawnMs = async (timeouts: object) => {
    const project = createProject({ 'switchboard.config.json': { mcpServers, timeouts } });
    return [...(await project.load()).children.values()].map((child) => child.timeouts.spawnMs);
  };
  expect(await spawnMs({})).toEqual([60_000, 8000]);
  expect(await spawnMs({ rpcMs: 20_000 })).toEqual([20_000, 8000]);
  expect(await spawnMs({ childSpawnMs: 300 })).toEqual([300, 300]);
});
