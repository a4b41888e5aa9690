// How often, and how soon, a stream that was cut is taken up again.
import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readAnswerStream } from '../../../../src/child/remote/answer-stream.ts';
import { Secrets } from '../../../../src/child/remote/server.ts';
import { DEFAULTS } from '../../../../src/config/defaults.ts';
import type { HttpReply } from '../../../../src/net/http-client.ts';

const server = {
  name: 'far',
  origin: 'somewhere',
  place: 'https://far.example',
  hasAuthorization: false,
  canSignIn: true,
  messageBytes: 1_000,
  messageShape: DEFAULTS.messageShape,
  secrets: new Secrets([]),
};

/** A stream that brings something, names no time to wait, and ends without the answer. */
function unfinished(): HttpReply {
  const body = Readable.from([
    Buffer.from('retry: 0\nid: 1\ndata: {"jsonrpc":"2.0","method":"note"}\n\n'),
  ]);
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
}

test('a server that cuts every stream is retried with pauses and a limit', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const times: number[] = [];
  const read = readAnswerStream(unfinished(), {
    server,
    id: 1,
    signal: new AbortController().signal,
    onMessage: () => {},
    onOpen: () => {},
    resume: () => {
      times.push(performance.now());
      return Promise.resolve(unfinished());
    },
  });
  const failures: unknown[] = [];
  read.catch((error: unknown) => failures.push(error));
  while (failures.length === 0 && times.length < 2_000) {
    await vi.advanceTimersByTimeAsync(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(failures).toMatchObject([{ code: 'CHILD_UNREACHABLE' }]);
  expect(times.length).toBe(999);
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(100);
});

test('if streams cannot be resumed, a cut is the end', async () => {
  const read = readAnswerStream(unfinished(), {
    server,
    id: 1,
    signal: new AbortController().signal,
    onMessage: () => {},
    onOpen: () => {},
    resume: undefined,
  });
  await expect(read).rejects.toMatchObject({ code: 'CHILD_UNREACHABLE' });
});
