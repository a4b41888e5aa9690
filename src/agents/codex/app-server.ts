// The engine's process and how it is spoken to: one process for a run, JSON-RPC line by line over
// its stdin and stdout, in which it leaves out `jsonrpc`.
import { tmpdir } from 'node:os';
import { parse } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isObject } from '../../base/object.ts';
import { isFolder } from '../../base/process.ts';
import { groupsMarked } from '../../base/process-table.ts';
import { stopGroups } from '../../base/stop-groups.ts';
import { codeOf } from '../../base/system-error.ts';
import { excerpt, formatDuration } from '../../base/text.ts';
import { type LinkEnd, LinkEnded } from '../../child/link.ts';
import { ProcessLink, type ProcessLinkOptions } from '../../child/process-link.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { RpcTimeout } from '../../rpc/peer.ts';
import { crashReason } from './crash-reason.ts';
import { toEngine } from './engine-json.ts';

export interface AppServerOptions
  extends Pick<ProcessLinkOptions, 'secrets' | 'onRequest' | 'onNotification' | 'onOversize'> {
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The engine's own folder. */
  readonly codexHome: string;
  /** A variable that only this run's processes have. */
  readonly mark: { readonly name: string; readonly value: string };
  readonly log: Log;
  /** Milliseconds until it must have answered the first request. */
  readonly initializeMs: number;
}

/** Longer messages are thrown away but for their ends. */
const MESSAGE_BYTES = 16 << 20;
/** The engine ends within tens of milliseconds when its input does. */
const STOP_MS = 600;
const GONE_MS = 400;
const LONGEST_REASON = 300;
/** What it printed last: a reason may be followed by a stack. */
const KEPT_LINES = 200;
const LONGEST_LINE = 400;
/** So many of them are logged when it crashes. */
const LOGGED_LINES = 30;

/** News that we have no use for; the output of commands alone can be gigabytes. */
const UNWANTED_NEWS = [
  'account/rateLimits/updated',
  'item/commandExecution/outputDelta',
  'item/commandExecution/terminalInteraction',
  'item/fileChange/outputDelta',
  'item/fileChange/patchUpdated',
  'item/plan/delta',
  'item/reasoning/summaryPartAdded',
  'item/reasoning/summaryTextDelta',
  'item/reasoning/textDelta',
  'rawResponse/completed',
  'remoteControl/status/changed',
  'skills/changed',
  'thread/started',
  'thread/status/changed',
  'thread/tokenUsage/updated',
  'turn/diff/updated',
  'turn/plan/updated',
];

export class AppServer {
  readonly #link: ProcessLink;
  readonly #options: AppServerOptions;
  /** On stderr, cleaned and masked. */
  readonly #printed: readonly string[];

  /** Rejects with an ENGINE_FAILED where the program cannot be started. */
  static async open(options: AppServerOptions): Promise<AppServer> {
    const { binary, args, env, codexHome, log, onRequest } = options;
    // A neutral folder: the engine reads settings from the one that it is started in.
    const cwd = [codexHome, tmpdir()].find(isFolder) ?? parse(binary).root;
    const printed: string[] = [];
    try {
      const link = await ProcessLink.open({
        ...options,
        name: 'codex',
        command: { cmd: binary, args, cwd, env },
        framing: 'newline',
        messageBytes: MESSAGE_BYTES,
        messageShape: DEFAULTS.messageShape,
        stopMs: STOP_MS,
        mayOmitVersion: true,
        onRequest: async (request) => toEngine((await onRequest(request)).value),
        onStderr: (line) => {
          log.debug(`codex: ${line}`);
          printed.push(line.slice(0, LONGEST_LINE));
          if (printed.length > KEPT_LINES) printed.shift();
        },
        onBug: (error) => log.error(`codex: ${String(error)}`),
      });
      return new AppServer(link, options, printed);
    } catch (error) {
      throw explainSpawn(error, binary);
    }
  }

  private constructor(link: ProcessLink, options: AppServerOptions, printed: readonly string[]) {
    this.#link = link;
    this.#options = options;
    this.#printed = printed;
  }

  get pid(): number {
    return this.#link.pid;
  }

  get ended(): Promise<LinkEnd> {
    return this.#link.ended;
  }

  /**
   * How the engine ended, and why as far as it printed a reason: one sentence, to be followed by a full stop.
   * What else it printed goes to the log.
   */
  explainEnd(end: LinkEnd, when: string): string {
    for (const line of this.#printed.slice(-LOGGED_LINES)) this.#options.log.info(`codex: ${line}`);
    const reason = this.#reason;
    return `Codex ${describeEnd(end)} ${when}${reason && `: ${reason}`}`.replace(/\.$/, '');
  }

  get #reason(): string {
    // Its last line may not have ended, and what it prints on stdout beside messages may be all there is.
    const last = this.#link.lastOutput.split('\n').at(-1) ?? '';
    return excerpt(crashReason([...this.#printed, last]), LONGEST_REASON);
  }

  /** Rejects with an ENGINE_FAILED where it ends at once or does not answer. */
  async initialize(version: string): Promise<void> {
    const { binary, initializeMs } = this.#options;
    const params = {
      clientInfo: { name: 'switchboard', title: 'Switchboard', version },
      capabilities: {
        experimentalApi: true, // for `experimentalRawEvents`
        requestAttestation: false,
        optOutNotificationMethods: UNWANTED_NEWS,
      },
    };
    try {
      await this.request('initialize', params, initializeMs);
    } catch (error) {
      throw this.#explainStart(error, binary);
    }
    this.#link.peer.notify('initialized');
  }

  /** Without a limit, a request takes as long as the run may. */
  async request(method: string, params: object, timeoutMs = Infinity): Promise<unknown> {
    try {
      const answer = await this.#link.peer.request(method, toEngine(params), { timeoutMs });
      return answer.value;
    } catch (error) {
      const isTooLarge = error instanceof SwitchboardError && error.code === 'MESSAGE_TOO_LARGE';
      if (!isTooLarge) throw error;
      const limit = `${MESSAGE_BYTES / (1 << 20)} MiB`;
      const sentence = `Codex answered ${method} with more than ${limit}, which is not read.`;
      throw failure(sentence, this.#options.binary, error);
    }
  }

  /** Starts a thread or a turn, and gives the name that the engine has for it. */
  async begin(what: 'thread' | 'turn', params: object): Promise<string> {
    const answer = await this.request(`${what}/start`, params);
    const begun = isObject(answer) ? answer[what] : undefined;
    const id = isObject(begun) ? begun['id'] : undefined;
    if (typeof id === 'string' && id !== '') return id;
    // News without that name would never be known to be the run's, and it would wait for ever.
    const sentence = `Codex did not say which ${what} it has begun: its version may be too old or too new.`;
    throw failure(sentence, this.#options.binary, undefined);
  }

  /**
   * Ends the engine and whatever the run has started. Commands run in groups of their own, which an
   * engine that is killed leaves behind: they are found by their mark.
   */
  async close(): Promise<void> {
    await this.#link.stop();
    const { name, value } = this.#options.mark;
    const left = await groupsMarked(`${name}=${value}`);
    await stopGroups([...left], GONE_MS);
  }

  #explainStart(error: unknown, binary: string): unknown {
    const { initializeMs } = this.#options;
    if (error instanceof LinkEnded) {
      return failure(`${this.explainEnd(error.end, 'on start')}.`, binary, error);
    }
    if (error instanceof RpcTimeout) {
      const reason = this.#reason;
      const limit = formatDuration(initializeMs);
      const sentence = `Codex did not answer within ${limit}${reason && `: ${reason}`}`;
      return failure(`${sentence.replace(/\.$/, '')}.`, binary, error);
    }
    if (error instanceof SwitchboardError) return error;
    const reason = excerpt((error as Error).message, LONGEST_REASON);
    return failure(`Codex refused to begin: ${reason}`, binary, error);
  }
}

function describeEnd(end: LinkEnd): string {
  if (end.kind !== 'exited') return 'closed the connection';
  return end.signal === null ? `exited with code ${end.code}` : `was stopped by ${end.signal}`;
}

function explainSpawn(error: unknown, binary: string): SwitchboardError {
  const reasons: Record<string, string> = {
    EACCES: 'it may not be executed',
    ENOENT: 'it, or what it needs to run, does not exist',
    ENOEXEC: 'it is no program for this kind of machine',
  };
  const code = codeOf(error) ?? (error as Error).message;
  return failure(`Codex did not start: ${reasons[code] ?? code}.`, binary, error);
}

function failure(sentence: string, binary: string, cause: unknown): SwitchboardError {
  return new SwitchboardError('ENGINE_FAILED', sentence, {
    hint: `The program is ${binary}; see whether it runs in a terminal, or name another in SWITCHBOARD_CODEX_BIN.`,
    cause,
  });
}
