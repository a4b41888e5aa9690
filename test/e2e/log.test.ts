// The log of the built program: how much it says, in which form, and where it is kept.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { configWith, createProject, type Project } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const TOML = 'home/.switchboard/config.toml';

function projectWith(files: Record<string, string> = {}): Project {
  return createProject({
    ...configWith({ kit: { ...testServer('toolbox'), strange: true } }),
    ...files,
  });
}

/** Serves a host that calls a server, until it goes; gives what was said on stderr. */
async function serveOnce(project: Project, env: Record<string, string> = {}): Promise<string> {
  const host = await RawHost.connect(project, { env });
  await host.call('kit', 'where_am_i');
  const words = await host.lastWords();
  expect(host.impure).toEqual([]);
  return words;
}

/** What the daily files in a folder hold. */
function keptIn(folder: string): string {
  const files = readdirSync(folder).filter((file) =>
    /^switchboard\.\d{4}-\d\d-\d\d\.log$/.test(file),
  );
  return files.map((file) => readFileSync(join(folder, file), 'utf8')).join('');
}

const STARTED = /kit: started in \d+ ms/;
const STRANGE = /strange: unknown key/;

describe('the level', () => {
  test.each<[string, Record<string, string>, { debug: boolean; warn: boolean }]>([
    ['nothing is set', {}, { debug: false, warn: true }],
    ['RUST_LOG=debug', { RUST_LOG: 'debug' }, { debug: true, warn: true }],
    ['a filter', { RUST_LOG: 'off,switchboard=trace' }, { debug: true, warn: true }],
    [
      'TRACING_FILTER, over RUST_LOG',
      { RUST_LOG: 'debug', TRACING_FILTER: 'error' },
      { debug: false, warn: false },
    ],
    [
      'SWITCHBOARD_LOG, over both',
      { RUST_LOG: 'error', TRACING_FILTER: 'error', SWITCHBOARD_LOG: 'debug' },
      { debug: true, warn: true },
    ],
  ])('%s', async (_what, env, { debug, warn }) => {
    const words = await serveOnce(projectWith(), env);
    expect([STARTED.test(words), STRANGE.test(words)]).toEqual([debug, warn]);
  });

  test('config.toml, even for messages about the configuration itself', async () => {
    const quiet = projectWith({ [TOML]: '[logging]\nlevel = "error"\n' });
    expect(await serveOnce(quiet)).toBe('');
    expect(await serveOnce(quiet, { RUST_LOG: 'debug' })).toMatch(STARTED);
  });

  test('also for commands', async () => {
    const project = projectWith();
    const call = ['call', 'kit', 'where_am_i'];
    expect((await runSwitchboard(project, call)).stderr).toBe('');
    const { stderr, stdout } = await runSwitchboard(project, call, { env: { RUST_LOG: 'debug' } });
    expect(stderr).toMatch(STARTED);
    expect(stdout).not.toMatch(STARTED);
  });
});

describe('the format', () => {
  test.each([
    ['the environment', {}, { TRACING_JSON: 'true', RUST_LOG: 'debug' }],
    ['config.toml', { [TOML]: '[logging]\njson = true\nlevel = "debug"\n' }, {}],
  ])('JSON, from %s: every line is an object', async (_where, files, env) => {
    const words = await serveOnce(projectWith(files), env);
    const lines = words.trimEnd().split('\n');
    const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(said).toContainEqual({
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'warn',
      message: expect.stringMatching(STRANGE),
    });
    expect(said).toContainEqual(
      expect.objectContaining({ level: 'debug', message: expect.stringMatching(STARTED) }),
    );
  });

  test('JSON over HTTP names the URL and not the token', async () => {
    const project = createProject();
    const env = { TRACING_JSON: '1', LOG_TO_FILE: '1', TRANSPORT: 'http', PORT: '0' };
    const host = new RawHost(project, { env });
    const logs = join(project.dir, 'home/.switchboard/logs');
    // The file comes after stderr.
    await expect.poll(() => existsSync(logs) && keptIn(logs)).toContain('\n');
    host.process.kill('SIGTERM');
    await host.lastWords();
    expect(JSON.parse(host.stderr)).toMatchObject({
      level: 'info',
      message: expect.stringMatching(/^serving MCP over HTTP at http:\/\/127\.0\.0\.1:\d+\/mcp$/),
    });
    const home = join(project.dir, 'home/.switchboard');
    expect(keptIn(logs)).toBe(host.stderr);
    const token = readFileSync(join(home, 'http-token'), 'utf8').trim();
    expect(token).not.toBe('');
    expect(host.stderr).not.toContain(token);
  });

  test('pretty has the time and the level', async () => {
    const words = await serveOnce(projectWith(), { TRACING_PRETTY: 'true' });
    expect(words).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}WARN {3}switchboard {2}.*strange: unknown key/m,
    );
  });
});

describe('the file', () => {
  test('exists only if requested', async () => {
    const project = projectWith();
    await serveOnce(project);
    expect(() => readdirSync(join(project.dir, 'home/.switchboard/logs'))).toThrow('ENOENT');
  });

  test('has the same lines as stderr, in LOG_DIR or in the home', async () => {
    const project = projectWith();
    const usual = await serveOnce(project, { LOG_TO_FILE: 'yes', TRACING_JSON: '1' });
    expect(keptIn(join(project.dir, 'home/.switchboard/logs'))).toBe(usual);
    const named = await serveOnce(project, {
      LOG_TO_FILE: 'yes',
      LOG_DIR: 'my logs',
      TRACING_PRETTY: '1',
    });
    expect(keptIn(join(project.dir, 'my logs'))).toBe(named);
  });

  test('requested in config.toml also has the warnings about the configuration', async () => {
    const project = projectWith({ [TOML]: '[logging]\nto_file = true\ndir = "kept"\n' });
    await serveOnce(project);
    expect(keptIn(join(project.dir, 'kept'))).toMatch(STRANGE);
  });

  test('that cannot be written causes one warning, and hosts are served', async () => {
    const project = projectWith({ 'home/.switchboard/logs': 'a file in its place' });
    const words = await serveOnce(project, { LOG_TO_FILE: '1', RUST_LOG: 'debug' });
    expect(words.match(/can't write the log to/g)).toHaveLength(1);
    expect(words).toMatch(STARTED);
  });
});
