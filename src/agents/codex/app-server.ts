// Codex's process and protocol: one process per run, newline-delimited JSON-RPC over stdin and stdout,
// without the `jsonrpc` member.
import { tmpdir } from 'node:os';
import { parse } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isFolder } from '../../base/make-folder.ts';
import { isObject } from '../../base/object.ts';
import { groupsMarked } from '../../base/process-table.ts';
import { stopGroups } from '../../base/stop-groups.ts';
import { codeOf } from '../../base/system-error.ts';
import { excerpt, formatDuration } from '../../base/text.ts';
import { type LinkEnd, LinkEnded } from '../../child/link.ts';
import { ProcessLink, type ProcessLinkOptions } from '../../child/process-link.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { RpcTimeout } from '../../rpc/requests.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { crashReason } from './crash-reason.ts';

export interface AppServerOptions
  extends Pick<ProcessLinkOptions, 'secrets' | 'onRequest' | 'onNotification' | 'onOversize'> {
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly codexHome: string;
  /** An environment variable that only this run's processes have. */
  readonly mark: { readonly name: string; readonly value: string };
  readonly log: Log;
  /** Time limit for the first response. */
  readonly initializeMs: number;
}

/** Longer messages are reduced to their head and tail. */
const MESSAGE_BYTES = 16 << 20;
/** Codex exits within tens of milliseconds of the end of its input. */
const STOP_MS = 600;
const GONE_MS = 400;
const LONGEST_REASON = 300;
/** Enough to find the reason above a stack trace. */
const KEPT_LINES = 200;
const LONGEST_LINE = 400;
/** Logged when it crashes. */
const LOGGED_LINES = 30;

/** Notifications we don't use; command output alone can be gigabytes. */
const UNWANTED_NOTIFICATIONS = [
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
  /** Its stderr, cleaned and masked. */
  readonly #printed: readonly string[];

  /** Rejects with ENGINE_FAILED if the program can't be started. */
  static async open(options: AppServerOptions): Promise<AppServer> {
    const { binary, args, env, codexHome, log, onRequest } = options;
    // A neutral folder: Codex reads settings from the one it is started in.
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
        onRequest: async (request) => toCodexJson((await onRequest(request)).value),
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

  logOutput(): void {
    for (const line of this.#printed.slice(-LOGGED_LINES)) this.#options.log.info(`codex: ${line}`);
  }

  /** How Codex exited and the reason it printed, if any: a sentence without its full stop. */
  explainEnd(end: LinkEnd, when: string): string {
    const reason = this.#reason;
    return `Codex ${describeEnd(end)} ${when}${reason && `: ${reason}`}`.replace(/\.$/, '');
  }

  get #reason(): string {
    // The last line may be unfinished, and stray output on stdout may be all there is.
    const last = this.#link.lastOutput.split('\n').at(-1) ?? '';
    return excerpt(crashReason([...this.#printed, last]), LONGEST_REASON);
  }

  /** Rejects with ENGINE_FAILED if it exits right away or doesn't respond. */
  async initialize(version: string): Promise<void> {
    const { binary, initializeMs } = this.#options;
    const params = {
      clientInfo: { name: 'switchboard', title: 'Switchboard', version },
      capabilities: {
        experimentalApi: true, // for `experimentalRawEvents`
        requestAttestation: false,
        optOutNotificationMethods: UNWANTED_NOTIFICATIONS,
      },
    };
    try {
      await this.request('initialize', params, initializeMs);
    } catch (error) {
      throw this.#explainStart(error, binary);
    }
    this.#link.peer.notify('initialized');
  }

  /** Without a limit, a request may take as long as the run. */
  async request(method: string, params: object, timeoutMs = Infinity): Promise<unknown> {
    try {
      const answer = await this.#link.peer.request(method, toCodexJson(params), { timeoutMs });
      return answer.value;
    } catch (error) {
      const isTooLarge = error instanceof SwitchboardError && error.code === 'MESSAGE_TOO_LARGE';
      if (!isTooLarge) throw error;
      const limit = `${MESSAGE_BYTES / (1 << 20)} MiB`;
      const sentence = `Codex's response to ${method} is larger than ${limit}.`;
      throw failure(sentence, this.#options.binary, error);
    }
  }

  /** Starts a thread or a turn, and returns its id. */
  async begin(what: 'thread' | 'turn', params: object): Promise<string> {
    const answer = await this.request(`${what}/start`, params);
    const begun = isObject(answer) ? answer[what] : undefined;
    const id = isObject(begun) ? begun['id'] : undefined;
    if (typeof id === 'string' && id !== '') return id;
    // Without the id, no notification would match, and the run would wait forever.
    const sentence = `Codex did not return the id of its ${what}. This version may be too old or too new.`;
    throw failure(sentence, this.#options.binary, undefined);
  }

  /**
   * Stops Codex and everything the run has started. Commands run in their own process groups, which Codex leaves
   * behind if it's killed; the mark finds them.
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
      this.logOutput();
      return failure(`${this.explainEnd(error.end, 'on start')}.`, binary, error);
    }
    if (error instanceof RpcTimeout) {
      const reason = this.#reason;
      const limit = formatDuration(initializeMs);
      const sentence = `Codex did not respond within ${limit}${reason && `: ${reason}`}`;
      return failure(`${sentence.replace(/\.$/, '')}.`, binary, error);
    }
    if (error instanceof SwitchboardError) return error;
    const reason = excerpt((error as Error).message, LONGEST_REASON);
    return failure(`Codex refused to start: ${reason}`, binary, error);
  }
}

function describeEnd(end: LinkEnd): string {
  if (end.kind !== 'exited') return 'closed the connection';
  return end.signal === null ? `exited with code ${end.code}` : `was stopped by ${end.signal}`;
}

function explainSpawn(error: unknown, binary: string): SwitchboardError {
  const reasons: Record<string, string> = {
    EACCES: 'the file is not executable',
    ENOENT: 'the file, or its interpreter, does not exist',
    ENOEXEC: "it can't run on this machine",
  };
  const code = codeOf(error) ?? (error as Error).message;
  return failure(`Codex did not start: ${reasons[code] ?? code}.`, binary, error);
}

function failure(sentence: string, binary: string, cause: unknown): SwitchboardError {
  return new SwitchboardError('ENGINE_FAILED', sentence, {
    hint: `Check that ${binary} runs in a terminal, or set SWITCHBOARD_CODEX_BIN to another program.`,
    cause,
  });
}

/** An escape sequence. An escaped surrogate is one without its other half. */
const ESCAPE = /\\(?:ud[89a-f]..|.)/g;

/**
 * Replaces lone surrogates, which a string cut in the middle of a character contains. Codex silently
 * drops a message with one, and the run would wait until its time limit.
 */
function toCodexJson(value: unknown): Verbatim {
  const text = JSON.stringify(value) ?? 'null';
  if (!text.includes('\\ud')) return new Verbatim(text, value);
  const whole = text.replace(ESCAPE, (escape) => (escape.length > 2 ? '\ufffd' : escape));
  return new Verbatim(whole, value);
}
