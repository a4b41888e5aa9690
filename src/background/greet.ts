// The first words of an entry: both sides prove that they know this user's secret, and the entry says hello. The entry
// that started this process only says hello: nobody else has the other end of its pipe.
import type { Duplex } from 'node:stream';
import { guard } from '../base/guard.ts';
import { isObject } from '../base/object.ts';
import { FRAME, FrameReader, frameOf } from './frames.ts';
import { type Hello, parsePayload } from './hello.ts';
import { isSameProof } from './hmac.ts';
import { NONCE_BYTES, proofOf, randomHex } from './meeting.ts';

const GREET_MS = 10_000;
/** Before we know who it is. A hello may contain the last messages of a session. */
const MOST_BYTES = 16 << 20;

/**
 * Undefined if it isn't an entry of this user, or says nothing. The stream is paused at the end. No `secret`: it's the
 * entry that started us.
 */
export function greetEntry(stream: Duplex, secret: Buffer | undefined): Promise<Hello | undefined> {
  return new Promise((resolve) => {
    const challenge = { entry: '', background: randomHex(NONCE_BYTES) };
    let bytes = 0;
    const settle = (hello: Hello | undefined): void => {
      clearTimeout(timer);
      stream.pause();
      stream.off('data', read);
      resolve(hello);
    };
    const giveUp = guard(
      () => stream.destroy(),
      () => settle(undefined),
    );
    const onFrame = (type: number, payload: Buffer): void => {
      const content = parsePayload(payload);
      if (secret && type === FRAME.greeting && challenge.entry === '') {
        challenge.entry = String(content?.['nonce']);
        const proof = proofOf('background', secret, challenge);
        stream.write(frameOf(FRAME.proof, { nonce: challenge.background, proof }));
      } else {
        const isProven = (key: Buffer): boolean =>
          challenge.entry !== '' &&
          isSameProof(content?.['proof'], proofOf('entry', key, challenge));
        const isKnown = type === FRAME.hello && (!secret || isProven(secret));
        settle(isKnown && isHello(content) ? content : undefined);
      }
    };
    const reader = new FrameReader(onFrame);
    const read = guard(giveUp, (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) giveUp();
      else reader.push(chunk);
    });
    const timer = setTimeout(giveUp, GREET_MS);
    stream.on('data', read);
    stream.once('close', giveUp);
  });
}

/** It's this user's, so only what another version might send differently is checked. */
function isHello(content: unknown): content is Hello {
  if (!isObject(content)) return false;
  const { folder, args, variables, place } = content;
  return (
    typeof folder === 'string' && Array.isArray(args) && isObject(variables) && isObject(place)
  );
}
