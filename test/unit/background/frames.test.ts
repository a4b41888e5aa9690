import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  dataFrame,
  decodeReceipt,
  encodeReceipt,
  FRAME,
  FrameReader,
  frameOf,
  messageFrame,
} from '../../../src/background/frames.ts';
import { hmac, isSameProof } from '../../../src/background/hmac.ts';

describe('frames', () => {
  const sent = [
    frameOf(FRAME.data, Buffer.from('{"a":1}\n')),
    frameOf(FRAME.finished),
    frameOf(FRAME.hello, { folder: '/ü' }),
    frameOf(FRAME.data, randomBytes(100_000)),
    frameOf(FRAME.stop),
  ];

  test.each([1, 3, 7, 4_096, 1 << 20])('arrive whole in pieces of %d bytes', (size) => {
    const received: Buffer[] = [];
    const reader = new FrameReader((type, payload) => {
      received.push(frameOf(type as never, Buffer.from(payload)));
    });
    const all = Buffer.concat(sent);
    for (let at = 0; at < all.length; at += size) reader.push(all.subarray(at, at + size));
    expect(Buffer.concat(received).equals(all)).toBe(true);
    expect(received).toHaveLength(sent.length);
  });

  test('of an impossible length are refused', () => {
    const reader = new FrameReader(() => {});
    expect(() => reader.push(Buffer.from('HTTP/1.1 200 OK'))).toThrow('A frame claims to have');
  });

  test('carry receipts in front of the messages', () => {
    const receipt = { readBytes: 2 ** 40, opened: ['"ä"', '1'], closed: ['12345678901234567890'] };
    const payload = Buffer.concat([encodeReceipt(receipt), Buffer.from('{}\n')]);
    expect(decodeReceipt(payload)).toEqual({ receipt, messages: Buffer.from('{}\n') });
    const empty = { readBytes: 0, opened: [], closed: [] };
    expect(decodeReceipt(encodeReceipt(empty))).toEqual({
      receipt: empty,
      messages: Buffer.alloc(0),
    });
  });
});

describe('frames in one piece', () => {
  test("have copies of the host's bytes", () => {
    const bytes = Buffer.from('{"a":"ü"}\n');
    const { frame, copy } = dataFrame(bytes);
    expect(frame.equals(frameOf(FRAME.data, bytes))).toBe(true);
    const before = bytes.toString();
    bytes.fill(0); // the caller reads the next bytes into it
    expect(copy.toString()).toBe(before);
    expect(frame.includes(before)).toBe(true);
  });

  test.each([
    { readBytes: 0, opened: [], closed: [] },
    { readBytes: 2 ** 40, opened: ['"ä"', '1'], closed: ['12345678901234567890'] },
  ])('are the same as receipt and messages one after the other', (receipt) => {
    const messages = '{"text":"日本 ü"}\n{}\n';
    const parts = Buffer.concat([encodeReceipt(receipt), Buffer.from(messages)]);
    expect(messageFrame(receipt, messages).equals(frameOf(FRAME.data, parts))).toBe(true);
  });
});

describe('hmac', () => {
  test("is Node's for keys and messages of every length", () => {
    for (let length = 0; length < 150; length++) {
      const key = randomBytes(length);
      const message = randomBytes(length).toString('base64');
      expect(hmac(key, message)).toBe(createHmac('sha256', key).update(message).digest('hex'));
    }
  });

  test('proofs are compared as a whole', () => {
    const proof = hmac(Buffer.from('key'), 'message');
    expect(isSameProof(proof, proof)).toBe(true);
    expect(isSameProof(`${proof.slice(0, -1)}x`, proof)).toBe(false);
    expect(isSameProof('', proof)).toBe(false);
    expect(isSameProof(undefined, proof)).toBe(false);
  });
});
