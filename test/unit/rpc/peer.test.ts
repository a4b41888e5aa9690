import { expect, onTestFinished, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { LargeReader } from '../../../src/rpc/large-json.ts';
import { LargeVerbatim } from '../../../src/rpc/large-verbatim.ts';
import { type Outgoing, RpcError } from '../../../src/rpc/message.ts';
import { Peer, type PeerOptions } from '../../../src/rpc/peer.ts';
import { RpcTimeout } from '../../../src/rpc/requests.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';

interface Message {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

function createPeer(options: Partial<PeerOptions> = {}) {
  const sent: Message[] = [];
  const peer = new Peer({
    send: (json) => sent.push(JSON.parse(json) as Message),
    onRequest: async () => Verbatim.of({}),
    onNotification: () => {},
    onBug: (error) => {
      throw error;
    },
    ...options,
  });
  const receive = (message: unknown) =>
    peer.receive(Verbatim.of({ jsonrpc: '2.0', ...(message as object) }));
  return { peer, sent, receive };
}

const LONG = { timeoutMs: 60_000 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('answers reach their requests in any order', async () => {
  const { peer, sent, receive } = createPeer();
  const first = peer.request('a', undefined, LONG);
  const second = peer.request('b', undefined, LONG);

  receive({ id: sent[1]?.id, result: 'second' });
  receive({ id: sent[0]?.id, result: 'first' });

  expect((await first).value).toBe('first');
  expect((await second).value).toBe('second');
});

test('a request reports when it is sent and when it is settled', async () => {
  const { peer, receive } = createPeer();
  const noted: string[] = [];
  const begin = (name: string) => {
    const onSend = (id: number) => noted.push(`${name} is sent as ${id}`);
    const onSettled = (isAbandoned: boolean) =>
      noted.push(`${name} is ${isAbandoned ? 'abandoned' : 'settled'}`);
    return peer.request(name, undefined, { ...LONG, onSend, onSettled }).catch(() => 'refused');
  };
  const [, , third] = [begin('a'), begin('b'), begin('c')];
  expect(noted).toEqual(['a is sent as 1', 'b is sent as 2', 'c is sent as 3']);
  expect(peer.requests.ids).toEqual([1, 2, 3]);

  receive({ id: 2, result: 'done' });
  receive({ id: 1, error: { code: 1, message: 'no' } });
  peer.close(new Error('gone'));
  expect(noted.slice(3)).toEqual(['b is settled', 'a is settled', 'c is settled']);
  expect(peer.requests.ids).toEqual([]);
  expect(await third).toBe('refused');
});

test('an unsent request reports neither', async () => {
  const { peer } = createPeer();
  peer.close(new Error('gone'));
  const noted = vi.fn();
  const options = { ...LONG, onSend: noted, onSettled: noted };
  await expect(peer.request('a', undefined, options)).rejects.toThrow('gone');
  expect(noted).not.toHaveBeenCalled();
});

test('each message comes with its description', async () => {
  const messages: Outgoing[] = [];
  const { peer, receive } = createPeer({
    send: (_, message) => messages.push(message),
    onRequest: async ({ method, params }) => {
      if (method === 'fail') throw new RpcError(-32602, 'bad');
      return params ?? Verbatim.of(null);
    },
  });
  const mirrored = Verbatim.of({ name: 'read' });
  const request = peer.request('a', undefined, { timeoutMs: 5, about: 'theirs', mirrored });
  peer.notify('news', undefined, 7);
  await expect(request).rejects.toThrow(RpcTimeout);
  for (const id of [8, {}]) {
    receive({ id, method: 'echo', params: { x: 1 } });
    await settled();
  }
  receive({ id: 9, method: 'fail' });
  await settled();

  expect(messages).toMatchObject([
    { kind: 'request', id: 1, method: 'a', about: 'theirs', mirrored },
    { kind: 'notification', method: 'news', about: 7, cancels: undefined },
    { kind: 'notification', method: 'notifications/cancelled', about: undefined, cancels: 1 },
    { kind: 'answer', about: 8, result: expect.any(Verbatim), error: undefined },
    { kind: 'answer', about: undefined, result: undefined, error: { code: -32600 } },
    { kind: 'answer', about: 9, result: undefined, error: { code: -32602 } },
  ]);
});

test('an unknown or duplicate answer changes nothing', async () => {
  const { peer, receive } = createPeer();
  const request = peer.request('a', undefined, LONG);

  receive({ id: 999, result: 'stray' });
  receive({ id: 1, result: 'right' });
  receive({ id: 1, result: 'again' });

  expect((await request).value).toBe('right');
});

test('a number returned as a string is the same id', async () => {
  const { peer, receive } = createPeer();
  const request = peer.request('a', undefined, LONG);
  receive({ id: '1', result: 'ok' });
  expect((await request).value).toBe('ok');
});

test("the other side's error keeps its code and data", async () => {
  const { peer, receive } = createPeer();
  const request = peer.request('a', undefined, LONG);
  receive({ id: 1, error: { code: -32042, message: 'no', data: { why: [1] } } });

  const error = await request.catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ code: -32042, message: 'no', data: { text: '{"why":[1]}' } });
});

test('an answer without result and error is an error, not a hang', async () => {
  const { peer, receive } = createPeer();
  const request = peer.request('a', undefined, LONG);
  receive({ id: 1 });
  await expect(request).rejects.toThrow('neither a result nor an error');
});

test('a request without an answer times out, and the other side is notified', async () => {
  const { peer, sent, receive } = createPeer();

  await expect(peer.request('slow', undefined, { timeoutMs: 5 })).rejects.toThrow(RpcTimeout);
  expect(sent[1]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
  receive({ id: 1, result: 'late' });
  expect(peer.requests.ids).toEqual([]);
});

test('a cancelled request fails with the reason, and the other side is notified', async () => {
  const { peer, sent } = createPeer();
  const cancellation = new Cancellation();
  const request = peer.request('a', undefined, { ...LONG, cancellation });
  cancellation.cancel(new Error('enough'));

  await expect(request).rejects.toThrow('enough');
  expect(sent.map(({ method }) => method)).toEqual(['a', 'notifications/cancelled']);
});

test('a request cancelled before it is sent is not sent', async () => {
  const { peer, sent } = createPeer();
  const cancellation = new Cancellation();
  cancellation.cancel(new Error('too late'));
  await expect(peer.request('a', undefined, { ...LONG, cancellation })).rejects.toThrow('too late');
  expect(sent).toEqual([]);
});

test('progress reaches its request, in order, even right before the answer', async () => {
  const { peer, receive } = createPeer();
  const steps: unknown[] = [];
  const onProgress = (params: Verbatim) => steps.push(params.member('progress')?.value);
  const params = (id: number) => Verbatim.of({ _meta: { progressToken: id } });
  const request = peer.request('a', params, { ...LONG, onProgress });

  for (const progress of [1, 2])
    receive({ method: 'notifications/progress', params: { progressToken: 1, progress } });
  receive({ method: 'notifications/progress', params: { progressToken: 'nobody', progress: 9 } });
  receive({ id: 1, result: {} });
  receive({ method: 'notifications/progress', params: { progressToken: 1, progress: 3 } });

  await request;
  expect(steps).toEqual([1, 2]);
});

test('when the connection ends, pending requests fail and running ones are cancelled', async () => {
  let cancellation: Cancellation | undefined;
  const { peer, sent, receive } = createPeer({
    onRequest: (request) => {
      cancellation = request.cancellation;
      return new Promise(() => {});
    },
  });
  receive({ id: 7, method: 'work' });
  const request = peer.request('a', undefined, LONG);
  peer.close(new Error('gone'));

  await expect(request).rejects.toThrow('gone');
  await expect(peer.request('b', undefined, LONG)).rejects.toThrow('gone');
  expect(cancellation?.reason?.message).toBe('gone');
  expect(sent).toHaveLength(1);
});

test('a request is answered once, with its own id', async () => {
  const { sent, receive } = createPeer({
    onRequest: async ({ params }) => params ?? Verbatim.of(null),
  });
  receive({ id: 0, method: 'echo', params: { x: 1 } });
  receive({ id: 'zero', method: 'echo' });
  await settled();

  expect(sent).toEqual([
    { jsonrpc: '2.0', id: 0, result: { x: 1 } },
    { jsonrpc: '2.0', id: 'zero', result: null },
  ]);
});

test('a request the other side cancels is not answered', async () => {
  let finish: (result: Verbatim) => void = () => {};
  const { sent, receive } = createPeer({
    onRequest: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  });
  receive({ id: 1, method: 'work' });
  receive({ method: 'notifications/cancelled', params: { requestId: 1 } });
  finish(Verbatim.of('done'));
  await settled();

  expect(sent).toEqual([]);
});

test('an RpcError is the answer; any other error is a bug that is logged and not shown', async () => {
  const onBug = vi.fn();
  const { sent, receive } = createPeer({
    onBug,
    onRequest: async ({ method }) => {
      throw method === 'known' ? new RpcError(-32602, 'bad') : new TypeError('secret detail');
    },
  });
  receive({ id: 1, method: 'known' });
  receive({ id: 2, method: 'bug' });
  await settled();

  expect(sent[0]?.error).toEqual({ code: -32602, message: 'bad' });
  expect(sent[1]?.error?.code).toBe(-32603);
  expect(JSON.stringify(sent)).not.toContain('secret detail');
  expect(onBug).toHaveBeenCalledOnce();
});

test('an invalid JSON-RPC 2.0 request is refused under its id', async () => {
  const { peer, sent } = createPeer();
  peer.receive(Verbatim.of({ jsonrpc: '1.0', id: 5, method: 'ping' }));
  peer.receive(Verbatim.of({ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }));
  await settled();

  expect(sent).toMatchObject([
    { id: 5, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
  ]);
});

test('an id with more digits than JavaScript supports comes back as written', async () => {
  const sent: string[] = [];
  const peer = new Peer({
    send: (json) => sent.push(json),
    onRequest: () => Verbatim.of({}),
    onNotification: () => {},
    onBug: () => {},
  });
  const text = '{"jsonrpc":"2.0","id":12345678901234567891,"method":"ping"}';
  peer.receive(new Verbatim(text, JSON.parse(text)));
  await settled();

  expect(sent).toEqual(['{"jsonrpc":"2.0","id":12345678901234567891,"result":{}}']);
});

test('an object that happens to have an id, such as a log line, answers nothing', async () => {
  const { peer, receive } = createPeer();
  const request = peer.request('a', undefined, LONG);
  peer.receive(Verbatim.of({ level: 30, id: 1, msg: 'started' }));
  receive({ id: 1, result: 'right' });
  expect((await request).value).toBe('right');
});

test('a request with a suspended limit waits as long as it takes', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { peer, receive } = createPeer();
  const suspended = peer.request('a', undefined, { timeoutMs: 100 });
  const other = peer.request('b', undefined, { timeoutMs: 100 });
  const refusal = other.catch((error: unknown) => error);
  peer.requests.suspendLimit(1);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(await refusal).toBeInstanceOf(RpcTimeout);
  receive({ id: 1, result: 'late' });
  expect((await suspended).value).toBe('late');
});

test('a restarted limit gives a request its full time again', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { peer, sent } = createPeer();
  const request = peer.request('a', undefined, { timeoutMs: 100 });
  let outcome: unknown;
  request.catch((error: unknown) => (outcome = error));
  await vi.advanceTimersByTimeAsync(90);
  peer.requests.suspendLimit(1);
  await vi.advanceTimersByTimeAsync(10_000);
  peer.requests.restartLimit(1);
  await vi.advanceTimersByTimeAsync(95);
  expect(outcome).toBeUndefined();
  await vi.advanceTimersByTimeAsync(10);
  expect(outcome).toBeInstanceOf(RpcTimeout);
  expect(sent.at(-1)).toMatchObject({
    method: 'notifications/cancelled',
    params: { requestId: 1 },
  });
});

test('the limit of an answered request has no effect', () => {
  const { peer } = createPeer();
  peer.requests.suspendLimit(7);
  peer.requests.restartLimit(7);
  expect(peer.requests.ids).toEqual([]);
});

test('a timed out handshake is not cancelled: MCP does not allow it', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { peer, sent } = createPeer();
  for (const method of ['initialize', 'server/discover', 'tools/call']) {
    const refusal = peer
      .request(method, undefined, { timeoutMs: 100 })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(200);
    expect(await refusal).toBeInstanceOf(RpcTimeout);
  }
  const called = sent.filter(({ method }) => method === 'notifications/cancelled');
  expect(called.map(({ params }) => params?.['requestId'])).toEqual([3]);
});

test('a peer that may omit the version is answered, others are refused', async () => {
  const lenient = createPeer({ mayOmitVersion: true });
  lenient.peer.receive(Verbatim.of({ id: 0, method: 'approve', params: {} }));
  const strict = createPeer();
  strict.peer.receive(Verbatim.of({ id: 0, method: 'approve', params: {} }));
  await expect.poll(() => lenient.sent.concat(strict.sent)).toHaveLength(2);
  expect(lenient.sent).toEqual([{ jsonrpc: '2.0', id: 0, result: {} }]);
  expect(strict.sent).toEqual([
    {
      jsonrpc: '2.0',
      id: 0,
      error: { code: -32600, message: 'A request needs "jsonrpc": "2.0" and a method.' },
    },
  ]);
});

const TOO_LATE = new RpcError(-32_000, 'too late');

test('at the end of the other side’s input, requests that finish in time are answered', async () => {
  let finish = (_result: Verbatim): void => {};
  const { peer, sent, receive } = createPeer({
    onRequest: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  });
  receive({ id: 1, method: 'slow' });
  const finished = peer.finish(60_000, TOO_LATE);
  await settled();
  expect(sent).toEqual([]);
  finish(Verbatim.of('done'));
  await finished;
  expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, result: 'done' }]);
});

test('at the end of the other side’s input, the rest is cancelled and answered with an error, once', async () => {
  const texts: string[] = [];
  const peer = new Peer({
    send: (json) => texts.push(json),
    // One heeds its being cancelled, the other never ends.
    onRequest: ({ method, cancellation }) =>
      method === 'obeys' ? cancellation.race(new Promise(() => {})) : new Promise(() => {}),
    onNotification: () => {},
    onBug: (error) => {
      throw error;
    },
  });
  for (const [id, method] of [
    ['12345678901234567890', 'obeys'],
    ['"b"', 'never ends'],
  ]) {
    const text = `{"jsonrpc":"2.0","id":${id},"method":"${method}"}`;
    peer.receive(new Verbatim(text, JSON.parse(text)));
  }
  await peer.finish(1, TOO_LATE);
  expect(texts).toEqual([
    '{"jsonrpc":"2.0","id":12345678901234567890,"error":{"code":-32000,"message":"too late"}}',
    '{"jsonrpc":"2.0","id":"b","error":{"code":-32000,"message":"too late"}}',
  ]);
});

test('our requests fail once the other side has ended its input', async () => {
  const { peer, receive } = createPeer({ onRequest: () => new Promise(() => {}) });
  receive({ id: 1, method: 'slow' });
  const before = peer.request('question', undefined, LONG);
  before.catch(() => {});
  const finished = peer.finish(60_000, TOO_LATE);
  await expect(before).rejects.toBeInstanceOf(RpcTimeout);
  await expect(peer.request('question', undefined, LONG)).rejects.toBeInstanceOf(RpcTimeout);
  peer.close(new Error('The test is over.'));
  await finished;
});

test('closing at once does not wait for the last answers', async () => {
  const { peer, sent, receive } = createPeer({ onRequest: () => new Promise(() => {}) });
  receive({ id: 1, method: 'slow' });
  const finished = peer.finish(600_000, TOO_LATE);
  await settled();
  peer.close(new Error('We were told to end.'));
  await finished;
  expect(sent).toEqual([]);
});

function largeResult(): Verbatim {
  const reader = new LargeReader();
  const pieces = ['{"result":{"n":1.0,"text":"', 'x'.repeat(10_000), '"}}'].map((text) =>
    Buffer.from(text),
  );
  for (const piece of pieces) reader.push(piece);
  const json = reader.finish(pieces, { depth: 10, members: 10 });
  return (json && LargeVerbatim.from(json).member('result')) ?? Verbatim.of('not read');
}

test('a large result is sent in pieces, or as text where only that can be sent', async () => {
  const wanted = `{"jsonrpc":"2.0","id":"a","result":{"n":1.0,"text":"${'x'.repeat(10_000)}"}}`;
  const written: string[] = [];
  const onRequest = async () => largeResult();
  const sendPieces = (json: readonly Buffer[]) => written.push(Buffer.concat(json).toString());
  const inPieces = createPeer({ onRequest, sendPieces });
  inPieces.receive({ id: 'a', method: 'read' });
  await settled();
  const asText = createPeer({ onRequest, send: (json) => written.push(json) });
  asText.receive({ id: 'a', method: 'read' });
  await settled();

  expect(written).toEqual([wanted, wanted]);
  expect(inPieces.sent).toEqual([]);
});
