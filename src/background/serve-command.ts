// A command of the user's, such as `call`, as a session: it uses the servers through a project of its own, so its
// configuration, permissions and trust apply as always.
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { Log } from '../base/log.ts';
import { isObject } from '../base/object.ts';
import type { CallContext } from '../calls/call.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Caller, Question } from '../mcp/caller.ts';
import { unknownChild } from '../pool/pool.ts';
import type { Project } from '../project.ts';
import { METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import type { IncomingRequest, Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { CALL_EVENT, COMMAND, createCommandPeer, packOutcome } from './command-link.ts';
import { OwnServers } from './command-servers.ts';
import type { EntryLink } from './link.ts';

/** A command that doesn't read gets no more progress, so that a busy server can't fill our memory. */
const MOST_UNREAD_BYTES = 1 << 20;
/** A command has no requests that could be lost. */
const NO_RECEIPT = { readBytes: 0, opened: [], closed: [] };

/** Resolves when the command is done or gone. */
export async function serveCommand(
  link: EntryLink,
  project: Project,
  log: Log,
  signalled: Promise<void>,
): Promise<void> {
  const onBug = (error: unknown): void => log.error(describeBug(error));
  const isBehind = (): boolean => link.stream.writableLength > MOST_UNREAD_BYTES;
  const { peer, read } = createCommandPeer({
    send: (json) => link.sendMessages(NO_RECEIPT, `${json}\n`, 'utf8'),
    onRequest: (request) => packOutcome(answer(request, project, { peer, isBehind })),
    onNotification: () => {},
    onBug,
  });
  const stopped = new Promise<void>((resolve) => {
    link.listen({ onStop: resolve, onReload: () => {}, onBug });
  });
  const fail = (error: unknown): void => {
    onBug(error);
    link.stream.destroy();
  };
  link.input.on('data', guard(fail, read));
  await Promise.race([stopped, signalled, link.closed]);
  peer.close(new Error('The command has ended.'));
}

async function answer(
  request: IncomingRequest,
  project: Project,
  { peer, isBehind }: { readonly peer: Peer; readonly isBehind: () => boolean },
): Promise<Verbatim> {
  const { method, params, cancellation, id } = request;
  const given = isObject(params?.value) ? params.value : {};
  const server = serverNamed(project, given['server']);
  const servers = new OwnServers(project.switchboard);
  const context: CallContext = {
    cancellation,
    caller: new CommandCaller(peer, given['capabilities']),
    onProgress: ({ value }) => {
      if (isBehind()) return;
      const progress = { ...(isObject(value) ? value : {}), progressToken: id };
      peer.notify('notifications/progress', Verbatim.of(progress));
    },
  };
  switch (method) {
    case COMMAND.start:
      await servers.start(server, context);
      return Verbatim.of({});
    case COMMAND.listTools:
      return Verbatim.of(await servers.listTools(server, { cancellation }));
    case COMMAND.knownTools:
      return Verbatim.of((await servers.knownTools(server, { cancellation })) ?? null);
    case COMMAND.callTool: {
      const args = params?.member('arguments') ?? Verbatim.of({});
      return servers.callTool(server, String(given['subtool']), args, context);
    }
    default:
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
  }
}

/** The configuration may have changed since the command has read it. */
function serverNamed({ config: { children } }: Project, name: unknown): ChildConfig {
  const server = typeof name === 'string' ? children.get(name) : undefined;
  if (!server) throw unknownChild(String(name), [...children.keys()]);
  return server;
}

/** The user at the command's terminal. */
class CommandCaller implements Caller {
  readonly party = this;
  readonly era = 'handshake';
  readonly info = undefined;
  readonly logLevel = undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly #peer: Peer;

  constructor(peer: Peer, capabilities: unknown) {
    this.#peer = peer;
    this.capabilities = isObject(capabilities) ? capabilities : {};
  }

  ask({ method, params, cancellation }: Question): Promise<Verbatim> {
    const question = Verbatim.fromText(
      `{"method":${JSON.stringify(method)}${params ? `,"params":${params.text}` : ''}}`,
    );
    const waiting = { timeoutMs: Infinity, cancellation }; // a user may take any time
    return this.#peer.request(CALL_EVENT.ask, question, waiting);
  }

  noteMissing(): void {
    // The call reports the refusal itself.
  }

  log(): void {
    // Commands don't want it.
  }

  pageVisited(params: Verbatim): void {
    this.#peer.notify(CALL_EVENT.pageVisited, params);
  }
}
