import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withAssistants } from '../../../src/assistant/wrap.ts';
import type { ChildConfig, Config } from '../../../src/config/config.ts';
import { expandCommand } from '../../../src/config/server/expand.ts';
import { identityOf } from '../../../src/pool/identity.ts';
import { childConfig } from '../../support/child-config.ts';
import { createProject } from '../../support/project.ts';

const LAUNCH = {
  commandFor: (name: string) => ({ cmd: '/bin/node', args: ['/x/${HOME}/index.js', '--', name] }),
  hosts: 'one' as const,
  cwd: '/here',
  env: {},
};

function wrap(child: ChildConfig, env: NodeJS.ProcessEnv = {}): ChildConfig {
  const config = { children: new Map([[child.name, child]]) } as unknown as Config;
  const wrapped = withAssistants(config, { ...LAUNCH, env }).children.get(child.name);
  if (!wrapped) throw new Error('It is gone.');
  return wrapped;
}

const KID = childConfig({
  name: 'kid',
  command: { cmd: 'server', args: [], env: { TOKEN: 'secret-secret' } },
  expose: { allow: ['read_*'], deny: undefined },
  environment: 'minimal',
  stderr: 'drop',
  framing: 'content-length',
  protocolVersion: '2024-11-05',
  show: 'flip',
  assistant: {},
});

test('a server without an assistant stays unchanged', () => {
  const child = childConfig({ name: 'kid' });
  expect(wrap(child)).toBe(child);
});

test('the assistant is started in place of its server, without the server’s own settings', () => {
  const wrapped = wrap(KID);
  expect(wrapped).toMatchObject({
    command: { cmd: '/bin/node', env: {} },
    cwd: '/here',
    expose: { allow: undefined, deny: undefined },
    environment: 'inherit',
    stderr: 'inherit',
    framing: 'newline',
    protocolVersion: '2025-11-25',
    show: 'flip',
    behind: KID,
  });
  expect(identityOf(wrapped)).not.toBe(identityOf(KID));
});

test('variables in our paths are not expanded', () => {
  const { args } = expandCommand(wrap(KID), { HOME: '/root' });
  expect(args).toEqual(['/x/${HOME}/index.js', '--', 'kid']);
});

test('also starts one for a remote server', () => {
  const remote = { type: 'http', url: 'https://example.com/mcp', headers: {} } as const;
  const wrapped = wrap({ ...KID, command: undefined, remote });
  expect(wrapped.remote).toBeUndefined();
  expect(wrapped.behind?.remote).toBe(remote);
});

test('callers wait longer than the assistant’s limit, and for its server to stop', () => {
  expect(wrap(KID).timeouts).toEqual({ spawnMs: 8_000, rpcMs: 135_000, stopMs: 4_500 });
  expect(wrap({ ...KID, assistant: { timeoutMs: 1_000 } }).timeouts.rpcMs).toBe(60_000);
  const env = { SWITCHBOARD_CONVERSATION_TIMEOUT_MS: '300000' };
  expect(wrap(KID, env).timeouts.rpcMs).toBe(315_000);
});

test('our own wrapper is replaced the same way, by its server’s name', () => {
  const server = { ...KID, assistant: { timeoutMs: 300_000 } };
  const command = {
    cmd: 'node',
    args: ['kid-claude-wrapper.mjs'],
    env: { MODEL_KEY: 'secret-key' },
  };
  const wrapped = wrap(childConfig({ name: 'kid', command, behind: server }));
  expect(wrapped).toMatchObject({
    command: { cmd: '/bin/node', env: command.env },
    cwd: '/here',
    expose: { allow: undefined, deny: undefined },
    behind: server,
  });
  expect(wrapped.timeouts.rpcMs).toBe(315_000);
});

test('a wrapper in name only is an ordinary server, and its rules stay', () => {
  const { dir } = createProject({ 'original/.mcp.json': { name: 'kid', command: 'server' } });
  const command = { cmd: 'node', args: ['kid-claude-wrapper.mjs'], env: {} };
  const expose = { allow: ['read_*'], deny: undefined };
  const kid = childConfig({ name: 'kid', origin: join(dir, '.mcp.json'), command, expose });
  expect(wrap(kid)).toBe(kid);
  const shared = withAssistants({ children: new Map([['kid', kid]]) } as unknown as Config, {
    ...LAUNCH,
    hosts: 'many',
  });
  // It may be ours with a line of the user's in it.
  expect(shared.children.get('kid')?.command?.env).toEqual({ SWITCHBOARD_SESSION_IDLE_MS: '0' });
});
