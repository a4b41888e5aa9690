// The connection to one child process: messages out and in, and the one moment it ends. It ends
// when the process exits (even if a grandchild still holds the pipes), when it closes its output,
// or when what it prints can no longer be read.
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { noteHandled } from '../base/memory.ts';
import { type GroupCommand, spawnGroup } from '../base/process.ts';
import type { Mask } from '../base/secrets.ts';
import { Framer, type Framing, idFromOversize, type OversizeEvent } from '../rpc/framer.ts';
import { type Id, METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import { Outbox } from '../rpc/outbox.ts';
import { Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { explainOversize } from './failures.ts';
import { StderrReader } from './stderr.ts';
import { stopGroup } from './stop.ts';

export interface LinkOptions {
  readonly name: string;
  readonly command: GroupCommand;
  readonly framing: Framing;
  readonly messageBytes: number;
  readonly stopMs: number;
  readonly mask: Mask;
  readonly onStderr: (line: string) => void;
  readonly onNotification: (method: string, params: unknown) => void;
  readonly onBug: (error: unknown) => void;
}

/** How a link ended. */
export type LinkEnd =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'closed-output' }
  | { readonly kind: 'unread-input'; readonly bytes: number }
  | { readonly kind: 'unreadable'; readonly bytes: number };

/** Requests in flight when a link ends fail with this; the child adds what it was doing. */
export class LinkEnded extends Error {
  override readonly name = 'LinkEnded';
  readonly end: LinkEnd;

  constructor(end: LinkEnd) {
    super(`The connection ended: ${end.kind}.`);
    this.end = end;
  }
}

/** A process that has exited may have printed its last answer just before: time to read it. */
const LAST_WORDS_MS = 150;
/** A line this many times over the limit that we cannot make out is no longer waited for. */
const GIVE_UP_AFTER_LIMITS = 16;
/** Where the request is known that the line answers, other requests are worth waiting longer. */
const GIVE_UP_ON_KNOWN_AFTER_LIMITS = 64;
const UNREAD_INPUT_BYTES = 64 << 20;

export class Link {
  readonly peer: Peer;
  readonly pid: number;
  readonly ended: Promise<LinkEnd>;
  readonly #options: LinkOptions;
  readonly #process: ChildProcess;
  readonly #stdin: Writable;
  readonly #outbox: Outbox;
  readonly #stdout: Readable;
  readonly #stderr: StderrReader;
  readonly #framer: Framer;
  #resolveEnded: (end: LinkEnd) => void = () => {};
  #hasEnded = false;
  #hasExited = false;
  #stopping: Promise<void> | undefined;
  #printedJson = false;
  #noise = '';

  /** Starts the process. Rejects if the operating system cannot start it. */
  static async open(options: LinkOptions): Promise<Link> {
    return new Link(options, await spawnGroup(options.command));
  }

  private constructor(options: LinkOptions, child: ChildProcess) {
    const { stdin, stdout, stderr, pid } = child;
    if (!stdin || !stdout || !stderr || pid === undefined) {
      throw new Error('The process has no pipes or no number.');
    }
    this.#options = options;
    this.#process = child;
    this.#stdin = stdin;
    this.#outbox = new Outbox(stdin);
    this.#stdout = stdout;
    this.pid = pid;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#stderr = new StderrReader(stderr, options.mask, options.onStderr);
    this.peer = new Peer({
      send: (json) => this.#send(json),
      onRequest: ({ method }) => refuseRequest(method),
      onNotification: options.onNotification,
      onBug: options.onBug,
    });
    this.#framer = new Framer({
      limitBytes: options.messageBytes,
      headers: 'content-length',
      onMessage: ({ text, value }) => this.#receive(text, value),
      onNoise: (line) => {
        this.#noise = line;
      },
      onBroken: ({ excerpt }) => {
        this.#noise = excerpt;
      },
      onOversize: (event) => this.#failOversize(event),
    });
    this.#watch();
  }

  /** Whether the child has printed anything that could be a message. */
  get printedJson(): boolean {
    return this.#printedJson;
  }

  /** The last that the child printed beside the protocol, for error messages. */
  get lastOutput(): string {
    return this.#stderr.tail || this.#options.mask(this.#noise);
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
    ).then(() => this.#destroyPipes());
    return this.#stopping;
  }

  #watch(): void {
    this.#stdout.on('data', (chunk: Buffer) => this.#framer.push(chunk));
    // A pipe that breaks says the same as one that ends; `exit` and `close` follow.
    for (const stream of [this.#stdin, this.#stdout]) stream.on('error', () => {});
    this.#stdout.once('close', () => {
      const end: LinkEnd = { kind: 'closed-output' };
      // The exit status, if there is one, says more.
      if (!this.#hasExited) setTimeout(() => this.#end(end), LAST_WORDS_MS);
    });
    this.#process.once('exit', (code, signal) => {
      this.#hasExited = true;
      this.#stdout.resume(); // its last words are wanted, even if nobody took the others
      const end: LinkEnd = { kind: 'exited', code, signal };
      if (this.#stdout.closed) this.#end(end);
      else {
        const timer = setTimeout(() => this.#end(end), LAST_WORDS_MS);
        this.#stdout.once('close', () => {
          clearTimeout(timer);
          this.#end(end);
        });
      }
    });
  }

  #end(end: LinkEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#framer.end();
    this.peer.close(new LinkEnded(end));
    this.#resolveEnded(end);
    void this.stop();
  }

  #send(json: string): void {
    const bytes = this.#outbox.unreadBytes;
    if (bytes > UNREAD_INPUT_BYTES) this.#end({ kind: 'unread-input', bytes });
    else this.#outbox.send(json, this.#options.framing);
  }

  #receive(text: string, value: unknown): void {
    this.#printedJson = true;
    noteHandled(text);
    const message = new Verbatim(text, value);
    // Some servers wrap their answer in an array, as JSON-RPC once allowed.
    if (Array.isArray(value)) for (const one of message.elements()) this.peer.receive(one);
    else this.peer.receive(message);
  }

  /** Fails the one request whose answer is too large; gives up on a line that does not end. */
  #failOversize({ bytesSoFar, head, tail, complete }: OversizeEvent): void {
    this.#printedJson = true;
    const { name, messageBytes } = this.#options;
    const found = idFromOversize(head, tail);
    const id = found?.id ?? this.#onlyRequest(head);
    if (found?.kind !== 'request' && id !== undefined) {
      this.peer.failRequest(id, explainOversize(name, messageBytes));
    }
    const patience = found ? GIVE_UP_ON_KNOWN_AFTER_LIMITS : GIVE_UP_AFTER_LIMITS;
    if (!complete && bytesSoFar > patience * messageBytes) {
      this.#end({ kind: 'unreadable', bytes: bytesSoFar });
    }
  }

  /** The one request that waits, if what begins so can only be its answer. */
  #onlyRequest(head: string): Id | undefined {
    const isNotification = /^\s*\{\s*("jsonrpc"\s*:\s*"2.0"\s*,\s*)?"(method|params)"/.test(head);
    const { waiting } = this.peer;
    return waiting.length === 1 && !isNotification ? waiting[0] : undefined;
  }

  #destroyPipes(): void {
    this.#stdin.destroy();
    this.#stdout.destroy();
    this.#process.stderr?.destroy();
    this.#process.unref();
  }
}

/** What a child may ask of its client: whether it is there, and nothing that needs a host. */
function refuseRequest(method: string): Verbatim {
  if (method === 'ping') return Verbatim.of({});
  throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
}
