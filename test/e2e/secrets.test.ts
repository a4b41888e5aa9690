// Secrets with the built program: stored, looked up for servers, found in files, and never seen again.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { processesWith } from '../support/processes.ts';
import { createProject, PROGRAM, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';
import { slow, test } from '../support/slow.ts';
import { createStandIns } from '../support/stand-ins.ts';
import { runOnTerminal } from '../support/terminal.ts';
import { GITHUB_TOKEN } from '../support/tokens.ts';

const VALUE = 'canary-of-a-secret-4711';
const USER_FILE = 'home/.switchboard/switchboard.config.json';

const setSecret = (project: Project, name: string, value: string, ...more: string[]) =>
  runSwitchboard(project, ['secret', 'set', name, ...more], { input: `${value}\n` });

describe('switchboard secret', () => {
  test('stores a value from stdin, lists its name and removes it', async () => {
    const project = createProject();
    const file = join(project.dir, 'home/.switchboard/secrets.json');
    const stored = await setSecret(project, 'github-token', VALUE);
    expect(stored).toMatchObject({
      status: 0,
      stdout: 'Stored the secret "github-token". Refer to it as ${secret:github-token}.\n',
    });
    expect(stored.stderr).toMatch(/^warning: The key to your secrets is in .*secrets\.key/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(VALUE);

    const listed = await runSwitchboard(project, ['secret', 'list', '--json']);
    expect(JSON.parse(listed.stdout)).toEqual({
      secrets: [{ name: 'github-token', changedAt: expect.stringMatching(/^20\d\d-/) }],
      key: 'file',
      file,
    });
    expect((await runSwitchboard(project, ['secret', 'list'])).stdout).toContain(
      'github-token  changed',
    );
    const removed = await runSwitchboard(project, ['secret', 'rm', 'github-token', '--json']);
    expect(JSON.parse(removed.stdout)).toEqual({ name: 'github-token', removed: true });
    const again = await runSwitchboard(project, ['secret', 'rm', 'github-token', '--json']);
    expect(again.status).toBe(2);
    expect(JSON.parse(again.stderr)).toMatchObject({ error: { code: 'SECRET_UNKNOWN' } });
  });

  slow('a value on the command line is refused, and not repeated', async () => {
    const project = createProject();
    const { status, stdout, stderr } = await runSwitchboard(project, ['secret', 'set', 'a', VALUE]);
    expect(status).toBe(2);
    expect(stdout + stderr).not.toContain(VALUE);
    expect(existsSync(join(project.dir, 'home/.switchboard/secrets.json'))).toBe(false);
  });

  test.each([
    ['../a', 'x', /is not a valid name/],
    ['a', '', /The value is empty/],
  ])('the name %j with the value %j is refused', async (name, value, problem) => {
    const { status, stderr } = await setSecret(createProject(), name, value);
    expect(status).toBe(2);
    expect(stderr).toMatch(problem);
  });

  slow('a typed value is not shown', async () => {
    const project = createProject();
    const command = [process.execPath, PROGRAM, 'secret', 'set', 'typed'];
    const { status, screen } = await runOnTerminal(command, {
      cwd: project.dir,
      env: project.env,
      answers: [['Value of typed (not shown): ', `${VALUE}\r`]],
    });
    expect(status).toBe(0);
    expect(screen).toContain('Stored the secret "typed"');
    expect(screen).not.toContain('canary');
    project.write(USER_FILE, {
      mcpServers: { box: { ...testServer('toolbox'), env: { KEY: '${secret:typed}' } } },
    });
    const { stdout } = await runSwitchboard(project, ['call', 'box.where_am_i']);
    expect(JSON.parse(stdout)).toMatchObject({ env: { KEY: VALUE } });
  });

  slow('--keychain moves the key to the keyring (a stand-in for secret-tool)', async () => {
    const project = createProject();
    const { env, keyring, commands } = createStandIns(project.dir);
    const input = `${VALUE}\n`;
    const run = (...args: string[]) => runSwitchboard(project, ['secret', ...args], { env, input });
    await run('set', 'a');
    const moved = await run('set', 'b', '--keychain', '--json');
    expect(JSON.parse(moved.stdout)).toMatchObject({ name: 'b', isNew: true, key: 'keychain' });
    expect(moved.stderr).toBe('');
    expect(Object.keys(keyring())).toHaveLength(1);
    expect(existsSync(join(project.dir, 'home/.switchboard/secrets.key'))).toBe(false);
    expect(commands().join()).not.toContain(Object.values(keyring())[0]);
    const locked = await runSwitchboard(createProject(), ['secret', 'set', 'c', '--keychain'], {
      env: { ...env, STAND_IN_LOCKED: '1' },
      input,
    });
    expect(locked.status).toBe(0);
    expect(locked.stderr).toMatch(/warning: The key to your secrets is in .* locked collection/s);
  });
});

test('servers get secrets from the store, 1Password and commands', async () => {
  const project = createProject();
  const standIns = createStandIns(project.dir);
  standIns.add('helper', "console.log('from ' + process.argv.slice(2).join('+'))");
  const vault = { STAND_IN_VAULT: JSON.stringify({ 'op://v/i/f': 'from-1password' }) };
  await setSecret(project, 'mine', VALUE);
  const headers: unknown[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers['x-key']);
    response.writeHead(404).end();
  });
  const { port } = await listenOnLoopback(server);
  onTestFinished(() => void server.close());
  project.write(USER_FILE, {
    mcpServers: {
      box: {
        ...testServer('toolbox'),
        env: { A: 'x-${secret:mine}', B: 'op://v/i/f', C: "${cmd:helper one 'two three'}" },
      },
      web: { url: `http://127.0.0.1:${port}/mcp`, headers: { 'X-Key': '${secret:mine}' } },
      missing: { ...testServer('toolbox'), env: { A: '${secret:other}' } },
    },
  });
  const host = await RawHost.connect(project, { env: { ...standIns.env, ...vault } });
  expect(JSON.parse(textOf(await host.call('box', 'where_am_i')))).toMatchObject({
    env: { A: `x-${VALUE}`, B: 'from-1password', C: 'from one+two three' },
  });
  await host.call('web', 'x');
  expect(headers[0]).toBe(VALUE);
  const lacking = await host.call('missing', 'echo');
  expect(textOf(lacking)).toMatch(
    /^Server "missing" needs the secret "other", which isn't stored .* Run: switchboard secret set other$/,
  );
  const checked = await runSwitchboard(project, ['config', 'check', '--json']);
  expect(JSON.parse(checked.stdout)).toMatchObject({ missingSecrets: { missing: ['other'] } });
});

test('a command in a project’s file never runs', async () => {
  const project = createProject();
  const standIns = createStandIns(project.dir);
  standIns.add('helper', "console.log('ran')");
  const box = { ...testServer('toolbox'), env: { A: '${cmd:helper}' } };
  project.write('switchboard.config.json', { mcpServers: { box } });
  project.write('mcps/kid/.mcp.json', { name: 'kid', ...box });
  const host = await RawHost.connect(project, { env: standIns.env });
  for (const name of ['box', 'kid']) {
    expect(textOf(await host.call(name, 'echo'))).toContain(
      'only works in your own configuration files',
    );
  }
  for (const command of [['doctor'], ['tools'], ['config', 'check'], ['call', 'box.echo']]) {
    await runSwitchboard(project, command, { env: standIns.env });
  }
  expect(standIns.commands()).toEqual([]);
});

describe('secrets in configuration files', () => {
  const createCareless = () =>
    createProject({
      'switchboard.config.json': {
        mcpServers: { box: { ...testServer('toolbox'), env: { GITHUB_TOKEN, LEVEL: 'debug' } } },
      },
    });

  slow('doctor reports them, and `secret move` moves them', async () => {
    const project = createCareless();
    const file = join(project.dir, 'switchboard.config.json');
    const found = await runSwitchboard(project, ['doctor']);
    expect(found.stdout).toContain(`env.GITHUB_TOKEN of server "box" in ${file} (GitHub token)`);
    expect(found.stdout).toContain('run: switchboard secret move');
    const asJson = await runSwitchboard(project, ['doctor', '--json']);
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      secrets: [
        { server: 'box', file, where: 'env.GITHUB_TOKEN', kind: 'GitHub token', isMovable: true },
      ],
    });
    const moved = await runSwitchboard(project, ['secret', 'move', '--json']);
    expect(JSON.parse(moved.stdout)).toMatchObject({
      moved: [{ server: 'box', where: 'env.GITHUB_TOKEN', name: 'box-github-token' }],
    });
    for (const { stdout, stderr } of [found, asJson, moved]) {
      expect(stdout + stderr).not.toContain(GITHUB_TOKEN);
    }
    expect(readFileSync(file, 'utf8')).toContain('${secret:box-github-token}');
    const { stdout } = await runSwitchboard(project, ['call', 'box.where_am_i']);
    expect(JSON.parse(stdout)).toMatchObject({ env: { GITHUB_TOKEN, LEVEL: 'debug' } });
    expect((await runSwitchboard(project, ['doctor'])).stdout).not.toContain(
      'Secrets in configuration',
    );
  });

  test.each([
    ['y', '${secret:box-github-token}'],
    ['n', GITHUB_TOKEN],
  ])('on a terminal, doctor asks: %s', async (answer, expected) => {
    const project = createCareless();
    const { screen } = await runOnTerminal([process.execPath, PROGRAM, 'doctor'], {
      cwd: project.dir,
      env: project.env,
      answers: [["Move them to Switchboard's store? [y/N] ", `${answer}\r`]],
    });
    expect(screen).not.toContain(GITHUB_TOKEN);
    expect(readFileSync(join(project.dir, 'switchboard.config.json'), 'utf8')).toContain(expected);
  });
});

slow(
  'canaries: no secret shows up in any output, file or command line',
  async () => {
    const project = createProject();
    const standIns = createStandIns(project.dir);
    const canaries = {
      env: 'canary-env-aaaaaaaa',
      variable: 'canary-variable-bbbb',
      header: 'canary-header-cccccc',
      stored: 'canary-stored-dddddd',
      command: 'canary-command-eeeee',
      vault: 'canary-vault-ffffffff',
      argument: 'canary-argument-gggg',
      token: 'canary-http-token-hhhhhhhhhhhhhhhh',
    };
    const all = Object.values(canaries).flatMap((canary) => [
      canary,
      Buffer.from(canary).toString('base64').slice(0, 20),
    ]);
    standIns.add('helper', `console.log('${canaries.command}')`);
    const env = {
      ...standIns.env,
      STAND_IN_VAULT: JSON.stringify({ 'op://v/i/f': canaries.vault }),
      FROM_HOST: canaries.variable,
      SWITCHBOARD_HTTP_TOKEN: canaries.token,
      SWITCHBOARD_LOG: 'debug',
      LOG_TO_FILE: '1',
    };
    await setSecret(project, 'stored', canaries.stored);
    const secrets = {
      A: canaries.env,
      B: '${FROM_HOST}',
      C: '${secret:stored}',
      D: '${cmd:helper}',
      E: 'op://v/i/f',
    };
    const { argument: _argument, token: _token, header: _header, ...inServer } = canaries;
    const headers = { Authorization: `Bearer ${canaries.header}`, 'X-Key': '${secret:stored}' };
    const refuses = createServer((request, response) => {
      response.writeHead(401).end(`no: ${JSON.stringify(request.headers)}`);
    });
    const { port } = await listenOnLoopback(refuses);
    onTestFinished(() => void refuses.close());
    project.write(USER_FILE, {
      mcpServers: {
        box: {
          ...testServer('toolbox'),
          env: secrets,
          redact: ['$.key'],
          results: { secrets: 'mask' },
        },
        file: { ...testServer('toolbox'), env: secrets, redact: ['$.key'], stderr: 'log' },
        broken: { command: 'no-such-program', args: ['${secret:stored}'], env: secrets },
        web: { url: `http://127.0.0.1:${port}/\${secret:stored}`, headers },
      },
    });

    const host = await RawHost.connect(project, { env });
    const seen: string[] = [];
    for (const name of ['box', 'file']) {
      for (const canary of [...Object.values(inServer), canaries.argument]) {
        const key = canaries.argument;
        for (const text of [canary, Buffer.from(`x${canary}y`).toString('base64')]) {
          await host.call(name, 'say', { key, text });
          seen.push(
            JSON.stringify(
              await host.call(name, 'fail', { key, code: -3, message: text, data: { text } }),
            ),
          );
        }
      }
      const result = JSON.stringify(await host.call(name, 'where_am_i', {}));
      if (name === 'box') seen.push(result);
    }
    for (const name of ['broken', 'web']) seen.push(JSON.stringify(await host.call(name, 'x')));
    expect(all.flatMap((canary) => processesWith(canary))).toEqual([]);
    const commands = [
      ['status'],
      ['tools'],
      ['doctor'],
      ['config', 'check'],
      ['config', 'print'],
      ['show'],
      ['assistant'],
      ['agents'],
      ['secret', 'list'],
      ['login', 'web'],
      ['call', 'broken.x'],
      ['call', 'box.where_am_i'],
      ['call', 'web.x'],
    ];
    for (const command of commands) {
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await runSwitchboard(project, [...command, ...more], { env });
        seen.push(stdout, stderr);
      }
    }
    seen.push(await host.lastWords(), ...standIns.commands(), filesOf(project));
    const text = seen.join('\n');
    expect(all.filter((canary) => text.includes(canary))).toEqual([]);
    expect(text).toContain('***');
  },
  180_000,
);

/** All files of Switchboard's home, except the configuration itself. */
function filesOf(project: Project): string {
  const home = join(project.dir, 'home');
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'switchboard.config.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}
