// Starts one server: expands its variables, starts its process or connects to its URL, and greets it. The result is
// a working server, or an error that says what to do, in which case everything that was started is stopped. It knows
// nothing of the sessions that will use the server: `events` reaches them.
import { SwitchboardError } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import { isFolder } from '../base/make-folder.ts';
import { type GroupCommand, withVariables } from '../base/process.ts';
import { maskValue } from '../base/secrets.ts';
import type { ChildConfig, Command } from '../config/config.ts';
import { expandCommand, expandRemote } from '../config/server/expand.ts';
import type { Question } from '../mcp/caller.ts';
import { projectRoots, type Roots } from '../mcp/roots.ts';
import type { Framing } from '../rpc/framing.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { IncomingRequest, PeerOptions } from '../rpc/peer.ts';
import { RpcTimeout } from '../rpc/requests.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Conversation } from './conversation/conversation.ts';
import { HandshakeConversation } from './conversation/handshake.ts';
import { ModernConversation } from './conversation/modern.ts';
import type { Credentials } from './credentials.ts';
import { inheritedEnvironment } from './environment.ts';
import {
  explainEnd,
  explainMissingFolder,
  explainRemoteSilence,
  explainSilence,
  explainSpawnError,
} from './failures.ts';
import { DiedOfProbe, type GreetOptions, greet } from './greet.ts';
import type { Greeting } from './handshake.ts';
import type { OpenInside } from './inside-link.ts';
import { type Link, LinkEnded } from './link.ts';
import { ProcessLink } from './process-link.ts';
import { commandSecrets, secretsBehind } from './secrets.ts';

export interface StartOptions extends GreetOptions, ServerEvents {
  readonly framing: Framing;
  /** The framing of the next start if this one gets no answer; undefined if the framing is fixed. */
  readonly nextFraming: Framing | undefined;
  /** Called if the process prints no message for this long. */
  readonly silence?: { readonly afterMs: number; readonly onSilent: () => void } | undefined;
  /** The project's environment: variables are expanded from it, and a process inherits it. Never our own. */
  readonly env: NodeJS.ProcessEnv;
  /** The same with the secrets the server refers to, for expanding only; `env` if there are none. */
  readonly variables?: NodeJS.ProcessEnv | undefined;
  /** What the user's login shell exports, for servers that inherit it. */
  readonly login?: NodeJS.ProcessEnv | undefined;
  /** For remote servers that require users to sign in. */
  readonly credentials?: Credentials | undefined;
  /** Puts the process in its sandbox. Required for servers that have one. */
  readonly confine?: Confine | undefined;
  /** Added to the environment so that the process can be found again. */
  readonly mark: Readonly<Record<string, string>>;
  /** Opens it within this process instead of starting its command. */
  readonly openInside?: OpenInside | undefined;
  /** Called after all checks, before the process is started or the URL is called. */
  readonly onStarting: () => void;
  readonly onProcess: (pid: number) => void;
  /** Called if the start has failed, with the end of whatever it started. */
  readonly onStopping: (stopped: Promise<void>) => void;
  /** Whether the server is expected to ask questions. Default: true. */
  readonly expectsQuestions?: boolean | undefined;
  /** The project's folder, and whether several hosts share the server. */
  readonly served: { readonly project: string; readonly isShared: boolean };
}

/** What a server does on its own, apart from its answers. */
export interface ServerEvents {
  readonly onStderr: (line: string) => void;
  readonly onNotification: (method: string, params: Verbatim | undefined) => void;
  readonly onBug: (error: unknown) => void;
  /** A tool's input schema, as last listed. */
  readonly inputSchemaOf?: ((tool: string) => unknown) | undefined;
  /** Answers questions that the server asks while no call is in flight. */
  readonly askOutside: (question: Question) => Promise<Verbatim>;
  /** The server asks for its host's roots. Returns them if they are known without asking. */
  readonly onRootsAsked?: (() => Verbatim | undefined) | undefined;
  /** The server asks a question during a call. */
  readonly onAsked?: (() => void) | undefined;
}

/** A server that works. */
export interface StartedServer {
  readonly link: Link;
  readonly greeting: Greeting;
  readonly conversation: Conversation;
}

/** The command that runs another one in a sandbox. Throws if there is no sandbox for it. */
export type Confine = (command: GroupCommand) => Confined;

export interface Confined {
  readonly command: GroupCommand;
  /** Adds what the sandbox hides to a start error. */
  readonly explain: (failure: unknown) => Promise<unknown>;
}

/** How a link is opened, once all checks have passed. */
interface Opener {
  readonly open: () => Link | Promise<Link>;
  readonly confined?: Confined | undefined;
}

/** The options for a link, with answers to the server's requests. */
type LinkParts = StartOptions & Pick<PeerOptions, 'onRequest'>;

export async function startServer(
  config: ChildConfig,
  options: StartOptions,
): Promise<StartedServer> {
  let conversation: Conversation | undefined;
  // The link keeps these callbacks, so they must not refer to all the options: a session can end before the server.
  const { onNotification, onStopping } = options;
  const parts: LinkParts = {
    ...options,
    onRequest: (request) => conversation?.answer(request) ?? answerEarly(request),
    onNotification: (method, params) => {
      if (params && conversation?.receive(method, params)) return;
      onNotification(method, params);
    },
  };
  const { open, confined } = await prepare(config, parts);
  options.onStarting();
  const link = await open();
  if (link.pid !== undefined) options.onProcess(link.pid);
  // A cancelled start must not leave the process running until the handshake times out.
  const stop = (): void => onStopping(link.stop());
  options.cancellation.listen(stop);
  const silence = watchSilence(link, options);
  try {
    const greeting = await greet(config, link, options);
    conversation = startConversation(greeting, config, link, options);
    return { link, greeting, conversation };
  } catch (error) {
    link.endOutput();
    stop();
    const failure = explainFailure(error, config, link, options);
    throw confined ? await confined.explain(failure) : failure;
  } finally {
    clearTimeout(silence);
    options.cancellation.unlisten(stop);
  }
}

function watchSilence(link: Link, { silence, onBug }: StartOptions): NodeJS.Timeout | undefined {
  if (!silence) return undefined;
  const look = (): void => {
    if (!link.hasSpoken) silence.onSilent();
  };
  return setTimeout(guard(onBug, look), silence.afterMs).unref();
}

function startConversation(
  greeting: Greeting,
  { name, timeouts }: ChildConfig,
  { peer }: Link,
  { askOutside, onRootsAsked, onAsked, expectsQuestions, served }: StartOptions,
): Conversation {
  const { era, capabilities } = greeting;
  const parts = { name, peer, capabilities };
  if (era === 'modern') return new ModernConversation(parts);
  const { rpcMs: timeoutMs } = timeouts;
  const roots: Roots = { project: projectRoots(served.project), isShared: served.isShared };
  const questions = { roots, askOutside, onRootsAsked, onAsked, expectsQuestions };
  return new HandshakeConversation({ ...parts, ...questions, timeoutMs });
}

/** Before the greeting, a server may only ping. */
function answerEarly({ method }: IncomingRequest): Verbatim {
  if (method === 'ping') return Verbatim.of({});
  throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
}

function explainFailure(
  error: unknown,
  config: ChildConfig,
  { hasSpoken, lastOutput, mask }: Link,
  { nextFraming, silence }: StartOptions,
): unknown {
  if (error instanceof LinkEnded) {
    const failure = explainEnd(error.end, config, lastOutput, 'starting');
    return error instanceof DiedOfProbe ? withData(failure, { diedOfProbe: true }) : failure;
  }
  if (error instanceof RpcTimeout) {
    if (config.remote) return explainRemoteSilence(config);
    const wasTriedInBoth = silence !== undefined;
    return explainSilence(config, { hasSpoken, nextFraming, wasTriedInBoth, lastOutput });
  }
  if (error instanceof RpcError) {
    return new SwitchboardError(
      'CHILD_START_FAILED',
      `Server "${config.name}" refused the handshake: ${mask(error.message).slice(0, 1_000)} (${error.code}).`,
      { hint: `Run: switchboard doctor ${config.name}`, cause: error },
    );
  }
  if (!(error instanceof SwitchboardError)) return error;
  const { code, message, hint } = error; // it may quote the server
  const data = maskValue(error.data, mask) as Record<string, unknown>;
  return new SwitchboardError(code, mask(message), { hint, data });
}

function withData(error: SwitchboardError, data: Record<string, unknown>): SwitchboardError {
  const { code, message, hint, cause } = error;
  return new SwitchboardError(code, message, { hint, cause, data: { ...error.data, ...data } });
}

function prepare(config: ChildConfig, parts: LinkParts): Opener | Promise<Opener> {
  if (config.remote) return prepareRemote(config, parts);
  return parts.openInside
    ? prepareInside(config, parts, parts.openInside)
    : prepareProcess(config, parts);
}

/** Lazy: most sessions have no assistants. */
async function prepareInside(
  config: ChildConfig,
  { env, onRequest, onNotification, onBug }: LinkParts,
  open: OpenInside,
): Promise<Opener> {
  const { InsideLink } = await import('./inside-link.ts');
  const secrets = secretsBehind(config, env);
  const parts = { open, secrets, onRequest, onNotification, onBug };
  return { open: () => new InsideLink(parts) };
}

/** Makes all checks that don't need the process. */
function prepareProcess(config: ChildConfig, options: LinkParts): Opener {
  const command = expandCommand(config, options.variables ?? options.env);
  if (!isFolder(config.cwd)) throw explainMissingFolder(config);
  const { cwd } = config;
  const inherited = inheritedEnvironment(config, options.env, options.login);
  const env = withVariables(inherited, { ...command.env, ...options.mark });
  const plain = { cmd: command.cmd, args: command.args, cwd, env };
  const confined = config.sandbox && confine(plain, config, options);
  const started = confined?.command ?? plain;
  return { open: () => openProcess(config, command, started, options), confined };
}

/** Never starts a server without its sandbox. */
function confine(plain: GroupCommand, config: ChildConfig, options: LinkParts): Confined {
  if (!options.confine) throw new Error(`There is no sandbox for server "${config.name}".`);
  try {
    return options.confine(plain);
  } catch (error) {
    if (error instanceof SwitchboardError) throw error;
    throw explainSpawnError(error as NodeJS.ErrnoException, config);
  }
}

async function openProcess(
  config: ChildConfig,
  command: Command,
  started: GroupCommand,
  options: LinkParts,
): Promise<Link> {
  const { name, messageBytes, messageShape, timeouts } = config;
  const { framing, onStderr, onRequest, onNotification, onBug } = options;
  try {
    return await ProcessLink.open({
      name,
      command: started,
      framing,
      messageBytes,
      messageShape,
      stopMs: timeouts.stopMs,
      secrets: [
        ...commandSecrets(config, command, options.variables ?? options.env),
        ...secretsBehind(config, options.env),
      ],
      onStderr,
      onRequest,
      onNotification,
      onBug,
    });
  } catch (error) {
    throw explainSpawnError(error as NodeJS.ErrnoException, config);
  }
}

/** Makes all checks that don't need the network. */
async function prepareRemote(config: ChildConfig, options: LinkParts): Promise<Opener> {
  const env = options.variables ?? options.env;
  const remote = expandRemote(config, env);
  // Lazy: most setups have no remote servers.
  const { RemoteLink } = await import('./remote/remote-link.ts');
  const { credentials, inputSchemaOf, onStderr, onRequest, onNotification, onBug } = options;
  const events = { inputSchemaOf, onStderr, onRequest, onNotification, onBug };
  const link = new RemoteLink(config, remote, { ...events, credentials, env });
  return { open: () => link };
}
