// `switchboard serve --http` while the background process listens for it: it keeps the link, passes signals on, and
// finds another background process if that one dies.
import type { Duplex } from 'node:stream';
import { unpackError } from '../../background/command-link.ts';
import { FRAME, type FrameType, frameOf } from '../../background/frames.ts';
import {
  formatServeArguments,
  type HttpFlags,
  parsePayload,
  valuesOf,
  type WantedNames,
} from '../../background/hello.ts';
import type { Joined, JoinFailure } from '../../background/join.ts';
import {
  findMeetingPlace,
  type Installation,
  type Joining,
  joinOrStart,
  NextBackground,
  type OwnHello,
} from '../../background/join-or-start.ts';
import { isObject } from '../../base/object.ts';
import { workingFolder } from '../working-folder.ts';
import type { ServeOptions } from './serving.ts';

const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export class HttpEntry {
  readonly #joining: Joining;
  readonly #options: ServeOptions;
  readonly #flags: HttpFlags;
  #generation = 0;
  #port: number | undefined;
  #link: Duplex | undefined;
  #isStopping = false;

  constructor(options: ServeOptions, flags: HttpFlags, installation: Installation) {
    const { env, pid } = process;
    this.#options = options;
    this.#flags = flags;
    this.#joining = { ...installation, environment: env, pid, onLog: say };
  }

  /** Where a background process has listened. */
  get port(): number | undefined {
    return this.#port;
  }

  /**
   * Returns the exit status when it has been told to stop; undefined if this process has to serve alone. Throws if
   * nobody can serve, for example because the port is taken.
   */
  async serve(): Promise<number | undefined> {
    process.stderr.on('error', () => {}); // nobody reads it
    process.on('SIGHUP', this.#reload);
    for (const signal of END_SIGNALS) process.on(signal, this.#stop);
    try {
      return await this.#serve();
    } finally {
      // Serving alone has its own.
      process.off('SIGHUP', this.#reload);
      for (const signal of END_SIGNALS) process.off(signal, this.#stop);
    }
  }

  async #serve(): Promise<number | undefined> {
    const place = findMeetingPlace(process.env, workingFolder);
    if ('reason' in place) return this.#giveUp(place);
    const next = new NextBackground();
    let joined = await joinOrStart(this.#joining, place, this.#hello);
    while (!('reason' in joined)) {
      this.#generation++;
      const status = await this.#stay(joined);
      if (status !== undefined) return status;
      say('switchboard: the background process ended. Looking for another one.\n');
      joined = await next.join(this.#joining, place, this.#hello);
    }
    return this.#giveUp(joined);
  }

  #giveUp({ reason, isExpected, failed }: JoinFailure): number | undefined {
    if (this.#isStopping) return 0;
    if (isObject(failed)) throw unpackError(failed);
    const since = this.#generation === 0 ? '' : ' from now on';
    if (!isExpected) say(`switchboard: serving alone${since}: ${reason}\n`);
    return undefined;
  }

  get #hello(): OwnHello {
    const port = this.#port === undefined ? this.#flags.port : String(this.#port);
    const { host, auth, allowRemote, allowHost } = this.#flags;
    return {
      args: formatServeArguments(this.#options),
      configFile: this.#options.configFile,
      generation: this.#generation,
      http: { host, port, auth, allowRemote, allowHost },
    };
  }

  readonly #reload = (): void => this.#send(FRAME.reload);

  /** The second time, it doesn't wait for servers to stop. */
  readonly #stop = (): void => {
    if (this.#isStopping) process.exit(0);
    this.#isStopping = true;
    this.#send(FRAME.stop);
  };

  #send(type: FrameType, content?: object): void {
    if (this.#link?.writable) this.#link.write(frameOf(type, content));
  }

  /** Resolves with an exit status, or with undefined if the background process is lost. */
  async #stay({ socket, listen }: Joined): Promise<number | undefined> {
    this.#link = socket;
    if (this.#isStopping) this.#send(FRAME.stop);
    const status = await new Promise<number | undefined>((resolve) => {
      const lose = (): void => resolve(this.#isStopping ? 0 : undefined);
      if (socket.destroyed) lose();
      else socket.once('close', lose);
      listen((type, payload) => {
        const ended = this.#receive(type, payload);
        if (ended !== undefined) resolve(ended);
      });
    });
    this.#link = undefined;
    socket.destroy();
    return status;
  }

  /** Returns the exit status if this is the end. */
  #receive(type: number, payload: Buffer): number | undefined {
    switch (type) {
      case FRAME.log:
        say(payload);
        break;
      case FRAME.snapshot:
        this.#port = Number(parsePayload(payload)?.['port']);
        break;
      case FRAME.names: {
        const { names } = parsePayload(payload) ?? {};
        const values = valuesOf(names as WantedNames, process.env);
        this.#send(FRAME.values, { values });
        break;
      }
      case FRAME.leaving:
        // Nobody could reach us, so there is nothing to wait for.
        this.#isStopping = true;
        say('switchboard: stopped, because the background process was stopped.\n');
        break;
      case FRAME.end:
        return payload[0] ?? 0;
      default:
        break; // a newer build may send more
    }
    return undefined;
  }
}

/** If nobody reads stderr, what is beyond this is dropped. */
const MOST_UNREAD_BYTES = 1 << 20;

function say(text: string | Buffer): void {
  const { stderr } = process;
  if (stderr.writableLength < MOST_UNREAD_BYTES) stderr.write(text);
}
