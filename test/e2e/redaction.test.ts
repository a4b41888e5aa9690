// Secrets in what Switchboard writes, and in results: the built program with real servers.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { configWith, createProject, PATIENT, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { publishedServer, testServer } from '../support/servers.ts';
import { slow, test } from '../support/slow.ts';
import { GITHUB_TOKEN } from '../support/tokens.ts';

const CANARY = 'canary-argument-4711';
const VALUE = 'configured-value-0815';

/** Everything Switchboard has written below a folder. */
function filesBelow(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}

describe('redact', () => {
  test.each(['inherit', 'log'])('an argument is in no output with stderr: %s', async (stderr) => {
    const box = { ...testServer('toolbox'), redact: ['$.apiKey', '$..password'], stderr };
    const project = createProject(configWith({ box }));
    const host = await RawHost.connect(project, { env: { SWITCHBOARD_LOG: 'debug' } });

    // The server gets it, and returns it.
    const echoed = await host.call('box', 'echo', { apiKey: CANARY, deep: { password: CANARY } });
    expect(JSON.parse(textOf(echoed))).toEqual({ apiKey: CANARY, deep: { password: CANARY } });
    // It prints it, in several forms.
    const forms = [CANARY, Buffer.from(CANARY).toString('base64'), encodeURIComponent(CANARY)];
    for (const form of forms)
      await host.call('box', 'say', { apiKey: CANARY, text: `got ${form}` });
    const failed = await host.call('box', 'fail', {
      password: CANARY,
      code: -3,
      message: `bad ${CANARY}`,
    });
    expect(JSON.stringify(failed)).toContain('bad ***');
    const words = await host.lastWords();

    for (const form of forms)
      expect(words + filesBelow(join(project.dir, 'home'))).not.toContain(form);
  });
});

describe('results.secrets', () => {
  const text = `token ${GITHUB_TOKEN}, value ${VALUE}, number 1`;
  const serverWith = (secrets: string | undefined) => ({
    ...testServer('toolbox'),
    env: { KEY: VALUE },
    ...(secrets !== undefined && { results: { secrets } }),
  });

  slow('by default, and with pass, results are exact', async () => {
    const project = createProject(
      configWith({ plain: serverWith(undefined), pass: serverWith('pass') }),
    );
    const host = await RawHost.connect(project);
    for (const name of ['plain', 'pass']) {
      const { result } = await host.call(name, 'complain', { text });
      expect(result).toEqual({ content: [{ type: 'text', text }], isError: true });
    }
  });

  test('note and mask, for a host and for `call`', async () => {
    const project = createProject(
      configWith({ note: serverWith('note'), mask: serverWith('mask') }),
    );
    const host = await RawHost.connect(project);
    const noted = await host.call('note', 'complain', { text });
    expect(noted.result?.content?.[0]).toEqual({ type: 'text', text });
    expect(noted.result?.content?.[1]?.text).toContain('GitHub token, configured value');
    const masked = await host.call('mask', 'complain', { text });
    expect(masked.result).toEqual({
      content: [{ type: 'text', text: 'token ***, value ***, number 1' }],
      isError: true,
    });
    const { stdout } = await runSwitchboard(project, [
      'call',
      'mask.complain',
      JSON.stringify({ text }),
      '--json',
    ]);
    expect(JSON.parse(stdout)).toEqual(masked.result);
    expect(await host.lastWords()).toContain('mask: masked secrets in the result of complain');
  });

  slow(
    '1,000 results of published servers are the same with and without masking',
    async () => {
      const project = createProject();
      const folder = join(project.dir, 'files');
      mkdirSync(folder);
      for (let index = 0; index < 100; index++) {
        const more = index % 10 === 0 ? `\nsee ${GITHUB_TOKEN} and ${VALUE}` : '';
        writeFileSync(join(folder, `${index}.json`), JSON.stringify(oddData(index)) + more);
      }
      const host = await RawHost.connect(withPairs(project, folder));
      let compared = 0;
      let changed = 0;
      const compare = async (server: string, tool: string, args: object): Promise<void> => {
        const [plain, masked] = await Promise.all([
          host.call(`${server}_plain`, tool, args),
          host.call(`${server}_mask`, tool, args),
        ]);
        expect(masked.error).toEqual(plain.error);
        const expected = JSON.stringify(plain.result)
          .replaceAll(GITHUB_TOKEN, '***')
          .replaceAll(VALUE, '***');
        expect(JSON.stringify(masked.result)).toBe(expected);
        compared++;
        if (expected !== JSON.stringify(plain.result)) changed++;
      };
      for (let index = 0; index < 100; index++) {
        const path = join(folder, `${index}.json`);
        await compare('filesystem', 'read_text_file', { path });
        await compare('filesystem', 'get_file_info', { path });
        await compare('filesystem', 'search_files', { path: folder, pattern: `${index}*` });
        await compare('filesystem', 'list_directory', { path: folder });
        await compare('filesystem', 'read_text_file', { path: `${path}.missing` });
        const entities = [
          {
            name: `n${index}`,
            entityType: 'x',
            observations: [JSON.stringify(oddData(index)), VALUE],
          },
        ];
        await compare('memory', 'create_entities', { entities });
        await compare('memory', 'open_nodes', { names: [`n${index}`] });
        await compare('everything', 'echo', {
          message: `${index} ${JSON.stringify(oddData(index))}`,
        });
        await compare('everything', 'get-sum', { a: index, b: 0.1 });
        await compare('everything', 'get-structured-content', { location: 'New York' });
      }
      await compare('everything', 'get-tiny-image', {});
      expect(compared).toBeGreaterThan(1_000);
      expect(changed).toBeGreaterThan(100);
    },
    240_000,
  );
});

/** Strings that are hard to get right. */
function oddData(index: number): object {
  return { index, big: 2 ** 60 + index, text: `"\\ \u2028 é 🦊 ${'x'.repeat(index)}\n{"a": "b"}` };
}

/** Each published server twice: with results as they are, and masked. */
function withPairs(project: Project, folder: string): Project {
  const pair = (name: string, ...args: string[]) => {
    const entry = { ...publishedServer(name, ...args), env: { SECRET_VALUE: VALUE } };
    const file = (which: string) =>
      name === 'memory' ? { MEMORY_FILE_PATH: join(project.dir, `${which}.jsonl`) } : {};
    return {
      [`${name}_plain`]: { ...entry, env: { ...entry.env, ...file('plain') } },
      [`${name}_mask`]: {
        ...entry,
        env: { ...entry.env, ...file('mask') },
        results: { secrets: 'mask' },
      },
    };
  };
  project.write('switchboard.config.json', {
    mcpServers: {
      ...pair('filesystem', folder),
      ...pair('memory'),
      ...pair('everything', 'stdio'),
    },
    ...PATIENT,
  });
  return project;
}

describe('well-known tokens nobody configured', () => {
  slow('are masked in logs, errors and what commands print', async () => {
    const project = createProject(
      configWith({
        box: testServer('toolbox'),
        broken: { command: 'no-such-program', args: ['--token', GITHUB_TOKEN] },
      }),
    );
    const host = await RawHost.connect(project);
    await host.call('box', 'say', { text: `using ${GITHUB_TOKEN}` });
    const broken = await host.call('broken', 'x');
    expect(broken.result?.isError).toBe(true);
    const words = await host.lastWords();
    expect(words).toContain('[box] using ***');
    expect(words + JSON.stringify(broken)).not.toContain(GITHUB_TOKEN);
    for (const command of [
      ['doctor'],
      ['config', 'print'],
      ['config', 'check'],
      ['tools'],
      ['status'],
    ]) {
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await runSwitchboard(project, [...command, ...more]);
        expect(stdout + stderr).not.toContain(GITHUB_TOKEN);
      }
    }
  });

  test('are printed by `call`, because results are exact', async () => {
    const project = createProject(configWith({ box: testServer('toolbox') }));
    const { stdout } = await runSwitchboard(project, ['call', 'box.echo', `x=${GITHUB_TOKEN}`]);
    expect(stdout).toContain(GITHUB_TOKEN);
  });
});

test('servers don’t inherit credentials of Switchboard and the host, unless they are configured', async () => {
  const env = { KEY: '${CLAUDE_CODE_OAUTH_TOKEN}' };
  const project = createProject(configWith({ box: { ...testServer('toolbox'), env } }));
  const secrets = {
    SWITCHBOARD_HTTP_TOKEN: 'canary-of-switchboard',
    CLAUDE_CODE_OAUTH_TOKEN: 'canary-of-the-host',
    VSCODE_GIT_IPC_AUTH_TOKEN: 'canary-of-the-editor',
    GITHUB_TOKEN: 'the-users-own',
  };
  const host = await RawHost.connect(project, { env: secrets });
  const seen = JSON.parse(textOf(await host.call('box', 'where_am_i'))) as {
    env: Record<string, string>;
  };
  expect(seen.env).toMatchObject({ GITHUB_TOKEN: 'the-users-own', KEY: 'canary-of-the-host' });
  for (const name of [
    'SWITCHBOARD_HTTP_TOKEN',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'VSCODE_GIT_IPC_AUTH_TOKEN',
  ]) {
    expect(seen.env[name]).toBeUndefined();
  }
});
