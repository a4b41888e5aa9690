// Sessions in the background process: joining it, starting it, and everything that keeps a session from it. Each of
// those ends in a working session.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSharedProject, killBackground, type SharedProject } from '../support/background.ts';
import { eventually, isAlive } from '../support/processes.ts';
import { configWith, createProject, PROGRAM, ROOT } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const TOOLBOX = { box: testServer('toolbox') };

interface Where {
  readonly pid: number;
  readonly cwd: string;
  readonly env: Record<string, string>;
}

async function whereIs(host: RawHost, server = 'box'): Promise<Where> {
  return JSON.parse(textOf(await host.call(server, 'where_am_i'))) as Where;
}

/** Whether the session's servers belong to the background process. */
async function isShared(host: RawHost, project: SharedProject): Promise<boolean> {
  const { pid } = await whereIs(host);
  return parentOf(pid) === project.background();
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

const version = () =>
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
const socketIn = ({ run }: SharedProject) => join(run, `background-${version()}.sock`);
const noteIn = ({ run }: SharedProject) => join(run, `background-${version()}.json`);

describe('a session in the background process', () => {
  test.each(['newline', 'content-length'] as const)(
    'gets the same messages as one that is alone, in %s framing',
    async (framing) => {
      const project = createSharedProject(TOOLBOX);
      const hosts = [
        await RawHost.connect(project, { framing, args: ['--alone'] }),
        await RawHost.connect(project, { framing }),
      ];
      for (const host of hosts) {
        await host.request('tools/list');
        await host.introspect('box');
        await host.call('box', 'echo', { text: 'a ü 😀', big: 12 });
        await host.call('box', 'complain', { text: 'no' });
        await host.request('no/such/method');
        host.sendText('{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}');
        host.sendText('{broken');
        await host.request('ping');
      }
      const [alone, joined] = hosts;
      expect(joined?.texts.toSorted()).toEqual(alone?.texts.toSorted());
      expect(joined?.impure).toEqual([]);
      expect(await isShared(joined as RawHost, project)).toBe(true);
      expect(await isShared(alone as RawHost, project)).toBe(false);
      expect(await joined?.close()).toEqual({ code: 0, signal: null });
    },
  );

  test('gets its last responses, even if everything comes at once', async () => {
    const project = createSharedProject();
    const host = new RawHost(project);
    host.process.stdin?.end(
      '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}',
    );
    await host.close();
    expect(host.messages.map(({ id }) => id)).toEqual([1, 2]);
  });

  test('has its own folder, environment and configuration', async () => {
    const one = createSharedProject(TOOLBOX);
    const other = { ...createProject(configWith({ ...TOOLBOX, second: testServer('toolbox') })) };
    const first = await RawHost.connect(one, { env: { TOKEN_OF: 'one', ONLY_ONE: '1' } });
    const second = await RawHost.connect({ ...other, env: one.env }, { env: { TOKEN_OF: 'two' } });
    expect(await first.toolNames()).toEqual(['box_suite']);
    expect(await second.toolNames()).toEqual(['box_suite', 'second_suite']);
    const [here, there] = [await whereIs(first), await whereIs(second)];
    expect([here.cwd, there.cwd]).toEqual([one.dir, other.dir]);
    expect([here.env['TOKEN_OF'], there.env['TOKEN_OF']]).toEqual(['one', 'two']);
    expect([here.env['ONLY_ONE'], there.env['ONLY_ONE']]).toEqual(['1', undefined]);
    expect(one.backgrounds()).toHaveLength(1);
  });

  test('ends after its servers have stopped, and leaves others alone', async () => {
    const project = createSharedProject(TOOLBOX);
    const [one, other] = [await RawHost.connect(project), await RawHost.connect(project)];
    const [gone, kept] = [await whereIs(one), await whereIs(other)];
    expect(await one.close()).toEqual({ code: 0, signal: null });
    expect(isAlive(gone.pid) && gone.pid !== kept.pid).toBe(false);
    expect((await whereIs(other)).pid).toBe(kept.pid);
  });

  test('stops its servers if its entry is killed', async () => {
    const project = createSharedProject(TOOLBOX);
    const host = await RawHost.connect(project);
    const { pid } = await whereIs(host);
    host.process.kill('SIGKILL');
    expect(await eventually(() => !isAlive(pid))).toBe(true);
    expect(isAlive(project.background())).toBe(true);
  });

  test('ends with a signal to its entry, and reloads with SIGHUP', async () => {
    const project = createSharedProject(TOOLBOX);
    const host = await RawHost.connect(project);
    project.write(
      'switchboard.config.json',
      configWith({ other: testServer('toolbox') })['switchboard.config.json'] ?? {},
    );
    host.process.kill('SIGHUP');
    expect(await eventually(() => host.stderr.includes('reloaded the configuration'))).toBe(true);
    expect(await host.toolNames()).toEqual(['other_suite']);
    host.process.kill('SIGTERM');
    expect(await host.exited).toEqual({ code: 0, signal: null });
  });

  test('writes its log and the stderr of its servers to its own stderr', async () => {
    const project = createSharedProject(TOOLBOX);
    const [one, other] = [await RawHost.connect(project), await RawHost.connect(project)];
    await one.call('box', 'say', { text: 'only for one' });
    expect(await eventually(() => one.stderr.includes('[box] only for one'))).toBe(true);
    await other.call('box', 'say', { text: 'only for the other' });
    expect(await one.lastWords()).not.toContain('only for the other');
    expect(await other.lastWords()).not.toContain('only for one');
  });

  test('runs JavaScript configuration with its own environment', async () => {
    const project = createSharedProject();
    rmSync(join(project.dir, 'switchboard.config.json'));
    project.write(
      'switchboard.config.js',
      `console.log('to stderr');
       const [command, ...args] = ${JSON.stringify(Object.values(TOOLBOX.box).flat())};
       process.env.SET_BY_SCRIPT = '1';
       module.exports = { mcpServers: { [process.env.NAME]: { command, args } } };`,
    );
    const one = await RawHost.connect(project, { env: { NAME: 'first' } });
    const other = await RawHost.connect(project, { env: { NAME: 'second' } });
    expect(await one.toolNames()).toEqual(['first_suite']);
    expect(await other.toolNames()).toEqual(['second_suite']);
    expect((await whereIs(other, 'second')).env['SET_BY_SCRIPT']).toBeUndefined();
    expect(project.backgrounds()).toHaveLength(1);
    expect(await one.lastWords()).toContain('to stderr');
  });

  test('that only needs a few variables gets no others', async () => {
    const project = createSharedProject(
      { box: { ...TOOLBOX.box, env: { GIVEN: '${WANTED}' } } },
      { environment: 'minimal' },
    );
    const host = await RawHost.connect(project, { env: { WANTED: 'yes', UNWANTED: 'no' } });
    const { env } = await whereIs(host);
    expect(env['GIVEN']).toBe('yes');
    expect(env['UNWANTED']).toBeUndefined();
    expect(await isShared(host, project)).toBe(true);
  });
});

describe('starting', () => {
  test('twenty entries at once start one process', async () => {
    const project = createSharedProject(TOOLBOX);
    const hosts = await Promise.all(Array.from({ length: 20 }, () => RawHost.connect(project)));
    expect(project.backgrounds()).toEqual([project.background()]);
    const answers = await Promise.all(hosts.map((host) => host.call('box', 'echo', { x: 1 })));
    expect(answers.map(textOf)).toEqual(Array.from({ length: 20 }, () => '{"x":1}'));
    const words = await Promise.all(hosts.map((host) => host.lastWords()));
    expect(words.join('')).not.toContain('alone');
  });

  test('it runs in its own session, with the default umask, outside the project', async () => {
    const project = createSharedProject(TOOLBOX);
    mkdirSync(project.env['HOME'] ?? '');
    const before = process.umask(0o077);
    const host = new RawHost(project, { env: { ONLY_OF_HOST: '1' } });
    process.umask(before);
    await host.request('ping');
    const pid = project.background();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    expect(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3])).toBe(pid);
    expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Umask:\s*0022$/m);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('ONLY_OF_HOST');
    expect(statSync(socketIn(project)).mode & 0o777).toBe(0o600);
    expect(statSync(join(project.run, 'background.key')).mode & 0o777).toBe(0o600);
    expect(statSync(project.run).mode & 0o777).toBe(0o700);
  });

  test('its compiled code is saved for the next one', async () => {
    const project = createSharedProject(TOOLBOX);
    const dist = join(project.dir, 'program/dist');
    const isCompiled = (file: string): boolean => /\.txt\../.test(file);
    const filter = (file: string): boolean => !isCompiled(file);
    cpSync(join(ROOT, 'dist'), dist, { recursive: true, filter });
    const program = join(dist, 'index.js');
    const kept = (): string[] =>
      readdirSync(join(dist, 'chunks'))
        .filter((name) => isCompiled(name) && !name.endsWith('.new'))
        .map((name) => name.replace(/-.*/, ''));
    const first = await RawHost.connect(project, { program });
    await eventually(() => kept().length === 3);
    expect(kept().toSorted()).toEqual(['background', 'entry', 'start']);
    await first.close();
    await killBackground(project);
    const second = await RawHost.connect(project, { program });
    expect(await second.toolNames()).toEqual(['box_suite']);
    await second.close();
  });

  test('a process that was killed leaves nothing in the way', async () => {
    const project = createSharedProject(TOOLBOX);
    const first = await RawHost.connect(project);
    const old = project.background();
    first.process.kill('SIGKILL');
    await first.exited;
    await killBackground(project);
    expect(existsSync(socketIn(project))).toBe(true);
    const host = await RawHost.connect(project);
    expect(await isShared(host, project)).toBe(true);
    expect(project.background()).not.toBe(old);
  });

  test('a note or a lock with the pid of another process is stale', async () => {
    const project = createSharedProject(TOOLBOX);
    mkdirSync(project.run, { recursive: true, mode: 0o700 });
    for (const folder of [project.home, project.run]) chmodSync(folder, 0o700);
    const first = await RawHost.connect(project);
    first.process.kill('SIGKILL');
    await first.exited;
    await killBackground(project);
    const note = JSON.parse(readFileSync(noteIn(project), 'utf8')) as object;
    writeFileSync(noteIn(project), JSON.stringify({ ...note, pid: process.pid }));
    const lock = noteIn(project).replace('.json', '.lock');
    writeFileSync(lock, JSON.stringify({ ...note, pid: process.pid, id: 'x' }));
    const host = await RawHost.connect(project);
    expect(await isShared(host, project)).toBe(true);
    expect(await host.lastWords()).not.toContain('alone');
    expect(existsSync(lock)).toBe(false);
  });

  test('it ends at once when its home disappears', async () => {
    const project = createSharedProject(TOOLBOX);
    const host = await RawHost.connect(project);
    await host.close();
    const pid = project.background();
    expect(isAlive(pid)).toBe(true);
    rmSync(project.home, { recursive: true });
    expect(await eventually(() => !isAlive(pid))).toBe(true);
  });
});

describe('serving alone', () => {
  /** The session works, and the background process has nothing to do with it. */
  async function servesAlone(
    project: SharedProject,
    options: ConstructorParameters<typeof RawHost>[1] = {},
  ): Promise<string> {
    const host = await RawHost.connect(project, options);
    expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
    const { pid } = await whereIs(host);
    expect(parentOf(pid)).toBe(host.process.pid);
    return host.lastWords();
  }

  test.each([
    ['--alone', { args: ['--alone'] }],
    ['serve --alone', { args: ['serve', '--alone'] }],
    ['SWITCHBOARD_ALONE=1', { env: { SWITCHBOARD_ALONE: '1' } }],
  ])('%s needs no background process', async (_how, options) => {
    const project = createSharedProject(TOOLBOX);
    expect(await servesAlone(project, options)).toBe('');
    expect(project.backgrounds()).toEqual([]);
  });

  test('"shared": false is respected without a word', async () => {
    const project = createSharedProject(TOOLBOX, { shared: false });
    expect(await servesAlone(project)).toBe('');
    expect(project.backgrounds()).toEqual([]);
  });

  test('options for the files are passed on to the background process', async () => {
    const project = createSharedProject();
    project.write('other.json', { mcpServers: TOOLBOX });
    const host = await RawHost.connect(project, { args: ['serve', '--config', 'other.json'] });
    expect(await host.toolNames()).toEqual(['box_suite']);
    expect(await isShared(host, project)).toBe(true);
  });

  test('an invalid configuration is reported as usual', async () => {
    const project = createSharedProject();
    project.write('switchboard.config.json', '{ "mcpServers": 1 }');
    const host = new RawHost(project);
    expect((await host.exited).code).toBe(2);
    expect(await host.lastWords()).toContain('mcpServers');
    expect(host.stderr).not.toContain('alone');
  });

  test('a suspended background process is named', async () => {
    const project = createSharedProject(TOOLBOX);
    await (await RawHost.connect(project)).close();
    const pid = project.background();
    process.kill(pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(pid, 'SIGCONT'));
    expect(await servesAlone(project)).toBe(
      `switchboard: serving alone: the background process: it is suspended (process ${pid}). Continue it with: kill -CONT ${pid}\n`,
    );
  });

  test('a socket that somebody else listens on gets no variables', async () => {
    const project = createSharedProject(TOOLBOX);
    await (await RawHost.connect(project)).close();
    await killBackground(project);
    rmSync(socketIn(project));
    let received = '';
    const squatter = createServer((socket) => {
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
        const answer = Buffer.from(JSON.stringify({ nonce: 'x', proof: 'y' }));
        const header = Buffer.from([0x50, 0, 0, 0, answer.length]);
        socket.write(Buffer.concat([header, answer]));
      });
    });
    await new Promise<void>((resolve) => squatter.listen(socketIn(project), resolve));
    onTestFinished(() => void squatter.close());
    const words = await servesAlone(project, { env: { SECRET_OF_HOST: 'hush' } });
    expect(words).toContain("doesn't know this user's key");
    expect(received).toContain('nonce');
    expect(received).not.toMatch(/hush|HOME|box/);
  });

  test.each([
    ['a file', (project: SharedProject) => writeFileSync(socketIn(project), ''), 'is not a socket'],
    [
      'a folder that others can write to',
      (project: SharedProject) => chmodSync(project.run, 0o777),
      'others can write to it',
    ],
    [
      'a key that others can read',
      (project: SharedProject) => {
        writeFileSync(join(project.run, 'background.key'), 'a'.repeat(64), { mode: 0o644 });
      },
      'can be read by others',
    ],
    [
      'a note of another machine',
      (project: SharedProject) => {
        writeFileSync(noteIn(project), JSON.stringify({ pid: 1, start: '1', place: 'elsewhere' }));
      },
      'belongs to another machine or container',
    ],
  ])('%s in its place is reported', async (_what, prepare, said) => {
    const project = createSharedProject(TOOLBOX);
    for (const folder of [project.env['HOME'] ?? '', project.home, project.run]) {
      mkdirSync(folder, { mode: 0o700 });
    }
    prepare(project);
    expect(await servesAlone(project)).toContain(said);
    expect(project.backgrounds()).toEqual([]);
  });

  test('a home below /proc, or with a long path, is reported', async () => {
    const project = createSharedProject(TOOLBOX);
    const odd = { ...project, env: { ...project.env, SWITCHBOARD_HOME: '/proc/1/nowhere' } };
    expect(await servesAlone(odd)).toContain('serving alone: ');
    const long = join(project.dir, 'x'.repeat(120));
    const deep = { ...project, env: { ...project.env, SWITCHBOARD_HOME: long } };
    expect(await servesAlone(deep)).toContain("too long for a socket's path");
  });

  test('a background process that cannot start says why', async () => {
    const project = createSharedProject(TOOLBOX);
    const dist = join(project.dir, 'program/dist');
    cpSync(join(ROOT, 'dist'), dist, { recursive: true });
    const program = join(dist, 'index.js');
    const [first, ...rest] = readFileSync(program, 'utf8').split('\n');
    const fault = "if (process.argv[2] === 'background') require('./missing.js');";
    writeFileSync(program, [first, fault, ...rest].join('\n'));
    const words = await servesAlone(project, { program });
    expect(words).toBe(
      'switchboard: serving alone: the background process: it exited while starting. See logs/background.log in its home.\n',
    );
    const log = readFileSync(join(project.home, 'logs/background.log'), 'utf8');
    expect(log).toContain('Cannot find module');
  });

  test('a sandbox is never left', async () => {
    const project = createSharedProject(TOOLBOX);
    await (await RawHost.connect(project)).close();
    const words = await servesAlone(project, { env: { CODEX_SANDBOX: 'seatbelt' } });
    expect(words).toBe('switchboard: serving alone: this is a sandbox.\n');
  });

  test('sessions with other certificates are served alone', async () => {
    const project = createSharedProject(TOOLBOX);
    await (await RawHost.connect(project)).close();
    const words = await servesAlone(project, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '1' } });
    expect(words).toContain('it trusts other TLS certificates');
  });

  test('input from a file is read as usual', async () => {
    const project = createSharedProject(TOOLBOX);
    const file = project.write('input', '{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    const { stdout } = spawnSync(process.execPath, [PROGRAM], {
      cwd: project.dir,
      env: project.env,
      stdio: [openSync(file, 'r'), 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    expect(stdout).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n');
    expect(project.backgrounds()).toEqual([]);
  });
});

describe('another version', () => {
  /** A copy of the program that calls itself another version. */
  function copyProgram(project: SharedProject, other: string): string {
    const dist = join(project.dir, `program-${other}/dist`);
    cpSync(join(ROOT, 'dist'), dist, {
      recursive: true,
      filter: (file) => !/\.txt\../.test(file), // compiled code
    });
    for (const name of readdirSync(join(dist, 'chunks'))) {
      const path = join(dist, 'chunks', name);
      const text = readFileSync(path, 'latin1');
      writeFileSync(path, text.replaceAll(`"${version()}"`, `"${other}"`), 'latin1');
    }
    return join(dist, 'index.js');
  }

  test('has its own process, after which the older one accepts no sessions', async () => {
    const project = createSharedProject(TOOLBOX);
    const program = copyProgram(project, '9.0.0');
    const old = await RawHost.connect(project);
    expect(await isShared(old, project)).toBe(true);
    const oldPid = project.background();
    const newer = await RawHost.connect(project, { program });
    expect(project.backgrounds()).toHaveLength(2);
    // The older one still serves its session, but no other.
    expect(textOf(await old.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
    const another = await RawHost.connect(project);
    expect(await another.lastWords()).toContain(
      'serving alone: the background process: version 9.0.0 is running.',
    );
    expect(textOf(await newer.call('box', 'echo', { x: 2 }))).toBe('{"x":2}');
    await old.close();
    expect(await eventually(() => !isAlive(oldPid))).toBe(true);
  });

  test('whose program was replaced or removed is followed by the current one', async () => {
    const project = createSharedProject(TOOLBOX);
    const program = copyProgram(project, version());
    const old = await RawHost.connect(project, { program });
    const oldPid = project.background();
    rmSync(join(project.dir, `program-${version()}`), { recursive: true });
    const host = await RawHost.connect(project);
    expect(await isShared(host, project)).toBe(true);
    expect(project.background()).not.toBe(oldPid);
    await old.close();
    expect(await eventually(() => !isAlive(oldPid))).toBe(true);
  });
});
