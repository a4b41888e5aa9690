import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findInstallPlaces } from '../../../src/install/places.ts';
import { register, unregister } from '../../../src/install/registration.ts';
import { createClaude } from '../../support/claude.ts';
import { eventually, processesWith } from '../../support/processes.ts';
import { createProject } from '../../support/project.ts';

describe('SWITCHBOARD_HOME', () => {
  const LAUNCH = ['/n', '/program/index.js'];

  /** Registers with this home; gives what came of it, and Claude Code's entry. */
  async function registerWith(home: string | undefined, earlier?: object) {
    const project = createProject();
    const claude = createClaude(project);
    const file = join(project.dir, 'home/.claude.json');
    if (earlier) project.write('home/.claude.json', { mcpServers: { switchboard: earlier } });
    const env = { ...project.env, ...claude.env, ...(home && { SWITCHBOARD_HOME: home }) };
    const { state, command } = await register(LAUNCH, {
      places: findInstallPlaces(project.dir, env),
      cwd: project.dir,
      env,
      isWanted: true,
      dryRun: false,
    });
    const { mcpServers } = JSON.parse(readFileSync(file, 'utf8')) as {
      mcpServers: Record<string, unknown>;
    };
    const plain = command.replaceAll(project.dir, '<project>');
    return { state, command: plain, entry: mcpServers['switchboard'], dir: project.dir };
  }

  const entryWith = (env: object) => ({
    type: 'stdio',
    command: LAUNCH[0],
    args: LAUNCH.slice(1),
    env,
  });

  test('is registered with the program, as an absolute path', async () => {
    const { state, command, entry, dir } = await registerWith('my-home');
    expect(state).toBe('registered');
    expect(command).toBe(
      'claude mcp add -e SWITCHBOARD_HOME=<project>/my-home -s user switchboard -- /n /program/index.js',
    );
    expect(entry).toEqual(entryWith({ SWITCHBOARD_HOME: join(dir, 'my-home') }));
  });

  test('is left out if unset', async () => {
    const { command, entry } = await registerWith(undefined);
    expect(command).toBe('claude mcp add -s user switchboard -- /n /program/index.js');
    expect(entry).toEqual(entryWith({}));
  });

  test('changes only itself in an existing registration', async () => {
    const earlier = { ...entryWith({ TOKEN: 'mine', SWITCHBOARD_HOME: '/old' }), timeout: 5 };
    expect(await registerWith('/new', earlier)).toMatchObject({
      state: 'registered',
      entry: { ...earlier, env: { TOKEN: 'mine', SWITCHBOARD_HOME: '/new' } },
    });
    expect(await registerWith('/old', earlier)).toMatchObject({
      state: 'unchanged',
      entry: earlier,
    });
    expect(await registerWith(undefined, earlier)).toMatchObject({
      state: 'unchanged',
      entry: earlier,
    });
  });
});

test('a hanging claude is stopped, and the manual command is quoted for a shell', async () => {
  const project = createProject();
  const claude = createClaude(project);
  const env = { ...project.env, ...claude.env, CLAUDE_FAILS: 'hang' };

  const registration = await register(['/n', "/it's here/index.js"], {
    places: findInstallPlaces(project.dir, env),
    cwd: project.dir,
    env,
    isWanted: true,
    dryRun: false,
    limitMs: 500,
  });

  expect(registration).toEqual({
    state: 'failed',
    command: String.raw`claude mcp add -s user switchboard -- /n '/it'\''s here/index.js'`,
    says: 'it did not exit within 500 ms',
  });
  expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
});

test('a dry run of the removal says whether there is anything to remove', async () => {
  const project = createProject();
  const env = { ...project.env, ...createClaude(project).env };
  const places = findInstallPlaces(project.dir, env);
  const tryIt = () => unregister({ places, cwd: project.dir, env, isWanted: true, dryRun: true });
  expect(await tryIt()).toMatchObject({ state: 'unchanged' });
  project.write('home/.claude.json', { mcpServers: { switchboard: { command: 'switchboard' } } });
  expect(await tryIt()).toMatchObject({ state: 'removed' });
});
