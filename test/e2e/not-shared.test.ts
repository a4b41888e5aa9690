// Everything that keeps a session from the background process: each gives a clear message and a session that works.
// The simpler cases are in background.test.ts.
import { spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSharedProject, killBackground, type SharedProject } from '../support/background.ts';
import { eventually, isAlive } from '../support/processes.ts';
import { PROGRAM, ROOT } from '../support/project.ts';
import { type HostOptions, RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const TOOLBOX = { box: testServer('toolbox') };
const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65_534;

const version = () =>
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
const socketIn = ({ run }: SharedProject) => join(run, `background-${version()}.sock`);

/** The session works, without a background process. Returns what it said about that. */
async function servesAlone(project: SharedProject, options: HostOptions = {}): Promise<string> {
  const host = await RawHost.connect(project, options);
  expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
  const words = await host.lastWords();
  expect(host.impure).toEqual([]);
  return words.split('\n').find((line) => line.includes('serving alone')) ?? '';
}

/** The folders that an entry would create, so that a test can put something in there. */
function prepareFolders(project: SharedProject): void {
  for (const folder of [project.env['HOME'] ?? '', project.home, project.run]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
}

/** A copy of the program that first runs this code, which stands in for a system that behaves differently. */
function programAfter(project: SharedProject, code: string): string {
  const dist = join(project.dir, 'program/dist');
  cpSync(join(ROOT, 'dist'), dist, {
    recursive: true,
    filter: (file) => !/\.txt\../.test(file), // compiled code
  });
  const file = join(dist, 'index.js');
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    join(dist, 'first.cjs'),
    `const fs = require('node:fs'); const net = require('node:net');
     const isBackground = process.argv[2] === 'background';
     const fail = (code, text, path) => Object.assign(new Error(code + ': ' + text), { code, syscall: 'test', path });
     ${code}
     require('node:module').syncBuiltinESMExports();`,
  );
  const [hashbang = ''] = /^#!.*\n/.exec(text) ?? [];
  writeFileSync(file, `${hashbang}require('./first.cjs');\n${text.slice(hashbang.length)}`);
  return file;
}

describe('a squatted socket', () => {
  async function squat(project: SharedProject, behave: (socket: Socket) => void): Promise<void> {
    await (await RawHost.connect(project)).close();
    await killBackground(project);
    rmSync(socketIn(project));
    const open = new Set<Socket>();
    const squatter = createServer((socket) => {
      open.add(socket);
      socket.on('error', () => {});
      behave(socket);
    });
    await new Promise<void>((resolve) => squatter.listen(socketIn(project), resolve));
    onTestFinished(() => {
      for (const socket of open) socket.destroy();
      squatter.close();
    });
  }

  test.each([
    ['garbage', (socket: Socket) => void socket.write(Buffer.alloc(4_096, 0xff))],
    ['a web server', (socket: Socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['empty frames', (socket: Socket) => void socket.write(Buffer.alloc(50))],
  ])('that answers like %s is reported', async (_what, behave) => {
    const project = createSharedProject(TOOLBOX);
    await squat(project, behave);
    expect(await servesAlone(project)).toBe(
      'switchboard: serving alone: the background process: it sent something unexpected.',
    );
  });

  test('that never answers is given up after a few seconds', async () => {
    const project = createSharedProject(TOOLBOX);
    await squat(project, () => {});
    expect(await servesAlone(project)).toMatch(
      /serving alone: .* it didn't respond \(process \d+\)\.$/,
    );
  });

  test('that closes every connection is given up', async () => {
    const project = createSharedProject(TOOLBOX);
    await squat(project, (socket) => void socket.destroy());
    expect(await servesAlone(project)).toBe(
      'switchboard: serving alone: the background process ends as soon as a session joins it.',
    );
  });

  test('may also be a folder', async () => {
    const project = createSharedProject(TOOLBOX);
    prepareFolders(project);
    mkdirSync(socketIn(project));
    expect(await servesAlone(project)).toContain(`${socketIn(project)} is not a socket.`);
  });
});

describe.runIf(IS_ROOT)('another user', () => {
  test.each([
    ['the socket', socketIn, 'belongs to another user.'],
    ['the folder', ({ run }: SharedProject) => run, 'belongs to another user'],
    ['the key', ({ run }: SharedProject) => join(run, 'background.key'), 'can be read by others.'],
  ])('who owns %s is never joined', async (_what, fileIn, said) => {
    const project = createSharedProject(TOOLBOX);
    await (await RawHost.connect(project)).close();
    const pid = project.background();
    chownSync(fileIn(project), NOBODY, NOBODY);
    expect(await servesAlone(project)).toContain(said);
    expect(isAlive(pid)).toBe(true);
  });
});

describe('a home', () => {
  test('that cannot be written is reported', async () => {
    const project = createSharedProject(TOOLBOX);
    // Not a folder: an administrator could write to any.
    project.write('home', '');
    expect(await servesAlone(project)).toBe(
      `switchboard: serving alone: ${project.run}: not a directory (ENOTDIR).`,
    );
  });

  test.skipIf(IS_ROOT)('that is read-only is reported', async () => {
    const project = createSharedProject(TOOLBOX);
    mkdirSync(project.env['HOME'] ?? '', { mode: 0o500 });
    expect(await servesAlone(project)).toBe(
      `switchboard: serving alone: ${project.home}: permission denied (EACCES).`,
    );
  });

  test.each([
    ['/proc/1/nowhere', '/proc/1/nowhere'],
    ['/proc/nowhere', '/proc/nowhere'],
    ['/proc/self/task', '/proc/self/task/run'],
  ])('below procfs (%s) is reported', async (home, path) => {
    const project = createSharedProject(TOOLBOX);
    const host = { env: { SWITCHBOARD_HOME: home } };
    expect(await servesAlone(project, host)).toContain(`serving alone: ${path}: `);
  });

  test.each([
    ['ESTALE', 'stale file handle'],
    ['EACCES', 'permission denied'],
  ])('on a network disk that answers with %s is reported', async (code, text) => {
    const project = createSharedProject(TOOLBOX);
    const program = programAfter(
      project,
      `for (const name of ['lstatSync', 'statSync', 'mkdirSync', 'openSync', 'readFileSync', 'readdirSync']) {
         const original = fs[name];
         fs[name] = (path, ...rest) => {
           if (String(path).startsWith(${JSON.stringify(project.home)})) throw fail('${code}', '${text}', path);
           return original(path, ...rest);
         };
       }`,
    );
    // The user's approvals can't be read either.
    const env = { SWITCHBOARD_TRUST: 'all' };
    expect(await servesAlone(project, { program, env })).toMatch(
      new RegExp(`serving alone: ${project.home}\\S*: ${text} \\(${code}\\)\\.$`),
    );
  });

  test('on a disk without sockets is reported', async () => {
    const project = createSharedProject(TOOLBOX);
    const program = programAfter(
      project,
      `net.Server.prototype.listen = function (address) {
         const error = fail('EOPNOTSUPP', 'operation not supported on socket');
         setImmediate(() => this.emit('error', Object.assign(error, { address })));
         return this;
       };`,
    );
    expect(await servesAlone(project, { program })).toBe(
      `switchboard: serving alone: the background process: ${socketIn(project)}: operation not supported on socket (EOPNOTSUPP).`,
    );
    expect(project.backgrounds()).toEqual([]);
  });
});

describe('a full disk', () => {
  const FULL = `
    const isOurs = new Map();
    const { openSync, writeFileSync, writeSync } = fs;
    fs.openSync = (path, ...rest) => {
      const descriptor = openSync(path, ...rest);
      isOurs.set(descriptor, MATCH.test(String(path)));
      return descriptor;
    };
    const full = () => fail('ENOSPC', 'no space left on device, write');
    fs.writeSync = (descriptor, ...rest) => {
      if (isOurs.get(descriptor)) throw full();
      return writeSync(descriptor, ...rest);
    };
    fs.writeFileSync = (target, ...rest) => {
      if (typeof target === 'number' ? isOurs.get(target) : MATCH.test(target)) {
        if (typeof target === 'string') fs.closeSync(openSync(target, 'wx'));
        throw full();
      }
      return writeFileSync(target, ...rest);
    };`;

  test.each([
    ['the lock', /\.lock$/, ''],
    ['the key', /\.key$/, ''],
    ['the note', /background-[\d.]+\.json/, 'the background process: '],
  ])('does not take %s, and leaves nothing in the way', async (_what, match, who) => {
    const project = createSharedProject(TOOLBOX);
    const program = programAfter(project, `const MATCH = ${String(match)};${FULL}`);
    const place = who === '' ? project.run : project.home;
    expect(await servesAlone(project, { program })).toBe(
      `switchboard: serving alone: ${who}${place}: no space left on device (ENOSPC).`,
    );
    expect(await eventually(() => project.backgrounds().length === 0)).toBe(true);
    expect(existsSync(join(project.run, `background-${version()}.lock`))).toBe(false);
    // Once there is space again, it's as if nothing had happened.
    const host = await RawHost.connect(project);
    expect(await host.lastWords()).not.toContain('alone');
    expect(project.backgrounds()).toHaveLength(1);
  });

  const canMount =
    spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

  test.runIf(canMount)('leaves a working session, for real', async () => {
    const project = createSharedProject(TOOLBOX);
    mkdirSync(project.home, { recursive: true });
    const script = project.write(
      'in-full-disk.sh',
      `mount -t tmpfs -o size=64k,mode=700 none "$HOME/.switchboard"
       dd if=/dev/zero of="$HOME/.switchboard/ballast" 2> /dev/null
       exec "$@"`,
    );
    const command = ['unshare', '-Urm', 'bash', script, process.execPath, PROGRAM] as const;
    const host = await RawHost.connect(project, { command });
    expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
    expect(await host.lastWords()).toMatch(/serving alone: .*no space left on device \(ENOSPC\)\./);
  });
});

describe('a background process', () => {
  test('whose event loop hangs is given up after a few seconds', async () => {
    const project = createSharedProject(TOOLBOX);
    const program = programAfter(
      project,
      `const hang = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
       if (isBackground) {
         const { writeSync } = fs;
         fs.writeSync = (file, ...rest) => {
           writeSync(file, ...rest);
           if (file === 3) hang(); // it's ready, and its entry waits
         };
       }`,
    );
    expect(await servesAlone(project, { program })).toMatch(
      /serving alone: the background process: it didn't respond \(process \d+\)\.$/,
    );
  });

  test('that hangs while it starts is killed', async () => {
    const project = createSharedProject(TOOLBOX);
    const hang = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
    const program = programAfter(project, `if (isBackground) ${hang};`);
    expect(await servesAlone(project, { program })).toBe(
      'switchboard: serving alone: the background process: it took too long to start.',
    );
    expect(await eventually(() => project.backgrounds().length === 0)).toBe(true);
  });

  test('that hangs while it reads the configuration is given up as well', async () => {
    const project = createSharedProject(TOOLBOX);
    const config = join(project.dir, 'switchboard.config.json');
    const program = programAfter(
      project,
      `for (const name of isBackground ? ['readFileSync', 'openSync', 'lstatSync'] : []) {
         const original = fs[name];
         fs[name] = (path, ...rest) => {
           if (path === ${JSON.stringify(config)}) {
             Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
           }
           return original(path, ...rest);
         };
       }`,
    );
    expect(await servesAlone(project, { program })).toMatch(/it didn't respond \(process \d+\)\.$/);
  });

  test('may take its time to read the configuration', async () => {
    const project = createSharedProject();
    rmSync(join(project.dir, 'switchboard.config.json'));
    project.write(
      'switchboard.config.mjs',
      `await new Promise((resolve) => setTimeout(resolve, 7_000));
       export default ${JSON.stringify({ mcpServers: TOOLBOX })};`,
    );
    const host = await RawHost.connect(project);
    expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
    expect(await host.lastWords()).not.toContain('alone');
  });

  test('that crashes whenever it is joined is given up', async () => {
    const project = createSharedProject(TOOLBOX);
    const program = programAfter(
      project,
      `if (isBackground) {
         const { writeSync } = fs;
         fs.writeSync = (file, ...rest) => {
           writeSync(file, ...rest);
           if (file === 3) process.kill(process.pid, 'SIGKILL');
         };
       }`,
    );
    expect(await servesAlone(project, { program })).toBe(
      'switchboard: serving alone: the background process ends as soon as a session joins it.',
    );
  });

  test('whose installation was removed leaves clear errors, and ends with its sessions', async () => {
    const project = createSharedProject(TOOLBOX);
    const program = programAfter(project, '');
    const host = await RawHost.connect(project, { program });
    expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
    rmSync(join(project.dir, 'program'), { recursive: true });
    expect(textOf(await host.call('box', 'echo', { x: 2 }))).toBe('{"x":2}');
    await killBackground(project);
    expect((await host.call('box', 'echo', { x: 3 })).error).toBeDefined();
    const { error } = await host.call('box', 'echo', { x: 4 });
    expect(error?.message).toMatch(/can't be started again: .* Restart this session\.$/);
    // Another installation isn't affected.
    const other = await RawHost.connect(project);
    expect(await other.lastWords()).not.toContain('alone');
  });
});

describe('a sandbox', () => {
  test.each(['EPERM', 'EACCES'])('that refuses connections with %s is reported', async (code) => {
    const project = createSharedProject(TOOLBOX);
    await (await RawHost.connect(project)).close();
    const program = programAfter(
      project,
      `const { connect } = net;
       net.connect = (to) => {
         if (!String(to.path).endsWith('.sock')) return connect(to);
         const socket = new net.Socket();
         setImmediate(() => socket.destroy(fail('${code}', 'connect')));
         return socket;
       };`,
    );
    expect(await servesAlone(project, { program })).toBe(
      `switchboard: serving alone: the background process: a sandbox doesn't allow connecting to ${socketIn(project)} (${code}).`,
    );
  });
});
