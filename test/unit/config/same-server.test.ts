import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { launchKey } from '../../../src/config/server/same-server.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

const PLACE = { env: { HOST: 'example.com' }, homeFolder: '/home/me' };

const keyOf = (launched: object, cwd = '/') =>
  launchKey({ cmd: undefined, args: [], url: undefined, cwd, ...launched }, PLACE);
const command = (line: string, cwd?: string) => {
  const [cmd, ...args] = line.split(' ');
  return keyOf({ cmd, args }, cwd);
};

test.each([
  ['npx -y @mcp/github', 'npx @mcp/github@1.2.3'],
  ['npx -y @mcp/github', '/usr/bin/npx --yes @mcp/github'],
  ['npx -y @mcp/github', 'bunx @mcp/github'],
  ['npx -y @mcp/github', 'cmd /c npx -y @mcp/github'],
  ['npx -y @mcp/github', 'env TOKEN=1 npx @mcp/github'],
  ['npx -y @mcp/github', 'pnpm dlx @mcp/github'],
  ['uvx mcp-server-git', 'uv tool run mcp-server-git==2.0'],
  ['docker run -i --rm -e KEY ghcr.io/x/server', 'podman run -i ghcr.io/x/server:latest'],
  ['/opt/bin/server --stdio', 'server --stdio'],
  ['npx -y @mcp/github', 'npx --package=@mcp/github@latest mcp-github'],
  ['uvx mcp-server-git', 'uvx --from mcp-server-git git-server'],
  ['docker run -p 80:80 server', 'docker run server'],
])('%s and %s are the same', (one, other) => {
  expect(command(one)).toBe(command(other));
});

test.each([
  ['npx @mcp/github', 'npx @mcp/gitlab'],
  ['npx @mcp/files /a', 'npx @mcp/files /b'],
  ['npx server', 'uvx server'],
  ['server --stdio', 'server'],
])('%s and %s are not', (one, other) => {
  expect(command(one)).not.toBe(command(other));
});

test('a script is the same by whichever path', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'in'));
  writeFileSync(join(folder, 'server.mjs'), '');
  const absolute = command(`node ${folder}/server.mjs`);
  expect(command('node ./server.mjs', folder)).toBe(absolute);
  expect(command('node ../server.mjs', join(folder, 'in'))).toBe(absolute);
  expect(command('node ./other.mjs', folder)).not.toBe(absolute);
});

test('an address is the same without credentials, query and trailing slash', () => {
  const address = keyOf({ url: 'https://example.com/mcp' });
  for (const url of [
    'https://example.com/mcp/',
    'HTTPS://EXAMPLE.com:443/mcp?key=1#x',
    'https://me:secret@example.com/mcp',
    'wss://example.com/mcp',
    'https://${HOST}/mcp',
    'https://example.com./mcp',
    'https://example.com//%6dcp',
  ]) {
    expect(keyOf({ url })).toBe(address);
  }
  for (const url of ['https://example.org/mcp', 'https://example.com/other', '${NOTHING}/mcp']) {
    expect(keyOf({ url })).not.toBe(address);
  }
  expect(keyOf({})).toBeUndefined();
});
