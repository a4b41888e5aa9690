// The server as the Switchboard in front of it starts it.
import { expect, test } from 'vitest';
import {
  type GuardedServer,
  guardedChild,
  parseGuarded,
} from '../../../../src/agents/servers/guard.ts';
import { needsApproval } from '../../../../src/config/files/gate.ts';
import { createProject } from '../../config/temp-project.ts';

const guarded = (said: Partial<GuardedServer>): GuardedServer => ({
  name: 'box',
  origin: '/agents/a.toml',
  isOwn: false,
  cmd: 'run',
  args: ['${TOKEN}'],
  env: { A: '$${B}' },
  cwd: undefined,
  url: undefined,
  headers: {},
  ruled: { name: 'box' },
  expose: { allow: undefined, deny: ['x'] },
  ...said,
});

async function load(config: object) {
  return createProject({ 'switchboard.config.json': config }).load();
}

test('values that were expanded once are not expanded again', async () => {
  const child = guardedChild(guarded({}), await load({}), '/work');
  expect(child).toMatchObject({
    command: { cmd: 'run', args: ['$${TOKEN}'], env: { A: '$$${B}' } },
    cwd: '/work',
    show: 'direct',
    expose: { deny: ['x'] },
  });
  const remote = guarded({ cmd: undefined, url: 'https://e.x/${A}', headers: { H: '${A}' } });
  expect(guardedChild(remote, await load({}), '/work').remote).toEqual({
    type: 'http',
    url: 'https://e.x/$${A}',
    headers: { H: '$${A}' },
  });
});

test('the rules are those of its name and of the servers it is the same as', async () => {
  const config = await load({
    mcpServers: { files: { command: 'run' } },
    permissions: { deny: ['files__secret'] },
  });
  const ruled = { name: 'box', aliases: ['files'], isReplaced: false };
  const { rules } = guardedChild(guarded({ ruled }), config, '/work');
  expect(rules?.decide({ kind: 'prompt', name: 'secret' })).toMatchObject({ permission: 'deny' });
  expect(guardedChild(guarded({}), config, '/work').rules).toBe(undefined);
});

test("one of Switchboard's own keeps its rules and settings, and is started as it was passed on", async () => {
  const config = await load({
    mcpServers: { box: { command: 'other', redact: ['$.key'], expose: { deny: ['y'] } } },
    permissions: { deny: ['box__secret'] },
  });
  const child = guardedChild(guarded({ isOwn: true }), config, '/work');
  expect(child).toMatchObject({
    command: { cmd: 'run' },
    redact: ['$.key'],
    expose: { deny: ['y'] },
    show: 'direct',
  });
  expect(child.rules?.coversLibrary).toBe(true);
});

test('a server that has been turned off or needs approval is not started', async () => {
  const config = await load({ mcpServers: { box: { command: 'x', show: 'off' } } });
  const start = (from = config) => guardedChild(guarded({ isOwn: true }), from, '/work');
  expect(() => start()).toThrow('Server "box" is no longer available.');
  const [box] = config.children.values();
  if (!box) throw new Error('There is no server.');
  const waiting = { ...box, show: 'suite' as const, problem: needsApproval('box') };
  expect(() => start({ ...config, children: new Map([['box', waiting]]) })).toThrow(
    'no longer available',
  );
});

test('started by hand, it says what to run instead', () => {
  expect(() => parseGuarded(undefined)).toThrow('This command is started by Switchboard itself.');
});
