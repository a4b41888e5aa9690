// The servers as commands such as `call` and `tools` use them: in this program, or through the background process.
import { SwitchboardError } from '../base/errors.ts';
import { settleWithin } from '../base/time.ts';
import type { CallContext } from '../calls/call.ts';
import { isUsable } from '../calls/usable.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { Switchboard } from '../switchboard.ts';

export interface ListedTool {
  readonly tool: Tool;
  /** Whether the user's rules allow it. */
  readonly isUsable: boolean;
}

export interface CommandServers {
  /** Starts the server if it doesn't run. */
  start(server: ChildConfig, context: Pick<CallContext, 'cancellation'>): Promise<void>;
  /** The server's current tools. */
  listTools(server: ChildConfig, context: CallContext): Promise<readonly ListedTool[]>;
  /** The tools to explain a failure with. A server isn't started again just for that. */
  knownTools(server: ChildConfig, context: CallContext): Promise<readonly Tool[] | undefined>;
  callTool(
    server: ChildConfig,
    subtool: string,
    args: Verbatim,
    context: CallContext,
  ): Promise<Verbatim>;
}

/** Limit for listing tools after a failure, in milliseconds. */
const LIST_MS = 2_000;

/** The servers of a Switchboard in this program. */
export class OwnServers implements CommandServers {
  readonly #switchboard: Switchboard;

  constructor(switchboard: Switchboard) {
    this.#switchboard = switchboard;
  }

  async start({ name }: ChildConfig, { cancellation }: Pick<CallContext, 'cancellation'>) {
    await this.#switchboard.pool.use(name, cancellation);
  }

  async listTools(server: ChildConfig, context: CallContext): Promise<readonly ListedTool[]> {
    const { board, pool } = this.#switchboard;
    const tools = await board.calls.listTools(server, context);
    return tools.map((tool) => ({ tool, isUsable: isUsable(tool, server, pool) }));
  }

  async knownTools(
    server: ChildConfig,
    context: CallContext,
  ): Promise<readonly Tool[] | undefined> {
    const { board, pool } = this.#switchboard;
    const { name } = server;
    const isRunning = pool.report(name).state === 'ready';
    const listed = isRunning && board.calls.listTools(server, context).catch(() => undefined);
    return (listed && (await settleWithin(listed, LIST_MS))) || pool.tools(name);
  }

  callTool(
    server: ChildConfig,
    subtool: string,
    args: Verbatim,
    context: CallContext,
  ): Promise<Verbatim> {
    return this.#switchboard.board.calls.send({
      server,
      method: 'tools/call',
      target: subtool,
      params: args,
      context,
      through: 'suite',
    });
  }
}

/** The call may have reached the server. */
export function backgroundEnded(): SwitchboardError {
  return new SwitchboardError(
    'CHILD_EXITED',
    'The background process of Switchboard ended before it responded. The call may or may not have run.',
    { hint: 'See: switchboard logs' },
  );
}
