// The control endpoint with real sockets: who may use it, what it bears, and that nothing stays.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SwitchboardError } from '../../../src/base/errors.ts';
import { stopOrphans } from '../../../src/base/orphans.ts';
import { type ControlOptions, openControl } from '../../../src/host/control.ts';
import { askRunning } from '../../../src/host/control-client.ts';
import { openControlLater } from '../../../src/host/control-later.ts';
import { startControlProgram } from '../../support/control.ts';
import { eventually } from '../../support/processes.ts';
import { createProject } from '../../support/project.ts';

const LIMIT_MS = 10_000;

function createHome(...below: string[]): string {
  return join(createProject().dir, ...below);
}

/** An endpoint in this process, and the lines it logs. */
async function open(home: string, some: Partial<ControlOptions> = {}) {
  const logged: string[] = [];
  const note = (line: string): void => void logged.push(line);
  const log = { debug: note, info: note, warn: note, error: note, child: note };
  const methods = { echo: (params: unknown) => params ?? 'nothing' };
  const control = await openControl({ home, project: '/project', methods, log, ...some });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await control[Symbol.asyncDispose]();
    isOpen = false;
  };
  onTestFinished(close);
  return { close, logged, address: readNote(home).address, log };
}

/** Has the test's own folder taken for that of temporary files. */
function useTemporaryFolder(...below: string[]): string {
  const { TMPDIR } = process.env;
  const folder = createHome(...below);
  process.env['TMPDIR'] = folder;
  onTestFinished(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
  return folder;
}

/** The note of the one endpoint in a home. */
function noteIn(home: string): string {
  const run = join(home, 'run');
  return join(run, readdirSync(run).find((name) => name.endsWith('.endpoint')) ?? '');
}

function readNote(home: string): { readonly address: string } {
  return JSON.parse(readFileSync(noteIn(home), 'utf8')) as { address: string };
}

/** A connection that is written to by hand. */
function connectTo(address: string) {
  const socket: Socket = connect(address);
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {}); // being cut off is what these tests are about
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  onTestFinished(() => void socket.destroy());
  return { socket, closed, lines: () => received.split('\n').filter(Boolean) };
}

const ECHO = '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}\n';
const ECHOED = '{"jsonrpc":"2.0","id":1,"result":{"a":1}}';

test('a provided method is answered, and an unknown one is refused', async () => {
  const home = createHome();
  await open(home, {
    methods: {
      value: () => ({ a: [1] }),
      later: async () => 'b',
      refuses: () => {
        throw new SwitchboardError('CONFIG_INVALID', 'It is wrong.', { hint: 'Right it.' });
      },
    },
  });
  const ask = async (method: string) => {
    const [answer] = await askRunning(home, method, LIMIT_MS);
    return { value: answer?.value, problem: answer?.problem };
  };
  expect(await ask('value')).toEqual({ value: { a: [1] } });
  expect(await ask('later')).toEqual({ value: 'b' });
  expect(await ask('refuses')).toEqual({ problem: 'It is wrong. Right it.' });
  for (const method of ['no', 'toString', '__proto__']) {
    expect(await ask(method)).toEqual({ problem: `Method not found: ${method}` });
  }
});

test('a method with a bug is answered and logged, and the next one still works', async () => {
  const home = createHome();
  const { logged } = await open(home, {
    methods: {
      bug: () => {
        throw new Error('a bug');
      },
      works: () => 1,
    },
  });
  const [answer] = await askRunning(home, 'bug', LIMIT_MS);
  expect(answer?.problem).toContain('Internal error');
  expect(logged.join()).toContain('a bug');
  expect(await askRunning(home, 'works', LIMIT_MS)).toMatchObject([{ value: 1 }]);
});

test('socket, note and folder are private, even if the folder was open', async () => {
  const home = createHome();
  mkdirSync(join(home, 'run'), { recursive: true });
  chmodSync(join(home, 'run'), 0o777);
  const { address } = await open(home);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(dirname(address)).toBe(join(home, 'run'));
  expect(mode(address)).toBe('600');
  expect(mode(dirname(address))).toBe('700');
  for (const name of readdirSync(join(home, 'run'))) {
    expect(mode(join(home, 'run', name))).toBe('600');
  }
});

test('if the home’s path is long, the socket is in a temporary folder', async () => {
  const home = createHome('a'.repeat(100));
  const temporary = useTemporaryFolder();
  const { address, close } = await open(home);
  expect(dirname(dirname(address))).toBe(temporary);
  expect(statSync(dirname(address)).mode & 0o777).toBe(0o700);
  expect(statSync(address).mode & 0o777).toBe(0o600);
  expect(await askRunning(home, 'echo', LIMIT_MS)).toMatchObject([{ value: 'nothing' }]);
  await close();
  expect(existsSync(address)).toBe(false);
  expect(readdirSync(join(home, 'run'))).toEqual([]);
});

test('in a temporary folder, another user’s leftovers are refused', async () => {
  const home = createHome('a'.repeat(100));
  const elsewhere = createHome();
  const temporary = useTemporaryFolder();
  symlinkSync(elsewhere, join(temporary, `switchboard-${process.getuid?.()}`));
  await expect(open(home)).rejects.toThrow('is not owned by this user.');
  expect(readdirSync(join(home, 'run'))).toEqual([]);
});

test('if no path is short enough, it is not opened', async () => {
  const home = createHome('a'.repeat(100));
  useTemporaryFolder('b'.repeat(100));
  await expect(open(home)).rejects.toThrow('is also too long for a socket');
});

test('a folder that is a link, as another user may have left it, is refused', async () => {
  const home = createHome();
  mkdirSync(join(home, 'elsewhere'), { recursive: true });
  symlinkSync(join(home, 'elsewhere'), join(home, 'run'));
  await expect(open(home)).rejects.toThrow('is not owned by this user.');
  expect(readdirSync(join(home, 'elsewhere'))).toEqual([]);
});

test.skipIf(process.getuid?.() !== 0)('another user’s folder is refused', async () => {
  const { chownSync } = await import('node:fs');
  const home = createHome();
  mkdirSync(join(home, 'run'), { recursive: true });
  chownSync(join(home, 'run'), 12_345, 12_345);
  await expect(open(home)).rejects.toThrow('is not owned by this user.');
});

test('an endpoint in another user’s folder is not contacted', async () => {
  const home = createHome();
  const { address } = await open(home);
  const link = join(home, 'link');
  symlinkSync(dirname(address), link);
  const file = noteIn(home);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(dirname(address), link));
  expect(await askRunning(home, 'echo', LIMIT_MS)).toEqual([]);
  writeFileSync(file, text);
  expect(await askRunning(home, 'echo', LIMIT_MS)).toHaveLength(1);
});

test('closing it cuts connections and leaves nothing', async () => {
  const home = createHome();
  const { address, close } = await open(home, { methods: { hang: () => new Promise(() => {}) } });
  const { socket, closed } = connectTo(address);
  socket.write('{"jsonrpc":"2.0","id":1,"method":"hang"}\n');
  await new Promise((resolve) => socket.once('connect', resolve));
  await close();
  await closed;
  expect(readdirSync(join(home, 'run'))).toEqual([]);
});

test('closing it removes its process listeners', async () => {
  const before = process.listenerCount('exit');
  const { close } = await open(createHome());
  expect(process.listenerCount('exit')).toBe(before + 1);
  await close();
  expect(process.listenerCount('exit')).toBe(before);
});

test.each(['EOF', 'SIGTERM', 'SIGINT'] as const)('%s leaves nothing', async (by) => {
  const home = createHome();
  const program = await startControlProgram(home, {});
  expect(readdirSync(join(home, 'run'))).toHaveLength(2);
  await program.end(by);
  expect(readdirSync(join(home, 'run'))).toEqual([]);
});

test('leftovers of a killed program are removed by a client, and by the next program', async () => {
  const home = createHome();
  const run = join(home, 'run');
  const killed = async () => {
    await (await startControlProgram(home, {})).end('SIGKILL');
    expect(readdirSync(run)).toHaveLength(2);
  };
  await killed();
  expect(await askRunning(home, 'echo', LIMIT_MS)).toEqual([]);
  expect(readdirSync(run)).toEqual([]);

  await killed();
  const left = readdirSync(run);
  await open(home);
  expect(readdirSync(run)).toHaveLength(2);
  expect(readdirSync(run)).not.toContain(left[0]);
});

test('a note whose pid belongs to another process is removed, one from elsewhere is kept', async () => {
  const home = createHome();
  const run = join(home, 'run');
  const { address, close } = await open(home);
  const note = readNote(home);
  await close();
  const write = (file: string, change: object) =>
    writeFileSync(join(run, file), JSON.stringify({ ...note, ...change }));
  write('1-again.endpoint', { start: '1' });
  write('2-elsewhere.endpoint', { place: 'elsewhere', pid: 4_000_000 });
  writeFileSync(join(run, '3-empty.endpoint'), '');
  writeFileSync(join(run, '4-odd.endpoint'), '{"pid":"x"}');
  expect(await askRunning(home, 'echo', LIMIT_MS)).toEqual([]);
  expect(readdirSync(run)).toEqual(['2-elsewhere.endpoint', '3-empty.endpoint', '4-odd.endpoint']);
  expect(existsSync(address)).toBe(false);
});

test('a note cannot make us remove other files', async () => {
  const home = createHome();
  const run = join(home, 'run');
  const { close } = await open(home);
  const note = readNote(home);
  await close();
  const precious = join(home, 'precious.sock');
  writeFileSync(precious, 'a file');
  writeFileSync(
    join(run, '1-bad.endpoint'),
    JSON.stringify({ ...note, start: '1', address: precious }),
  );
  expect(await askRunning(home, 'echo', LIMIT_MS)).toEqual([]);
  expect(readdirSync(run)).toEqual([]);
  expect(existsSync(precious)).toBe(true);
});

test('stopping orphans does not touch endpoints', async () => {
  const home = createHome();
  await open(home);
  const before = readdirSync(join(home, 'run'));
  expect(await stopOrphans(join(home, 'run'), 10)).toBe(0);
  expect(readdirSync(join(home, 'run'))).toEqual(before);
  expect(lstatSync(readNote(home).address).isSocket()).toBe(true);
});

test('a program that is unreachable or hangs does not answer', async () => {
  const home = createHome();
  const { address } = await open(home, { methods: { hang: () => new Promise(() => {}) } });
  const pid = process.pid;
  expect(await askRunning(home, 'hang', 50)).toEqual([
    { pid, project: '/project', problem: 'not responding' },
  ]);
  rmSync(address);
  expect(await askRunning(home, 'hang', LIMIT_MS)).toEqual([
    { pid, project: '/project', problem: 'not responding' },
  ]);
});

test.each([
  ['text', 'hello\n'],
  ['a request of HTTP', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['broken JSON', '{"jsonrpc":\n"x"\n}}}\n'],
  ['a scalar', '42\n'],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"echo"}]\n'],
  ['an object that is no message', '{"a":1}\n'],
  ['bytes', Buffer.from([0xff, 0xfe, 0x80, 0x0a, 0x00, 0x0a])],
])('%s closes the connection, and others are served', async (_what, garbage) => {
  const home = createHome();
  const { address } = await open(home);
  const { socket, closed, lines } = connectTo(address);
  socket.write(garbage);
  await closed;
  expect(lines()).toEqual([expect.stringContaining('"code":-32600')]);
  expect(await askRunning(home, 'echo', LIMIT_MS)).toMatchObject([{ value: 'nothing' }]);
});

test.each([
  ['one message', () => Buffer.alloc(1 << 16, 'x')],
  ['empty lines', () => Buffer.alloc(1 << 16, '\n')],
  [
    'one announced body',
    () => Buffer.from(`Content-Length: 99999999\n\n{"a":${'1'.repeat(60_000)}`),
  ],
])('100 MB as %s is not read', async (_what, piece) => {
  const home = createHome();
  const { address } = await open(home);
  const { socket, closed } = connectTo(address);
  const chunk = piece();
  const write = (): void => {
    while (!socket.destroyed && socket.bytesWritten < 100 << 20 && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
  await closed;
  expect(socket.bytesWritten).toBeLessThan(10 << 20);
  expect(await askRunning(home, 'echo', LIMIT_MS)).toMatchObject([{ value: 'nothing' }]);
});

test('a request of nearly the maximum size is answered', async () => {
  const { address } = await open(createHome(), {
    methods: { size: (params) => String(params).length },
  });
  const { socket, lines } = connectTo(address);
  const text = 'x'.repeat(1_000_000);
  socket.write(`{"jsonrpc":"2.0","id":1,"method":"size","params":"${text}"}\n`);
  expect(await eventually(() => lines().length === 1)).toBe(true);
  expect(lines()).toEqual(['{"jsonrpc":"2.0","id":1,"result":1000000}']);
});

test('a larger request is refused, even after another', async () => {
  const { address } = await open(createHome(), { idleMs: 600_000 });
  const { socket, closed, lines } = connectTo(address);
  socket.write(`${ECHO}{"jsonrpc":"2.0","id":2,"method":"${'x'.repeat(1 << 20)}"}\n`);
  await closed;
  expect(lines()).toEqual([
    ECHOED,
    expect.stringContaining('A message may have at most 1048576 bytes.'),
  ]);
});

test('a client that sends much and reads nothing is disconnected', async () => {
  const { address } = await open(createHome(), { methods: { much: () => 'x'.repeat(1 << 20) } });
  const socket = connect(address);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  let id = 0;
  const timer = setInterval(
    () => socket.write(`{"jsonrpc":"2.0","id":${++id},"method":"much"}\n`),
    1,
  );
  onTestFinished(() => clearInterval(timer));
  const closed = new Promise<void>((resolve) => socket.once('error', () => resolve()));
  await closed;
  expect(id).toBeLessThan(1_000);
});

test('concurrent requests beyond a limit are refused, one by one', async () => {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { address } = await open(createHome(), { methods: { wait: () => released } });
  const { socket, lines } = connectTo(address);
  for (let id = 1; id <= 20; id++) {
    socket.write(`{"jsonrpc":"2.0","id":${id},"method":"wait"}\n`);
  }
  expect(await eventually(() => lines().length === 4)).toBe(true);
  expect(lines().every((line) => line.includes('16 requests are already running'))).toBe(true);
  release();
  expect(await eventually(() => lines().length === 20)).toBe(true);
});

test('at most 32 connections are kept; when they close, others are served', async () => {
  const home = createHome();
  const { address } = await open(home, { idleMs: 600_000 });
  const held = Array.from({ length: 32 }, () => connectTo(address));
  for (const { socket } of held) socket.write(ECHO);
  expect(await eventually(() => held.every(({ lines }) => lines()[0] === ECHOED))).toBe(true);
  const beyond = connectTo(address);
  beyond.socket.write(ECHO);
  await beyond.closed;
  expect(beyond.lines()).toEqual([]);
  for (const { socket } of held) socket.destroy();
  await Promise.all(held.map(({ closed }) => closed));
  const isServed = async () => (await askRunning(home, 'echo', LIMIT_MS))[0]?.value === 'nothing';
  let served = await isServed();
  for (let tries = 0; !served && tries < 100; tries++) served = await isServed();
  expect(served).toBe(true);
});

test('1,000 concurrent connections are harmless', async () => {
  const home = createHome();
  const { address } = await open(home, { idleMs: 200 });
  const crowd = Array.from({ length: 1_000 }, () => connectTo(address));
  await Promise.all(crowd.map(({ closed }) => closed));
  expect(await askRunning(home, 'echo', LIMIT_MS)).toMatchObject([{ value: 'nothing' }]);
});

test('an idle connection is closed, even one that sends a byte now and then', async () => {
  const { address } = await open(createHome(), { idleMs: 100 });
  const mute = connectTo(address);
  const slow = connectTo(address);
  const timer = setInterval(() => slow.socket.write(' '), 20);
  onTestFinished(() => clearInterval(timer));
  await Promise.all([mute.closed, slow.closed]);
  expect(mute.lines()).toEqual([]);
});

test('a connection waiting for its answer is not idle', async () => {
  const { address } = await open(createHome(), {
    idleMs: 50,
    methods: { slow: () => new Promise((resolve) => setTimeout(resolve, 400, 'done')) },
  });
  const { socket, closed, lines } = connectTo(address);
  socket.write('{"jsonrpc":"2.0","id":1,"method":"slow"}\n');
  await closed; // idle after the answer
  expect(lines()).toEqual(['{"jsonrpc":"2.0","id":1,"result":"done"}']);
});

test('a delayed opening can be closed before, during and after it', async () => {
  const home = createHome();
  const { log, logged, close } = await open(createHome());
  await close();
  const options = { home, project: '/project', methods: {}, log };
  const files = () => (existsSync(join(home, 'run')) ? readdirSync(join(home, 'run')) : []);

  await openControlLater({ ...options, afterMs: 60_000 })[Symbol.asyncDispose]();
  expect(files()).toEqual([]);

  const opening = openControlLater({ ...options, afterMs: 0 });
  await new Promise((resolve) => setTimeout(resolve, 1));
  await opening[Symbol.asyncDispose]();
  expect(files()).toEqual([]);

  const opened = openControlLater({ ...options, afterMs: 0 });
  expect(await eventually(() => files().length === 2)).toBe(true);
  await opened[Symbol.asyncDispose]();
  expect(files()).toEqual([]);
  expect(logged).toEqual([]);
});

test('if it cannot be opened, that is one log line', async () => {
  const project = createProject();
  const logged: string[] = [];
  const note = (line: string): void => void logged.push(line);
  const log = { debug: note, info: note, warn: note, error: note, child: note };
  project.write('run', 'a file');
  const options = { home: project.dir, project: project.dir, methods: {}, log, afterMs: 0 };
  const control = openControlLater(options);
  expect(await eventually(() => logged.length > 0)).toBe(true);
  await control[Symbol.asyncDispose]();
  expect(logged).toEqual([
    expect.stringContaining('"switchboard status" will not see this run: EEXIST'),
  ]);
});
