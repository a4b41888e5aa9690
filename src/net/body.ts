// Reads reply bodies and never keeps more than the limit.
import type { Readable } from 'node:stream';
import { guard } from '../base/guard.ts';
import { decode, PieceList, trimBytes } from '../rpc/bytes.ts';

/** The body or event is larger than the limit. */
export class Oversize extends Error {
  override readonly name = 'Oversize';
}

/** The body was cut off, or could not be decompressed. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff';
}

/**
 * Reads a body to its end. Rejects with BrokenOff if it is cut off. If `take` throws, that closes the
 * connection and becomes the rejection.
 */
export function readPieces(body: Readable, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error);
      body.off('data', read).destroy();
    };
    const read = guard(fail, take);
    const broken = (cause: Error): void =>
      fail(new BrokenOff('The response was cut off.', { cause }));
    const closed = (): void => {
      if (!body.readableEnded) fail(new BrokenOff('The response was cut off.'));
    };
    body.on('data', read);
    body.once('end', resolve);
    body.once('error', guard(reject, broken));
    body.once('close', guard(reject, closed));
  });
}

/** The whole body as one string. Rejects with Oversize or BrokenOff. */
export async function readText(body: Readable, limitBytes: number): Promise<string> {
  const pieces = new PieceList();
  await readPieces(body, (piece) => {
    if (pieces.length + piece.length > limitBytes) throw new Oversize('The body is too large.');
    pieces.append(piece);
  });
  return decode(trimBytes(pieces.take()));
}

/** The start of a body, for quoting: up to a number of bytes, or what arrives in time. */
export async function readBeginning(
  body: Readable,
  limitBytes: number,
  limitMs: number,
): Promise<string> {
  const pieces = new PieceList();
  const timer = setTimeout(() => body.destroy(), limitMs);
  try {
    await readPieces(body, (piece) => {
      pieces.append(piece.subarray(0, limitBytes - pieces.length));
      if (pieces.length >= limitBytes) throw new Oversize('The limit was reached.');
    });
  } catch {
    // quote what has arrived
  } finally {
    clearTimeout(timer);
  }
  return decode(trimBytes(pieces.take()));
}

/** The bodies being read, so that they can be paused together. */
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
