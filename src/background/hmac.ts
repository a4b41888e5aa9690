// HMAC-SHA-256, written out: loading node:crypto takes milliseconds, and every session would pay for it. The background
// process uses the same code, and a test compares it with Node's.

const BLOCK_BYTES = 64;

/** As hexadecimal digits. */
export function hmac(key: Buffer, message: string): string {
  const padded = Buffer.alloc(BLOCK_BYTES);
  (key.length > BLOCK_BYTES ? digest(key) : key).copy(padded);
  const inner = digest(Buffer.concat([padded.map((byte) => byte ^ 0x36), Buffer.from(message)]));
  return digest(Buffer.concat([padded.map((byte) => byte ^ 0x5c), inner])).toString('hex');
}

/** Compares without stopping at the first difference, which would tell how much of a guess is right. */
export function isSameProof(proof: unknown, expected: string): boolean {
  if (typeof proof !== 'string' || proof.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at++) {
    difference |= proof.charCodeAt(at) ^ expected.charCodeAt(at);
  }
  return difference === 0;
}

/** SHA-256 (FIPS 180-4). Plain loops: it runs a few times, before V8 has optimized anything. */
function digest(message: Uint8Array): Buffer {
  const padded = Buffer.alloc(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(message);
  padded[message.length] = 0x80;
  padded.writeUIntBE(message.length * 8, padded.length - 6, 6);
  constants ??= wordsIn(CONSTANTS);
  const state = wordsIn(INITIAL);
  const words = new Int32Array(64);
  for (let block = 0; block < padded.length; block += BLOCK_BYTES) {
    addBlock(state, constants, words, padded, block);
  }
  const result = Buffer.alloc(32);
  for (let index = 0; index < 8; index++) result.writeInt32BE(state[index] as number, 4 * index);
  return result;
}

function addBlock(
  state: Int32Array,
  added: Int32Array,
  words: Int32Array,
  bytes: Buffer,
  at: number,
): void {
  for (let t = 0; t < 16; t++) words[t] = bytes.readInt32BE(at + 4 * t);
  for (let t = 16; t < 64; t++) {
    const x = words[t - 15] as number;
    const y = words[t - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[t] = (words[t - 16] as number) + s0 + (words[t - 7] as number) + s1;
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let t = 0; t < 64; t++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (added[t] as number) + (words[t] as number)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
}

/** From the square roots of the first primes, and from their cube roots. */
const INITIAL = '6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19';
const CONSTANTS =
  '428a2f9871374491b5c0fbcfe9b5dba53956c25b59f111f1923f82a4ab1c5ed5d807aa9812835b01243185be' +
  '550c7dc372be5d7480deb1fe9bdc06a7c19bf174e49b69c1efbe47860fc19dc6240ca1cc2de92c6f4a7484aa' +
  '5cb0a9dc76f988da983e5152a831c66db00327c8bf597fc7c6e00bf3d5a7914706ca63511429296727b70a85' +
  '2e1b21384d2c6dfc53380d13650a7354766a0abb81c2c92e92722c85a2bfe8a1a81a664bc24b8b70c76c51a3' +
  'd192e819d6990624f40e3585106aa07019a4c1161e376c082748774c34b0bcb5391c0cb34ed8aa4a5b9cca4f' +
  '682e6ff3748f82ee78a5636f84c878148cc7020890befffaa4506cebbef9a3f7c67178f2';
/** Made when they're needed: an entry that starts the background process needs no proof. */
let constants: Int32Array | undefined;

function wordsIn(hex: string): Int32Array {
  const bytes = Buffer.from(hex, 'hex');
  const words = new Int32Array(bytes.length / 4);
  for (let index = 0; index < words.length; index++) words[index] = bytes.readInt32BE(4 * index);
  return words;
}
