// The connection to one child process: messages out and in, and the one moment it ends. It ends
// when the process exits (even if a grandchild still holds the pipes), when it closes its output or
// its input, or when what it prints can no longer be read.
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { guard } from '../base/guard.ts';
import { type GroupCommand, spawnGroup } from '../base/process.ts';
import { createCutMask, createMask, type Mask } from '../base/secrets.ts';
import { cleanText } from '../base/text.ts';
import { Framer } from '../rpc/framer.ts';
import type { Framing, OversizeEvent } from '../rpc/framing.ts';
import { Outbox } from '../rpc/outbox.ts';
import { Peer, type PeerOptions } from '../rpc/peer.ts';
import type { ShapeLimits } from '../rpc/shape.ts';
import { receiveMessage } from './incoming.ts';
import { type Link, type LinkEnd, LinkEnded } from './link.ts';
import { judgeOversize } from './oversize.ts';
import { StderrReader } from './stderr.ts';
import { stopGroup } from './stop.ts';

export interface ProcessLinkOptions {
  readonly name: string;
  readonly command: GroupCommand;
  readonly framing: Framing;
  readonly messageBytes: number;
  readonly messageShape: ShapeLimits;
  readonly stopMs: number;
  /** What must not be repeated of what the child prints. */
  readonly secrets: readonly string[];
  readonly onStderr: (line: string) => void;
  readonly onRequest: PeerOptions['onRequest'];
  readonly onNotification: PeerOptions['onNotification'];
  /** Logs a bug in handling what the child sent or did. */
  readonly onBug: (error: unknown) => void;
  readonly mayOmitVersion?: PeerOptions['mayOmitVersion'];
  /** Called for messages that exceed a limit, of which only the ends are known. */
  readonly onOversize?: ((event: OversizeEvent) => void) | undefined;
}

/** A process that has exited may have printed its last answer just before: time to read it. */
const LAST_WORDS_MS = 150;
/** Input beyond this that the child has not read is fine only as long as it goes on reading. */
const UNREAD_INPUT_BYTES = 64 << 20;
const READS_NOTHING_MS = 5_000;

export class ProcessLink implements Link {
  readonly peer: Peer;
  readonly pid: number;
  readonly mask: Mask;
  readonly ended: Promise<LinkEnd>;
  readonly #options: ProcessLinkOptions;
  readonly #process: ChildProcess;
  readonly #stdin: Socket;
  readonly #outbox: Outbox;
  readonly #stdout: Readable;
  readonly #stderr: StderrReader;
  readonly #framer: Framer;
  readonly #maskNoise: Mask;
  #resolveEnded: (end: LinkEnd) => void = () => {};
  #hasEnded = false;
  #hasExited = false;
  #stopping: Promise<void> | undefined;
  #hasSpoken = false;
  #noise = '';
  /** How much of its input the child has taken, and when that was last more than before. */
  #takenBytes = 0;
  #takenAt = performance.now();

  /** Starts the process. Rejects if the operating system cannot start it. */
  static async open(options: ProcessLinkOptions): Promise<ProcessLink> {
    return new ProcessLink(options, await spawnGroup(options.command));
  }

  private constructor(options: ProcessLinkOptions, child: ChildProcess) {
    const { stdin, stdout, stderr, pid } = child;
    if (!stdin || !stdout || !stderr || pid === undefined) {
      throw new Error('The process has no pipes or no number.');
    }
    this.#options = options;
    this.#process = child;
    this.#stdin = stdin as Socket; // what Node gives for a pipe
    this.#outbox = new Outbox(stdin, this.#fail);
    this.#stdout = stdout;
    this.pid = pid;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.mask = createMask(options.secrets);
    this.#maskNoise = createCutMask(options.secrets);
    this.#stderr = new StderrReader(stderr, options);
    this.peer = new Peer({
      send: (json) => this.#send(json),
      onRequest: options.onRequest,
      onNotification: options.onNotification,
      onBug: options.onBug,
      mayOmitVersion: options.mayOmitVersion,
    });
    this.#framer = new Framer({
      limitBytes: options.messageBytes,
      shape: options.messageShape,
      headers: 'content-length',
      onMessage: ({ text, value }) => this.#receive(text, value),
      onNoise: (line) => {
        this.#noise = line;
      },
      onBroken: ({ excerpt }) => {
        this.#noise = excerpt;
      },
      onOversize: (event) => {
        this.#hasSpoken = true;
        options.onOversize?.(event);
        const verdict = judgeOversize(this.peer, event, options);
        if (verdict === 'give-up') this.#end({ kind: 'unreadable', bytes: event.bytesSoFar });
      },
    });
    this.#watch();
  }

  /** Whether the child has printed anything that could be a message. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** The last that the child printed beside the protocol, for error messages. */
  get lastOutput(): string {
    return this.#stderr.tail || cleanText(this.#maskNoise(this.#noise));
  }

  /** Takes what was printed last without a line end for what it is: nothing more will come. */
  endOutput(): void {
    this.#framer.end();
  }

  /** Stops reading what the child prints, so that it has to wait; for when nobody takes it. */
  pause(): void {
    this.#stdout.pause();
  }

  resume(): void {
    this.#stdout.resume();
  }

  /** Ends the process and all it has started. */
  stop(): Promise<void> {
    this.#stopping ??= stopGroup(
      {
        leader: this.pid,
        closeInput: () => this.#stdin.end(),
        hasExited: () => this.#hasExited,
      },
      this.#options.stopMs,
    )
      .then(() => this.#destroyPipes())
      .catch(this.#options.onBug);
    return this.#stopping;
  }

  #watch(): void {
    const read = (chunk: Buffer): void => this.#framer.push(chunk);
    const brokenInput = (): void => this.#endSoon({ kind: 'closed-input' });
    const closedInput = (): void => {
      if (!this.#stopping) brokenInput();
    };
    const closedOutput = (): void => this.#endSoon({ kind: 'closed-output' });
    const exited = (code: number | null, signal: string | null): void => {
      this.#hasExited = true;
      this.#stdout.resume(); // its last words are wanted, even if nobody took the others
      const end: LinkEnd = { kind: 'exited', code, signal };
      const endNow = guard(this.#fail, () => {
        clearTimeout(timer);
        this.#end(end);
      });
      const timer = setTimeout(endNow, LAST_WORDS_MS);
      if (this.#stdout.closed) endNow();
      else this.#stdout.once('close', endNow);
    };
    this.#stdout.on('data', guard(this.#fail, read));
    this.#stdout.on('error', () => {}); // a pipe that breaks closes, too
    this.#stdin.on('error', guard(this.#fail, brokenInput));
    this.#stdin.once('close', guard(this.#fail, closedInput));
    this.#stdout.once('close', guard(this.#fail, closedOutput));
    this.#process.once('exit', guard(this.#fail, exited));
  }

  /** A pipe has closed. Mostly because the process exits, whose status says more: it may follow. */
  #endSoon(end: LinkEnd): void {
    if (this.#hasExited) return;
    setTimeout(
      guard(this.#fail, () => this.#end(end)),
      LAST_WORDS_MS,
    );
  }

  /** A bug in handling what the child did ends this child and nothing else. */
  readonly #fail = (error: unknown): void => {
    this.#options.onBug(error);
    this.#end({ kind: 'failed' });
  };

  #end(end: LinkEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const readRest = (): void => this.#framer.end();
    if (end.kind !== 'failed') guard(this.#options.onBug, readRest)();
    this.peer.close(new LinkEnded(end));
    this.#resolveEnded(end);
    void this.stop();
  }

  #send(json: string): void {
    const bytes = this.#outbox.unreadBytes;
    if (this.#readsNothing(bytes)) this.#end({ kind: 'unread-input', bytes });
    else this.#outbox.send(json, this.#options.framing);
  }

  #readsNothing(unreadBytes: number): boolean {
    const now = performance.now();
    if (unreadBytes === 0) {
      this.#takenAt = now;
      return false;
    }
    const taken = this.#stdin.bytesWritten - unreadBytes;
    if (taken > this.#takenBytes) this.#takenAt = now;
    this.#takenBytes = taken;
    const limit = Math.max(UNREAD_INPUT_BYTES, 2 * this.#options.messageBytes);
    return unreadBytes > limit && now - this.#takenAt > READS_NOTHING_MS;
  }

  #receive(text: string, value: unknown): void {
    this.#hasSpoken = true;
    receiveMessage(this.peer, text, value);
  }

  #destroyPipes(): void {
    this.#stdin.destroy();
    this.#stdout.destroy();
    this.#process.stderr?.destroy();
    this.#process.unref();
  }
}
