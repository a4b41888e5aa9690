// Runs a framer over bytes and gathers everything it reports.
import { DEFAULTS } from '../../../src/config/defaults.ts';
import { Framer, type FramerOptions } from '../../../src/rpc/framer.ts';
import type { BrokenEvent, MessageEvent, OversizeEvent } from '../../../src/rpc/framing.ts';

interface Framed {
  readonly messages: MessageEvent[];
  readonly noise: string[];
  readonly broken: BrokenEvent[];
  readonly oversize: OversizeEvent[];
}

type FrameOptions = Partial<Pick<FramerOptions, 'limitBytes' | 'shape' | 'headers' | 'onLarge'>>;

export function startFramer(options: FrameOptions = {}): { framer: Framer; framed: Framed } {
  const framed: Framed = { messages: [], noise: [], broken: [], oversize: [] };
  const framer = new Framer({
    limitBytes: 16 * 1024 * 1024,
    shape: DEFAULTS.messageShape,
    headers: 'content-length',
    ...options,
    onMessage: (message) => framed.messages.push(message),
    onNoise: (text) => framed.noise.push(text),
    onBroken: (broken) => framed.broken.push(broken),
    onOversize: (oversize) => framed.oversize.push(oversize),
  });
  return { framer, framed };
}

/** Everything reported about the input, which is pushed as one chunk and ended. */
export function frameAll(input: string | Buffer, options: FrameOptions = {}): Framed {
  return frameChunks([Buffer.from(input)], options);
}

export function frameChunks(chunks: Iterable<Buffer>, options: FrameOptions = {}): Framed {
  const { framer, framed } = startFramer(options);
  for (const chunk of chunks) framer.push(chunk);
  framer.end();
  return framed;
}
