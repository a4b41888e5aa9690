// Forwards bytes between the host and a background process. It knows nothing of what they mean until a background
// process dies: then every request without a response gets an error, and the next process continues the session.
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { dataFrame, decodeReceipt, FRAME, frameOf } from '../background/frames.ts';
import { parsePayload, valuesOf, type WantedNames } from '../background/hello.ts';
import type { Joined } from '../background/join.ts';
import type { Framing } from '../rpc/framing.ts';
import { OpenRequests } from './open-requests.ts';

/** How to go on without the last background process. */
export interface Lost {
  readonly snapshot: string | undefined;
  /** Counts the background processes this session has had. */
  readonly generation: number;
}

export interface ForwarderOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly onLog: (text: Buffer) => void;
  /** Finds the next background process. Rejects if there can't be one. */
  readonly findNext: (lost: Lost) => Promise<Joined>;
  readonly exit: (status: number) => void;
}

const ENDED =
  'The background process of Switchboard ended before it responded. The call may or may not have run.';
/** After a failed attempt to find another process, the next request after this many milliseconds tries again. */
const RETRY_MS = 5_000;
const READ_BYTES = 65_536;
/** A host that doesn't read its last responses must not keep us running. */
const LAST_WRITES_MS = 500;

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #requests = new OpenRequests();
  readonly #input: Socket;
  readonly #output: Socket;
  #link: Duplex | undefined;
  #snapshot: string | undefined;
  #generation = 0;
  #isInputOver = false;
  /** The host is gone, or a signal told us to stop. */
  #isStopping = false;
  /** The background process was stopped by the user: the next one is started when the host needs it. */
  #isLeaving = false;
  #isDone = false;
  #isFinding = false;
  /** Why there is no background process, and when that was. */
  #failure: { readonly reason: string; readonly at: number } | undefined;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    // One buffer for all reads: Node would allocate 64 kB for each.
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const callback = (length: number): boolean => {
      this.#forward(buffer.subarray(0, length));
      return true; // pause() stops it
    };
    const reading: SocketConstructorOpts & Pick<ConnectOpts, 'onread'> = {
      fd: 0,
      readable: true,
      writable: false,
      onread: { buffer, callback },
    };
    this.#input = new Socket(reading);
    this.#output = new Socket({ fd: 1, readable: false, writable: true });
    this.#input.once('end', () => this.#endInput());
    this.#input.on('error', () => this.#endInput());
    this.#output.on('error', () => this.#loseHost());
    this.#output.on('drain', () => this.#link?.resume());
  }

  /** Continues with this background process. */
  attach({ socket, listen }: Joined): void {
    this.#link = socket;
    this.#generation++;
    this.#isLeaving = false;
    this.#failure = undefined;
    for (const chunk of this.#requests.input) socket.write(dataFrame(chunk).frame);
    if (this.#isInputOver) socket.write(frameOf(FRAME.finished));
    if (this.#isStopping) socket.write(frameOf(FRAME.stop));
    socket.on('drain', () => this.#input.resume());
    if (socket.destroyed) setImmediate(() => this.#lose());
    else socket.once('close', () => this.#lose());
    listen((type, payload) => this.#receive(type, payload));
    this.#input.resume();
  }

  reload(): void {
    this.#link?.write(frameOf(FRAME.reload));
  }

  /** Ends the session. The background process first stops the servers that only this session uses. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    if (this.#link) this.#link.write(frameOf(FRAME.stop));
    else this.#leave(0);
  }

  #forward(chunk: Buffer): void {
    const { frame, copy } = dataFrame(chunk);
    this.#requests.add(copy);
    if (!this.#link) return this.#forwardLater();
    if (!this.#link.write(frame)) this.#input.pause();
  }

  #endInput(): void {
    if (this.#isInputOver) return;
    this.#isInputOver = true;
    if (this.#link) this.#link.write(frameOf(FRAME.finished));
    else if (!this.#isFinding) this.#leave(0);
  }

  #receive(type: number, payload: Buffer): void {
    switch (type) {
      case FRAME.data: {
        const { receipt, messages } = decodeReceipt(payload);
        this.#requests.note(receipt);
        // Nobody reads what comes after the host is gone, and the link has to be read to its end.
        if (messages.length > 0 && !this.#output.destroyed && !this.#output.write(messages)) {
          this.#link?.pause();
        }
        break;
      }
      case FRAME.log:
        this.#options.onLog(payload);
        break;
      case FRAME.snapshot:
        this.#snapshot = payload.toString();
        break;
      case FRAME.names: {
        const { names } = parsePayload(payload) ?? {};
        const values = valuesOf(names as WantedNames, this.#options.environment);
        this.#link?.write(frameOf(FRAME.values, { values }));
        break;
      }
      case FRAME.leaving:
        this.#isLeaving = true;
        this.#input.pause(); // it's for the next process
        break;
      case FRAME.refused:
        // Only within this process: others have been asked before.
        this.#fail(String(parsePayload(payload)?.['reason']));
        this.#link?.destroy();
        break;
      case FRAME.end:
        this.#leave(payload[0] ?? 0);
        break;
      default:
        break; // a newer build may send more
    }
  }

  /** The host reads nothing more. */
  #loseHost(): void {
    this.stop();
    this.#link?.resume();
  }

  /** The background process is gone. */
  #lose(): void {
    this.#link = undefined;
    if (this.#isDone) return;
    this.#input.pause();
    this.#answerErrors(ENDED);
    if (this.#isStopping) return this.#leave(0);
    // Nothing else will be asked.
    if (this.#isInputOver && this.#requests.input.length === 0) return this.#leave(0);
    if (this.#isLeaving || this.#failure) this.#input.resume();
    else void this.#findNext();
  }

  #fail(reason: string): string {
    const explained = `Switchboard's background process ended and can't be started again: ${reason} Restart this session.`;
    this.#failure = { reason: explained, at: performance.now() };
    return explained;
  }

  /** The host has sent something, and there is no background process. */
  #forwardLater(): void {
    const { reason, at } = this.#failure ?? {};
    if (reason !== undefined) this.#answerErrors(reason);
    if (at !== undefined && performance.now() - at < RETRY_MS) return;
    this.#input.pause();
    void this.#findNext();
  }

  async #findNext(): Promise<void> {
    this.#failure = undefined;
    this.#isFinding = true;
    try {
      const lost = { snapshot: this.#snapshot, generation: this.#generation };
      const joined = await this.#options.findNext(lost);
      this.#isFinding = false;
      if (this.#isDone) joined.socket.destroy();
      else this.attach(joined);
    } catch (error) {
      this.#isFinding = false;
      this.#answerErrors(this.#fail(error instanceof Error ? error.message : String(error)));
      if (this.#isInputOver) this.#leave(0);
      else this.#input.resume();
    }
  }

  #answerErrors(reason: string): void {
    const framing = framingIn(this.#snapshot);
    for (const error of this.#requests.take(reason, framing)) this.#output.write(error);
  }

  #leave(status: number): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#link?.destroy();
    this.#input.destroy();
    const { exit } = this.#options;
    const done = (): void => exit(status);
    setTimeout(done, LAST_WRITES_MS);
    this.#output.end(done);
  }
}

/** The only part of a snapshot that matters here. */
function framingIn(snapshot: string | undefined): Framing {
  const { framing } = (parsePayload(Buffer.from(snapshot ?? '')) ?? {}) as { framing?: Framing };
  return framing ?? 'newline';
}
