import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bindSandbox, confineServer } from '../../../../src/agents/servers/confine-server.ts';
import type { ChildConfig, Sandbox } from '../../../../src/config/config.ts';
import { childConfig } from '../../../support/child-config.ts';
import { sandboxFolders, sandboxSettings } from '../../trust/sandbox/places.ts';
import { candidate } from './setup.ts';

const SANDBOX = sandboxSettings({ denyRead: ['~/x'] });
const bound = (child: ChildConfig, more: Partial<ReturnType<typeof candidate>> = {}) =>
  bindSandbox(
    candidate('a', more),
    { children: new Map([[child.name, child]]), project: '/project' },
    { env: {}, homeFolder: '/home/me' },
  ).sandbox;

test("rules apply to an agent's own server by name and by command", () => {
  const sandbox: Sandbox = SANDBOX;
  const command = { cmd: 'server', args: [], env: {} };
  expect(bound(childConfig({ name: 'a', command: undefined, sandbox }))).toEqual(SANDBOX);
  expect(bound(childConfig({ name: 'b', command, sandbox }))).toEqual(SANDBOX);
  expect(bound(childConfig({ name: 'b', command, sandbox }), { args: ['x'] })).toBeUndefined();
  const npx = { cmd: 'npx', args: ['-y', '@mcp/files'], env: {} };
  const other = { cmd: '/usr/bin/npx', args: ['@mcp/files@2'] };
  expect(bound(childConfig({ name: 'b', command: npx, sandbox }), other)).toEqual(SANDBOX);
  expect(bound(childConfig({ name: 'a', command }))).toBeUndefined();
});

test("it can't open the configured sandbox, only make it stricter", () => {
  const own = sandboxSettings({ allowWrite: ['~'], denyRead: ['~/y'] });
  const child = childConfig({ name: 'a', sandbox: SANDBOX });
  expect(bound(child, { sandbox: own })).toEqual({ ...SANDBOX, denyRead: ['~/x', '~/y'] });
});

test('the engine starts it in its sandbox', async () => {
  const { project, home, homeFolder, root } = sandboxFolders(['bin/']);
  const bwrap = join(root, 'bin/bwrap');
  writeFileSync(bwrap, '#!/bin/sh\n');
  chmodSync(bwrap, 0o755);
  const env = { PATH: `${root}/bin:/usr/bin:/bin` };
  const { isInjected: _isInjected, origin: _origin, ...server } = candidate('a', { cmd: 'sh' });
  const attached = { ...server, args: ['-c', 'x'], enabledTools: undefined, secrets: [] };
  const options = { project, home, homeFolder, env, machine: 'linux-x64' };
  const confined = await confineServer(attached, candidate('a', { sandbox: SANDBOX }), options);
  expect(confined.cmd).toBe(bwrap);
  expect(confined.args.slice(-6)).toEqual(['--chdir', project, '--', 'sh', '-c', 'x']);
  expect(await confineServer(attached, candidate('a'), options)).toBe(attached);
});
