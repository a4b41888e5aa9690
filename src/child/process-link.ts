// The connection to one server process. It ends when the process exits (even if a grandchild still holds the pipes),
// closes its output or its input, or prints something that can't be read.
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { guard } from '../base/guard.ts';
import { type GroupCommand, spawnGroup } from '../base/process.ts';
import { createCutMask, type Mask } from '../base/secrets.ts';
import { cleanText } from '../base/text.ts';
import { Framer } from '../rpc/framer.ts';
import type { Framing, OversizeEvent } from '../rpc/framing.ts';
import { LargeVerbatim } from '../rpc/large-verbatim.ts';
import { Outbox } from '../rpc/outbox.ts';
import { Peer, type PeerOptions } from '../rpc/peer.ts';
import type { ShapeLimits } from '../rpc/shape.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { receiveMessage } from './incoming.ts';
import { KnownSecrets } from './known-secrets.ts';
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
  /** Masked in everything the server prints. */
  readonly secrets: readonly string[];
  readonly onStderr: (line: string) => void;
  readonly onRequest: PeerOptions['onRequest'];
  readonly onNotification: PeerOptions['onNotification'];
  /** Logs a bug in handling what the server sent or did. */
  readonly onBug: (error: unknown) => void;
  readonly mayOmitVersion?: PeerOptions['mayOmitVersion'];
  /** Called for messages that exceed a limit. Only their head and tail are known. */
  readonly onOversize?: ((event: OversizeEvent) => void) | undefined;
}

/** After an exit, the time to read the last answer the process may have printed. */
const LAST_OUTPUT_MS = 150;
/** Beyond this much unread input, the server must at least keep reading. */
const UNREAD_INPUT_BYTES = 64 << 20;
const READS_NOTHING_MS = 5_000;
/** Reading a larger message takes so long that others get a turn before it's handled. */
const LARGE_CHARS = 1 << 20;

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
  readonly #secrets: KnownSecrets;
  #resolveEnded: (end: LinkEnd) => void = () => {};
  #hasEnded = false;
  #hasExited = false;
  #stopping: Promise<void> | undefined;
  #hasSpoken = false;
  /** Messages that wait for the next turn of the event loop: a large one, and those behind it. */
  #held: Verbatim[] = [];
  #noise = '';
  /** How much input the server has read, and when it last read some. */
  #readBytes = 0;
  #readAt = performance.now();

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
    this.#stdin = stdin as Socket; // Node's type for pipes
    this.#outbox = new Outbox(stdin, this.#fail);
    this.#stdout = stdout;
    this.pid = pid;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#secrets = new KnownSecrets(options.secrets);
    this.mask = this.#secrets.mask;
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
      onMessage: ({ text, value }) => this.#receive(new Verbatim(text, value)),
      onLarge: (json) => this.#receive(LargeVerbatim.from(json)),
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

  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  get lastOutput(): string {
    return this.#stderr.tail || cleanText(createCutMask(this.secrets)(this.#noise));
  }

  get secrets(): readonly string[] {
    return this.#secrets.values;
  }

  hide(values: readonly string[]): void {
    if (this.#secrets.add(values)) this.#stderr.hide(this.secrets);
  }

  endOutput(): void {
    this.#framer.end();
    this.#deliverHeld();
  }

  pause(): void {
    this.#stdout.pause();
  }

  resume(): void {
    this.#stdout.resume();
  }

  /** Stops the process and everything it started. */
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
      this.#stdout.resume(); // read its last output even while paused
      const end: LinkEnd = { kind: 'exited', code, signal };
      const endNow = guard(this.#fail, () => {
        clearTimeout(timer);
        this.#end(end);
      });
      const timer = setTimeout(endNow, LAST_OUTPUT_MS);
      if (this.#stdout.closed) endNow();
      else this.#stdout.once('close', endNow);
    };
    this.#stdout.on('data', guard(this.#fail, read));
    this.#stdout.on('error', () => {}); // 'close' follows
    this.#stdin.on('error', guard(this.#fail, brokenInput));
    this.#stdin.once('close', guard(this.#fail, closedInput));
    this.#stdout.once('close', guard(this.#fail, closedOutput));
    this.#process.once('exit', guard(this.#fail, exited));
  }

  /** A pipe has closed, usually because the process is exiting. Its exit status says more, so wait for it. */
  #endSoon(end: LinkEnd): void {
    if (this.#hasExited) return;
    setTimeout(
      guard(this.#fail, () => this.#end(end)),
      LAST_OUTPUT_MS,
    );
  }

  /** A bug in handling this server's output stops only this server. */
  readonly #fail = (error: unknown): void => {
    this.#options.onBug(error);
    this.#end({ kind: 'failed' });
  };

  #end(end: LinkEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const readRest = (): void => {
      this.#framer.end();
      this.#deliverHeld();
    };
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
      this.#readAt = now;
      return false;
    }
    const read = this.#stdin.bytesWritten - unreadBytes;
    if (read > this.#readBytes) this.#readAt = now;
    this.#readBytes = read;
    const limit = Math.max(UNREAD_INPUT_BYTES, 2 * this.#options.messageBytes);
    return unreadBytes > limit && now - this.#readAt > READS_NOTHING_MS;
  }

  #receive(message: Verbatim): void {
    this.#hasSpoken = true;
    const isSoonDone = message.maxLength < LARGE_CHARS || message.pieces !== undefined;
    if (isSoonDone && this.#held.length === 0) {
      receiveMessage(this.peer, message);
      return;
    }
    this.#held.push(message);
    if (this.#held.length === 1) this.#deliverLater();
  }

  #deliverLater(): void {
    const deliver = guard(this.#fail, () => this.#deliverHeld());
    // An immediate of now would come before the input of others is read.
    setImmediate(guard(this.#fail, () => setImmediate(deliver)));
  }

  #deliverHeld(): void {
    for (const message of this.#held.splice(0)) receiveMessage(this.peer, message);
  }

  #destroyPipes(): void {
    this.#stdin.destroy();
    this.#stdout.destroy();
    this.#process.stderr?.destroy();
    this.#process.unref();
  }
}
