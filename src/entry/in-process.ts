// A link within this process, for a session that has begun in a background process and can't get another one.
import { Duplex } from 'node:stream';
import { FrameReader } from '../background/frames.ts';
import type { Hello } from '../background/hello.ts';
import type { Joined } from '../background/join.ts';
import type { LoadRest } from './main.ts';

/** Throws if the rest of the program can't be loaded. */
export function inProcess(loadRest: LoadRest, hello: Hello): Joined {
  const [ours, theirs] = createPair();
  loadRest({ link: { stream: theirs, hello } });
  return {
    socket: ours,
    listen: (onFrame) => {
      const reader = new FrameReader(onFrame);
      ours.on('data', (chunk: Buffer) => reader.push(chunk));
    },
  };
}

/** Two streams, each of which reads what is written to the other. */
function createPair(): [Duplex, Duplex] {
  const one = new PairEnd();
  const other = new PairEnd();
  one.other = other;
  other.other = one;
  return [one, other];
}

class PairEnd extends Duplex {
  other: PairEnd | undefined;
  #resume: (() => void) | undefined;

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.other?.deliver(chunk, done) === false) done();
  }

  override _final(done: () => void): void {
    this.other?.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { other } = this;
    this.other = undefined;
    done(error);
    other?.destroy();
  }

  /** Whether `done` is kept until this end has read. */
  deliver(chunk: Buffer, done: () => void): boolean {
    if (this.push(chunk)) return false;
    this.#resume = done;
    return true;
  }
}
