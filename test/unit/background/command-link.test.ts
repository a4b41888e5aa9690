// What commands and the background process send each other.
import { expect, test } from 'vitest';
import {
  createCommandPeer,
  packOutcome,
  unpackOutcome,
} from '../../../src/background/command-link.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import { RpcError } from '../../../src/rpc/message.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';

/** Sends an outcome to another process. */
async function send(work: Promise<Verbatim>): Promise<Verbatim> {
  const { text } = await packOutcome(work);
  return unpackOutcome(new Verbatim(text, JSON.parse(text)));
}

test('results keep their text', async () => {
  const text = '{"n":12345678901234567890,"x":1.0}';
  expect((await send(Promise.resolve(Verbatim.fromText(text)))).text).toBe(text);
});

test('our errors and a server’s errors stay what they are', async () => {
  const ours = new SwitchboardError('TOOL_HELD', 'It has changed.', {
    hint: 'Accept it.',
    data: { tool: 'x' },
  });
  await expect(send(Promise.reject(ours))).rejects.toMatchObject({
    name: 'SwitchboardError',
    code: 'TOOL_HELD',
    message: 'It has changed.',
    hint: 'Accept it.',
    data: { tool: 'x' },
  });
  const data = Verbatim.fromText('{"code":"USAGE","big":12345678901234567890}');
  const theirs = await send(Promise.reject(new RpcError(-32000, 'no', data))).catch(
    (error: unknown) => error as RpcError,
  );
  expect(theirs).toMatchObject({ name: 'RpcError', code: -32000, message: 'no' });
  expect((theirs as RpcError).data?.text).toBe(data.text);
  await expect(send(Promise.reject(new RpcError(1, 'bare')))).rejects.toMatchObject({ code: 1 });
  await expect(packOutcome(Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug');
  // Another version may have codes that we don't know.
  const unknown = Verbatim.of({ failed: { code: 'NEW_CODE', message: 'x' } });
  expect(() => unpackOutcome(unknown)).toThrow(expect.objectContaining({ code: 'TOOL_FAILED' }));
});

test('messages can come in any pieces', async () => {
  const sent: string[] = [];
  const { read } = createCommandPeer({
    send: (json) => void sent.push(json),
    onRequest: ({ params }) => params ?? Verbatim.of(null),
    onNotification: () => {},
    onBug: (error) => {
      throw error;
    },
  });
  const request = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"m","params":{"ü":"😀"}}\n`;
  const bytes = Buffer.from(request(1) + request(2) + request(3));
  for (const byte of bytes.subarray(0, 80)) read(Buffer.from([byte]));
  read(bytes.subarray(80));
  await expect.poll(() => sent.length).toBe(3);
  expect(sent[2]).toContain('{"ü":"😀"}');
});
