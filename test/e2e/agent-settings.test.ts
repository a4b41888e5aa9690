// Settings for agents as the built program takes them: what holds, what is said about mistakes, and that
// no mistake in a variable or in config.toml keeps a host from being served.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { configWith, createProject, type Project } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import { MOCK_CHILD } from '../support/servers.ts';

const TOML = 'home/.switchboard/config.toml';
/** What only the parser of TOML can say. */
const TOML_WORDS = 'control characters are not allowed in strings';
const ENV = { AGENTS_MCP_ENUM_TIMEOUT_MS: 'soon', AGENTS_MAX_RUNS: '2' };

function projectWithEverything(): Project {
  return createProject({
    ...configWith({ one: MOCK_CHILD }, { agents: { approvals: 'decline', maxRuns: 9 } }),
    [TOML]: '[agents]\nenum_strict = true\nenum_timeout_ms = 9\nfiltr = "x"\n',
  });
}

/** What people are told about it. */
const COMPLAINTS = [
  '<project>/home/.switchboard/config.toml: agents.filtr: unknown key (ignored). Did you mean "filter"?',
  'AGENTS_MCP_ENUM_TIMEOUT_MS must be a number of milliseconds from 1 to 2147483647. Its value is ignored.',
];

describe('settings for agents', () => {
  test('are printed with their effective values, from all sources', async () => {
    const { status, stdout } = await runSwitchboard(projectWithEverything(), ['config', 'print'], {
      env: ENV,
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      agents: {
        show: 'direct',
        approvals: 'decline',
        maxRuns: 2,
        mcpEnumStrict: true,
        mcpEnumTimeoutMs: 9,
        formats: { codex: { prefix: 'agent_' } },
      },
    });
  });

  test('are checked, and mistakes are reported', async () => {
    const project = projectWithEverything();
    const { status, stdout } = await runSwitchboard(project, ['config', 'check', '--json'], {
      env: ENV,
    });
    expect(status).toBe(0);
    const { warnings, files } = JSON.parse(stdout.replaceAll(project.dir, '<project>')) as Record<
      string,
      unknown
    >;
    expect(warnings).toEqual(COMPLAINTS);
    expect(files).toEqual([
      '<project>/switchboard.config.json',
      '<project>/home/.switchboard/config.toml',
    ]);
  });

  test('with mistakes in variables and config.toml do not prevent serving a host', async () => {
    const project = projectWithEverything();
    const host = await RawHost.connect(project, { env: ENV });
    expect(await host.toolNames()).toEqual(['one_suite']);
    expect((await host.lastWords()).replaceAll(project.dir, '<project>')).toBe(
      COMPLAINTS.map((sentence) => `switchboard: warn: ${sentence}\n`).join(''),
    );
  });

  test('an unknown transport does not either', async () => {
    const host = await RawHost.connect(createProject(), { env: { TRANSPORT: 'sse' } });
    expect(host.stderr).toContain('ignoring TRANSPORT: it must be stdio or http.');
    const plain = await RawHost.connect(createProject(), { env: { TRANSPORT: 'stdio' } });
    expect(plain.stderr).not.toContain('TRANSPORT');
  });

  test('nor does an invalid config.toml', async () => {
    const project = createProject({ ...configWith({ one: MOCK_CHILD }), [TOML]: '[agents\n' });
    const host = await RawHost.connect(project);
    expect(await host.toolNames()).toEqual(['one_suite']);
    expect((await host.lastWords()).replaceAll(project.dir, '<project>')).toMatchInlineSnapshot(`
      "switchboard: warn: <project>/home/.switchboard/config.toml:1:8: Invalid TOML: illegal character in key. The file is ignored.
      "
    `);
  });

  test('that are invalid in the configuration file exit the program, like any mistake there', async () => {
    const project = createProject(configWith({}, { agents: { maxRuns: 'many' } }));
    const { status, stderr } = await runSwitchboard(project, ['config', 'check']);
    expect(status).toBe(2);
    expect(stderr.replaceAll(project.dir, '<project>')).toMatchInlineSnapshot(`
      "switchboard: <project>/switchboard.config.json:4:5: agents.maxRuns: expected a number, got "many".
      For all keys and what they mean, run: switchboard config schema
      "
    `);
  });
});

describe('TOML readers', () => {
  test.each([
    ['is not loaded without a config.toml', {}, false],
    ['is loaded for one', { [TOML]: '' }, true],
  ])('%s', async (_what, files: Record<string, string>, isLoaded) => {
    const project = createProject({ ...configWith({ one: MOCK_CHILD }), ...files });
    const folder = join(project.dir, 'coverage');
    const host = await RawHost.connect(project, { env: { NODE_V8_COVERAGE: folder } });
    expect(await host.toolNames()).toEqual(['one_suite']);
    await host.lastWords();
    const loaded = scriptsIn(folder);
    expect(loaded.some((text) => text.includes('tools/list'))).toBe(true);
    expect(loaded.some((text) => text.includes(TOML_WORDS))).toBe(isLoaded);
  });

  /** The texts of all scripts that a run has loaded, by what Node has written down about it. */
  function scriptsIn(folder: string): string[] {
    const reports = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    const urls = reports.flatMap((report) =>
      (JSON.parse(report) as { result: { url: string }[] }).result.map(({ url }) => url),
    );
    const files = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
    return files.map((file) => readFileSync(file, 'utf8'));
  }
});
