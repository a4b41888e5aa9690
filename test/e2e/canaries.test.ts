// Secrets in every place of the configuration, servers that repeat them wherever they can, and every command: no secret
// is in any output, file or command line of Switchboard.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { commandsWith } from '../support/every-command.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { processesWith } from '../support/processes.ts';
import { createProject, type Project } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import { startServing } from '../support/serve-http.ts';
import { testServer } from '../support/servers.ts';
import { createStandIns } from '../support/stand-ins.ts';

const CANARIES = {
  literal: 'canary-literal-aaaaaa',
  variable: 'canary-variable-bbbbb',
  header: 'canary-header-cccccccc',
  stored: 'canary-stored-ddddddd',
  command: 'canary-command-eeeeee',
  vault: 'canary-vault-ffffffffff',
  address: 'canary-address-gggggg',
  client: 'canary-client-hhhhhhhhh',
  token: 'canary-http-token-iiiiiiiiiiiiiiii',
  argument: 'canary-argument-jjjjjj',
};

const FORMS = Object.values(CANARIES).flatMap((canary) => [
  canary,
  Buffer.from(canary).toString('base64').slice(0, -2),
  encodeURIComponent(canary).replaceAll('-', '%2D'),
]);

const COMMANDS = commandsWith({
  server: 'box',
  other: 'file',
  remote: 'web',
  assisted: 'box',
  folder: 'mcps/kid',
  agent: 'mine',
});

interface Watched extends Project {
  /** Everything with a canary on a command line so far. */
  readonly commandLines: () => readonly string[];
}

async function createWatched(): Promise<Watched> {
  const project = createProject();
  const standIns = createStandIns(project.dir);
  standIns.add('helper', `console.log('${CANARIES.command}')`);
  const repeats = createServer((request, response) => {
    const text = `${request.url} ${JSON.stringify(request.headers)}`;
    response.writeHead(500, { 'content-type': 'text/plain', 'x-repeated': text.slice(0, 200) });
    response.end(text);
  });
  const { port } = await listenOnLoopback(repeats);
  const env = {
    A: CANARIES.literal,
    B: 'x ${FROM_HOST} y',
    C: '${secret:stored}',
    D: '${cmd:helper}',
    E: 'op://v/i/f',
  };
  const box = { ...testServer('toolbox'), env, redact: ['$..key'], results: { secrets: 'mask' } };
  project.write('home/.switchboard/switchboard.config.json', {
    mcpServers: {
      box,
      file: { ...box, stderr: 'log', show: 'flip', start: 'eager' },
      broken: { command: 'no-such-program', args: ['${secret:stored}'], env },
      dies: { command: process.execPath, args: ['-e', DIES], env },
      web: {
        url: `http://127.0.0.1:${port}/\${secret:stored}?key=${CANARIES.address}`,
        headers: { Authorization: `Bearer ${CANARIES.header}`, 'X-Key': '${FROM_HOST}' },
        oauth: { clientId: 'me', clientSecret: CANARIES.client },
      },
    },
    audit: true,
    permissions: { ask: ['box__ask_me'] },
    hooks: { afterCall: [{ command: process.execPath, args: ['-e', 'process.exit(1)'] }] },
  });
  project.write('home/.switchboard/agents/mine.toml', 'name = "mine"\ninstructions = "Do it."\n');
  project.write('mcps/kid/.mcp.json', { name: 'kid', ...testServer('toolbox'), env: { A: '1' } });
  const whole = {
    ...project,
    env: {
      ...project.env,
      ...standIns.env,
      STAND_IN_VAULT: JSON.stringify({ 'op://v/i/f': CANARIES.vault }),
      FROM_HOST: CANARIES.variable,
      SWITCHBOARD_HTTP_TOKEN: CANARIES.token,
      SWITCHBOARD_LOG: 'debug',
      LOG_TO_FILE: '1',
    },
  };
  await runSwitchboard(whole, ['secret', 'set', 'stored'], { input: CANARIES.stored });
  const seen: string[] = [];
  const look = () => {
    const lines = processesWith(project.dir).map(({ command }) => command);
    seen.push(...lines.filter((line) => FORMS.some((form) => line.includes(form))));
  };
  const timer = setInterval(look, 50);
  onTestFinished(() => clearInterval(timer));
  return { ...whole, commandLines: () => [...seen, ...standIns.commands()] };
}

/** Prints its environment and exits. */
const DIES = 'console.error(JSON.stringify(process.env)); process.exit(1)';

/** Calls tools that repeat every secret, in results, errors and stderr; returns the responses. */
async function callEverything(host: RawHost): Promise<void> {
  for (const name of ['box', 'file']) {
    for (const canary of Object.values(CANARIES).filter((one) => !isElsewhere(one))) {
      for (const text of [canary, Buffer.from(canary).toString('base64')]) {
        const key = CANARIES.argument;
        await host.call(name, 'say', { key, text });
        await host.call(name, 'fail', { key, code: -3, message: text, data: { text } });
      }
    }
    await host.call(name, 'where_am_i');
    await host.call(name, 'no_such_tool', { key: CANARIES.argument });
  }
  for (const name of ['broken', 'dies', 'web']) {
    await host.introspect(name);
    await host.call(name, 'x', {});
  }
  await host.call('box', 'ask_me', { key: CANARIES.argument });
}

/** Not a secret of these servers, so they couldn't know it. */
function isElsewhere(canary: string): boolean {
  const { header, address, client, token } = CANARIES;
  return [header, address, client, token].includes(canary);
}

/** All files in the user's home, except the configuration itself and its backups, which only the user can read. */
function filesOf(project: Project): string {
  const home = join(project.dir, 'home');
  const files = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const isBackup = (file: string) => file.includes('/backups/');
  const open = files.filter((file) => isBackup(file) && (statSync(file).mode & 0o077) !== 0);
  expect(open).toEqual([]);
  return files
    .filter((file) => !isBackup(file) && !file.endsWith('switchboard.config.json'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
}

function linesWithCanaries(text: string): string[] {
  return text.split('\n').filter((line) => FORMS.some((form) => line.includes(form)));
}

describe('no secret is seen', () => {
  test('by hosts, in logs and on command lines', async () => {
    const project = await createWatched();
    const host = await RawHost.connect(project);
    await callEverything(host);
    const said = host.texts.join('\n') + (await host.lastWords());
    expect(linesWithCanaries(said)).toEqual([]);
    const serving = await startServing(project);
    await serving.stop();
    const lines = serving.stderr().split('\n');
    // The entry for the host has the token: it has to come from somewhere.
    const others = lines.filter((line) => !line.includes('"mcpServers"')).join('\n');
    expect(linesWithCanaries(others + serving.stdout())).toEqual([]);
    expect(linesWithCanaries(filesOf(project))).toEqual([]);
    expect(linesWithCanaries(project.commandLines().join('\n'))).toEqual([]);
    expect(said).toContain('***');
  });

  test.each([[[]], [['--json']]])('in what commands print (%s)', async (flags) => {
    const project = await createWatched();
    const host = await RawHost.connect(project);
    await callEverything(host);
    for (const args of Object.values(COMMANDS).flat()) {
      const command = [...args, ...flags];
      const { stdout, stderr } = await runSwitchboard(project, command, { input: 'other' });
      const seen = linesWithCanaries(stdout + stderr);
      expect({ command, seen }).toEqual({ command, seen: [] });
    }
    await host.close();
    expect(linesWithCanaries(filesOf(project))).toEqual([]);
    expect(linesWithCanaries(project.commandLines().join('\n'))).toEqual([]);
  });
});
