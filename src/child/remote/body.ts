// Reading the bodies of replies. Whatever the server sends, no more than the limit is kept.
import type { Readable } from 'node:stream';
import { guard } from '../../base/guard.ts';
import { decode, PieceList, trimBytes } from '../../rpc/bytes.ts';

/** What was to be one message is larger than the limit. */
export class Oversize extends Error {
  override readonly name = 'Oversize';
}

/** The body did not come to its end, or could not be unpacked. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff';
}

/**
 * Reads a body to its end. Rejects with BrokenOff where that does not come; a throw of `take` is
 * passed on, and ends the reading and the connection.
 */
export function readBody(body: Readable, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error);
      body.off('data', read).destroy();
    };
    const read = guard(fail, take);
    const broken = (cause: Error): void => fail(new BrokenOff('The reply broke off.', { cause }));
    const closed = (): void => {
      if (!body.readableEnded) fail(new BrokenOff('The reply broke off.'));
    };
    body.on('data', read);
    body.once('end', resolve);
    body.once('error', guard(reject, broken));
    body.once('close', guard(reject, closed));
  });
}

/** The whole body as one text. */
export async function readText(body: Readable, limitBytes: number): Promise<string> {
  const pieces = new PieceList();
  await readBody(body, (piece) => {
    if (pieces.length + piece.length > limitBytes) throw new Oversize('The body is too large.');
    pieces.append(piece);
  });
  return decode(trimBytes(pieces.take()));
}

/** The beginning of a body that is only to be quoted: so many bytes, or what comes in time. */
export async function readBeginning(
  body: Readable,
  limitBytes: number,
  limitMs: number,
): Promise<string> {
  const pieces = new PieceList();
  const timer = setTimeout(() => body.destroy(), limitMs);
  try {
    await readBody(body, (piece) => {
      pieces.append(piece.subarray(0, limitBytes - pieces.length));
      if (pieces.length >= limitBytes) throw new Oversize('That is enough.');
    });
  } catch {
    // what has come is what there is to quote
  } finally {
    clearTimeout(timer);
  }
  return decode(trimBytes(pieces.take()));
}

/** The bodies that are being read, which can all be made to wait. */
export class OpenBodies {
  readonly #bodies = new Set<Readable>();
  #isPaused = false;

  add(body: Readable): void {
    this.#bodies.add(body);
    body.once('close', () => this.#bodies.delete(body));
    if (this.#isPaused) body.pause();
  }

  pause(): void {
    this.#isPaused = true;
    for (const body of this.#bodies) body.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const body of this.#bodies) body.resume();
  }
}
