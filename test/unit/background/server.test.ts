// The background process's life, within this process: whom it greets, and when it ends.
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FRAME, FrameReader, frameOf, PROTOCOL } from '../../../src/background/frames.ts';
import {
  ensureSecret,
  findMeeting,
  type Meeting,
  proofOf,
  readSecret,
} from '../../../src/background/meeting.ts';
import { ownPlace } from '../../../src/background/place.ts';
import { Background, type BackgroundOptions } from '../../../src/background/server.ts';
import type { SessionParts } from '../../../src/background/session-parts.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

/** No session gets that far. */
const NO_PARTS: SessionParts = {
  canRefuse: true,
  openLog: () => {
    throw new Error('no log');
  },
  openProject: () => Promise.reject(new Error('no project')),
  openListener: () => Promise.reject(new Error('no listener')),
  runScript: () => Promise.reject(new Error('no script')),
};

function createMeeting(version = '1.0.0'): Meeting {
  const home = mkdtempSync(join(tmpdir(), 'switchboard-test-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'run'), { mode: 0o700 });
  const meeting = findMeeting(home, {}, version);
  if (!meeting) throw new Error('The path is too long.');
  ensureSecret(meeting);
  return meeting;
}

async function open(meeting: Meeting, more: Partial<BackgroundOptions> = {}): Promise<Background> {
  const background = await Background.open({
    meeting,
    version: '1.0.0',
    build: 'b',
    place: ownPlace({}),
    parts: NO_PARTS,
    log: SILENT_LOG,
    isInstalled: () => true,
    ...more,
  });
  onTestFinished(() => background.stop());
  return background;
}

interface Spoken {
  readonly type: number;
  readonly content: Record<string, unknown>;
}

/** Says hello as an entry does; resolves with the first frame after the proof, or undefined at the end. */
async function sayHello(
  meeting: Meeting,
  hello: object,
  secret = readSecret(meeting) ?? Buffer.alloc(0),
): Promise<Spoken | undefined> {
  const socket: Socket = connect(meeting.address);
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve) => {
    const reader = new FrameReader((type, payload) => {
      const content = JSON.parse(payload.toString()) as Record<string, unknown>;
      if (type !== FRAME.proof) return resolve({ type, content });
      const challenge = { entry: 'mine', background: String(content['nonce']) };
      expect(content['proof']).toBe(
        proofOf('background', readSecret(meeting) ?? Buffer.alloc(0), challenge),
      );
      const proof = proofOf('entry', secret, challenge);
      socket.write(frameOf(FRAME.hello, { ...hello, proof }));
    });
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    socket.once('close', () => resolve(undefined));
    socket.write(frameOf(FRAME.greeting, { nonce: 'mine' }));
  });
}

const helloFor = ({ home }: Meeting) => ({
  protocol: PROTOCOL,
  version: '1.0.0',
  build: 'b',
  pid: 1,
  folder: home,
  args: ['--alone'],
  variables: { SWITCHBOARD_HOME: home },
  place: ownPlace({}),
  generation: 0,
});

test('it ends some time after its last session, and leaves only the key', async () => {
  const meeting = createMeeting();
  const background = await open(meeting, { lingerMs: 30 });
  expect(existsSync(meeting.address)).toBe(true);
  await background.ended;
  expect(existsSync(meeting.address)).toBe(false);
  expect(existsSync(meeting.noteFile)).toBe(false);
  expect(existsSync(meeting.secretFile)).toBe(true);
});

test('it ends when its home disappears', async () => {
  const meeting = createMeeting();
  const background = await open(meeting, { watchMs: 5 });
  rmSync(meeting.home, { recursive: true });
  await expect(background.ended).resolves.toBeUndefined();
});

test('it ends when another process has its place, and leaves that alone', async () => {
  const meeting = createMeeting();
  const background = await open(meeting, { watchMs: 5 });
  rmSync(meeting.address);
  writeFileSync(meeting.address, 'another');
  writeFileSync(meeting.noteFile, 'another');
  await background.ended;
  expect(readFileSync(meeting.address, 'utf8')).toBe('another');
  expect(readFileSync(meeting.noteFile, 'utf8')).toBe('another');
});

test('a second one cannot listen', async () => {
  const meeting = createMeeting();
  await open(meeting);
  await expect(open(meeting)).rejects.toThrow('EADDRINUSE');
});

test.each([
  ['another protocol', { protocol: PROTOCOL + 1 }, 'it is version 1.0.0.', false],
  ['another version', { version: '0.9.0' }, 'it is version 1.0.0.', false],
  ['another home', { variables: { SWITCHBOARD_HOME: '/elsewhere' } }, 'it serves ', false],
  [
    'another sandbox',
    { place: { ...ownPlace({}), confinement: 'NoNewPrivs: 1' } },
    'it runs in another sandbox.',
    false,
  ],
  ['another build', { build: 'c' }, 'its program was replaced.', true],
  ['options it does not know', {}, 'it needs the whole program.', false],
])('%s is refused', async (_what, change, reason, isOver) => {
  const meeting = createMeeting();
  const background = await open(meeting);
  const refused = await sayHello(meeting, { ...helloFor(meeting), ...change });
  expect(refused?.type).toBe(FRAME.refused);
  expect(refused?.content['reason']).toMatch(new RegExp(`^${reason}`));
  expect(refused?.content['isOver']).toBe(isOver);
  if (isOver) await background.ended;
});

test('nobody is heard without the key', async () => {
  const meeting = createMeeting();
  await open(meeting);
  expect(await sayHello(meeting, helloFor(meeting), Buffer.alloc(32))).toBeUndefined();
});

test('only the entry that started it needs no proof', async () => {
  const meeting = createMeeting();
  const background = await open(meeting);
  const stranger = connect(meeting.address);
  stranger.on('error', () => {}); // `close` follows
  const closed = once(stranger, 'close');
  stranger.write(frameOf(FRAME.hello, helloFor(meeting)));
  await closed;
  expect(stranger.bytesRead).toBe(0);

  const pipe = createServer((socket) => background.serveStarter(socket));
  onTestFinished(() => void pipe.close());
  pipe.listen(join(meeting.folder, 'pipe'));
  const starter = connect(join(meeting.folder, 'pipe'));
  onTestFinished(() => void starter.destroy());
  starter.write(frameOf(FRAME.hello, { ...helloFor(meeting), version: '0.9.0' }));
  const answer = await new Promise<Spoken>((resolve) => {
    const reader = new FrameReader((type, payload) =>
      resolve({ type, content: JSON.parse(payload.toString()) as Spoken['content'] }),
    );
    starter.on('data', (chunk: Buffer) => reader.push(chunk));
  });
  expect(answer).toMatchObject({
    type: FRAME.refused,
    content: { reason: 'it is version 1.0.0.' },
  });
});

test('a starter that says nothing does not keep it running', async () => {
  const meeting = createMeeting();
  const background = await open(meeting);
  const pipe = createServer((socket) => background.serveStarter(socket));
  onTestFinished(() => void pipe.close());
  pipe.listen(join(meeting.folder, 'pipe'));
  const starter = connect(join(meeting.folder, 'pipe'));
  onTestFinished(() => void starter.destroy());
  await once(pipe, 'connection');
  await expect(background.stop()).resolves.toBeUndefined();
});

test('an older one does not start while a newer one runs', async () => {
  const meeting = createMeeting();
  const newer = findMeeting(meeting.home, {}, '1.1.0');
  await open(newer ?? meeting, { version: '1.1.0' });
  await expect(open(meeting)).rejects.toThrow('version 1.1.0 is running.');
});

test('the key is never replaced, and must be private', () => {
  const meeting = createMeeting();
  const key = readSecret(meeting);
  expect(key).toHaveLength(32);
  ensureSecret(meeting);
  expect(readSecret(meeting)).toEqual(key);
  writeFileSync(meeting.secretFile, 'abc');
  expect(() => readSecret(meeting)).toThrow('has no valid key');
});
