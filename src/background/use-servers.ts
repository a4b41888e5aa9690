// A command's way to the servers that run in the background process.
import type { Socket } from 'node:net';
import { isObject } from '../base/object.ts';
import { settleWithin } from '../base/time.ts';
import { VERSION } from '../base/version.ts';
import type { CallContext } from '../calls/call.ts';
import type { ChildConfig } from '../config/config.ts';
import { findFolders } from '../config/files/places.ts';
import type { Caller, QuestionMethod } from '../mcp/caller.ts';
import { parseTools, type Tool } from '../mcp/tools.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { IncomingRequest } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import {
  CALL_EVENT,
  COMMAND,
  type CommandPeer,
  createCommandPeer,
  unpackOutcome,
} from './command-link.ts';
import { backgroundEnded, type CommandServers, type ListedTool } from './command-servers.ts';
import { decodeReceipt, FRAME, frameOf, PROTOCOL } from './frames.ts';
import { type Hello, ownVariables, parsePayload, valuesOf, type WantedNames } from './hello.ts';
import { connectAt, type Joined, joinOver } from './join.ts';
import { findMeeting, socketProblem } from './meeting.ts';
import { isInSandbox, ownPlace } from './place.ts';

export interface CommandOrigin {
  /** Its name for `switchboard status`. */
  readonly command: string;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** The options that choose its configuration, as `serve` takes them. */
  readonly args: readonly string[];
  readonly pid: number;
  readonly onLog: (text: Buffer) => void;
  readonly onBug: (error: unknown) => void;
}

/** Servers that only this command used get this long to stop. */
const LEAVE_MS = 10_000;

/** Undefined if there is no background process, or it doesn't take the command. Never starts one. */
export async function joinForCommand(
  origin: CommandOrigin,
): Promise<BackgroundServers | undefined> {
  const { folder, environment: env, onLog } = origin;
  try {
    if (isInSandbox(env)) return undefined;
    const { home } = findFolders({ cwd: folder, env });
    const meeting = findMeeting(home, env, VERSION);
    if (!meeting || socketProblem(meeting) !== undefined) return undefined;
    const socket = await connectAt(meeting.address);
    if (typeof socket === 'string') return undefined;
    const joined = await joinOver(socket, meeting, helloOf(origin), env, onLog);
    if (joined === 'closed' || !('socket' in joined)) return undefined;
    return new BackgroundServers(joined, socket, origin);
  } catch {
    return undefined; // a key that others can read, for example; the command doesn't depend on it
  }
}

function helloOf({ command, folder, environment, args, pid }: CommandOrigin): Hello {
  return {
    protocol: PROTOCOL,
    version: VERSION,
    build: '',
    command,
    pid,
    folder,
    args,
    variables: ownVariables(environment),
    place: ownPlace(environment),
    generation: 0,
  };
}

export class BackgroundServers implements CommandServers, AsyncDisposable {
  readonly #socket: Socket;
  readonly #peer: CommandPeer['peer'];
  readonly #closed: Promise<void>;
  /** Who answers questions: a command makes one call at a time. */
  #caller: Caller | undefined;

  constructor({ listen }: Joined, socket: Socket, { environment, onLog, onBug }: CommandOrigin) {
    this.#socket = socket;
    const { peer, read } = createCommandPeer({
      send: (json) => {
        if (socket.writable) socket.write(frameOf(FRAME.data, `${json}\n`));
      },
      onRequest: (request) => this.#ask(request),
      onNotification: (method, params) => {
        if (method === CALL_EVENT.pageVisited && params) this.#caller?.pageVisited(params);
      },
      onBug,
    });
    this.#peer = peer;
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        peer.close(backgroundEnded());
        resolve();
      });
    });
    listen((type, payload) => {
      if (type === FRAME.data) read(decodeReceipt(payload).messages);
      else if (type === FRAME.log) onLog(payload);
      else if (type === FRAME.end) socket.end();
      else if (type === FRAME.names) {
        const { names } = parsePayload(payload) ?? {};
        const values = valuesOf(names as WantedNames, environment);
        socket.write(frameOf(FRAME.values, { values }));
      }
    });
  }

  async start(server: ChildConfig, context: Pick<CallContext, 'cancellation'>): Promise<void> {
    await this.#request(COMMAND.start, { server: server.name }, context);
  }

  async listTools(server: ChildConfig, context: CallContext): Promise<readonly ListedTool[]> {
    const { value } = await this.#request(COMMAND.listTools, { server: server.name }, context);
    return Array.isArray(value) ? (value as ListedTool[]) : [];
  }

  async knownTools(
    server: ChildConfig,
    context: CallContext,
  ): Promise<readonly Tool[] | undefined> {
    const { value } = await this.#request(COMMAND.knownTools, { server: server.name }, context);
    return Array.isArray(value) ? parseTools(value) : undefined;
  }

  async callTool(
    server: ChildConfig,
    subtool: string,
    args: Verbatim,
    context: CallContext,
  ): Promise<Verbatim> {
    this.#caller = context.caller;
    const { capabilities } = context.caller ?? {};
    const given = JSON.stringify({ server: server.name, subtool, capabilities });
    // The arguments as they were written: numbers can be long.
    const params = Verbatim.fromText(`${given.slice(0, -1)},"arguments":${args.text}}`);
    return this.#request(COMMAND.callTool, params, context);
  }

  /** Waits until servers that nobody else uses have stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.writable) this.#socket.write(frameOf(FRAME.stop));
    await settleWithin(this.#closed, LEAVE_MS);
    this.#socket.destroy();
  }

  async #request(
    method: string,
    params: object,
    { cancellation, onProgress }: Pick<CallContext, 'cancellation' | 'onProgress'>,
  ): Promise<Verbatim> {
    const sent = params instanceof Verbatim ? params : Verbatim.of(params);
    // The background process has the time limits.
    const options = { timeoutMs: Infinity, cancellation, onProgress };
    return unpackOutcome(await this.#peer.request(method, sent, options));
  }

  async #ask({ method, params, cancellation }: IncomingRequest): Promise<Verbatim> {
    const asked = isObject(params?.value) ? params.value['method'] : undefined;
    if (method !== CALL_EVENT.ask || typeof asked !== 'string' || !this.#caller) {
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    }
    const question = { method: asked as QuestionMethod, params: params?.member('params') };
    return this.#caller.ask({ ...question, cancellation });
  }
}
