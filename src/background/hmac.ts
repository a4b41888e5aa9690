// HMAC-SHA-256, written out: loading node:crypto takes longer than everything else the entry does. The background
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

/** SHA-256 (FIPS 180-4). */
function digest(message: Uint8Array): Buffer {
  const { constants, initial } = tables();
  const state = Uint32Array.from(initial);
  const padded = Buffer.alloc(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(message);
  padded[message.length] = 0x80;
  padded.writeUIntBE(message.length * 8, padded.length - 6, 6);
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += BLOCK_BYTES) {
    addBlock(state, words, constants, padded.subarray(block, block + BLOCK_BYTES));
  }
  const result = Buffer.alloc(32);
  state.forEach((word, index) => result.writeUInt32BE(word, 4 * index));
  return result;
}

function addBlock(
  state: Uint32Array,
  words: Uint32Array,
  constants: Uint32Array,
  block: Buffer,
): void {
  const w = (index: number): number => words[index] ?? 0;
  for (let t = 0; t < 64; t++) {
    if (t < 16) words[t] = block.readUInt32BE(4 * t);
    else {
      const s0 = rotate(w(t - 15), 7) ^ rotate(w(t - 15), 18) ^ (w(t - 15) >>> 3);
      const s1 = rotate(w(t - 2), 17) ^ rotate(w(t - 2), 19) ^ (w(t - 2) >>> 10);
      words[t] = w(t - 16) + s0 + w(t - 7) + s1;
    }
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < 64; t++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (constants[t] ?? 0) + w(t)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index] ?? 0) + word;
  });
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

let known: { readonly constants: Uint32Array; readonly initial: Uint32Array } | undefined;

/** The first 32 bits of the fractional parts of the cube roots and square roots of the first primes. */
function tables(): NonNullable<typeof known> {
  if (known) return known;
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  const fraction = (root: number): number => (root - Math.floor(root)) * 2 ** 32;
  known = {
    constants: Uint32Array.from(primes.map((prime) => fraction(Math.cbrt(prime)))),
    initial: Uint32Array.from(primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))),
  };
  return known;
}
