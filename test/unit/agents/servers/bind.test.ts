// Rules for a server also bind an agent that brings the same one along, or finds it elsewhere.
import { expect, test } from 'vitest';
import { bindAll, createBindRules, unbound } from '../../../../src/agents/servers/bind.ts';
import type { Candidate } from '../../../../src/agents/servers/candidate.ts';
import { isExposed } from '../../../../src/config/server/expose.ts';
import { createProject } from '../../config/temp-project.ts';
import { candidate, candidates } from './setup.ts';

const GITHUB = { command: 'npx', args: ['-y', '@mcp/github'] };
const REMOTE = { url: 'https://example.com/mcp' };

async function bindWith(config: object) {
  const project = createProject({ 'switchboard.config.json': config });
  const loaded = await project.load();
  const bind = createBindRules(loaded, { env: {}, homeFolder: project.homeFolder });
  return (key: string, more: Partial<Candidate>) => bind(candidate(key, more));
}

const SAME = { cmd: '/usr/bin/npx', args: ['@mcp/github@3'] };
const OTHER = { cmd: 'npx', args: ['@mcp/gitlab'] };
const exposed = (bound: Candidate | string, tool: string) =>
  typeof bound === 'object' && isExposed(tool, bound.expose);
const permitted = (bound: Candidate | string, name: string) =>
  typeof bound === 'object'
    ? (bound.rules?.decide({ kind: 'tool', name, hints: {} })?.permission ?? 'allow')
    : bound;

test('expose binds by name, by command and by address', async () => {
  const bind = await bindWith({
    mcpServers: {
      github: { ...GITHUB, expose: { deny: ['x'] } },
      far: { ...REMOTE, expose: { allow: ['y'] } },
    },
  });
  expect(exposed(bind('mine', SAME), 'x')).toBe(false);
  expect(exposed(bind('mine', SAME), 'y')).toBe(true);
  expect(exposed(bind('GitHub', OTHER), 'x')).toBe(false);
  expect(exposed(bind('mine', OTHER), 'x')).toBe(true);
  expect(exposed(bind('mine', { cmd: undefined, url: 'https://example.com/mcp/?k=1' }), 'x')).toBe(
    false,
  );
  // What the other program's file hides stays hidden.
  const own = { ...SAME, expose: { allow: undefined, deny: ['z'] } };
  expect(exposed(bind('mine', own), 'z')).toBe(false);
});

test('so do permissions and readOnly', async () => {
  const bind = await bindWith({
    mcpServers: { github: GITHUB, safe: { ...REMOTE, readOnly: true } },
    permissions: { deny: ['github__x', 'only-here__x'] },
  });
  expect(permitted(bind('mine', SAME), 'x')).toBe('deny');
  expect(permitted(bind('mine', SAME), 'y')).toBe('allow');
  expect(permitted(bind('only-here', OTHER), 'x')).toBe('deny');
  expect(permitted(bind('mine', OTHER), 'x')).toBe('allow');
  expect(permitted(bind('mine', { cmd: undefined, url: REMOTE.url }), 'x')).toBe('deny');
});

test('a server that is off or denied is left out', async () => {
  const bind = await bindWith({
    mcpServers: { github: { ...GITHUB, show: 'off' }, closed: REMOTE },
    permissions: { deny: ['closed'] },
  });
  expect(bind('mine', SAME)).toMatch(/is the same as server "github", which is turned off/);
  const closed = candidate('mine', { cmd: undefined, url: REMOTE.url });
  const all = bindAll(candidates(candidate('other'), closed), (server) => bind(server.key, server));
  expect(all.servers.map(({ key }) => key)).toEqual(['other']);
  expect(all.leftOut.get('mine')).toContain('is not allowed (permissions.deny "closed" in');
});

test('a permission for a name is not one for another server of that name', async () => {
  const bind = await bindWith({
    mcpServers: { github: GITHUB },
    permissions: { default: 'deny', allow: ['github'] },
  });
  expect(permitted(bind('github', SAME), 'x')).toBe('allow');
});

test('without restrictions nothing is compared', async () => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { github: GITHUB } } });
  const config = await project.load();
  expect(createBindRules(config, { env: {}, homeFolder: project.homeFolder })).toBe(unbound);
});
