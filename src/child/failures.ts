// Error messages for servers that don't start, fail a request or stop working. They name the server and its task.
import { SwitchboardError } from '../base/errors.ts';
import { type Mask, maskValue } from '../base/secrets.ts';
import type { ChildConfig } from '../config/config.ts';
import { programBeforeArguments, suggestArgs } from '../config/server/command.ts';
import { URL_ELICITATION_REQUIRED } from '../mcp/eras.ts';
import { signElicitationsIn } from '../mcp/questions.ts';
import { RpcError } from '../rpc/message.ts';
import { RpcTimeout } from '../rpc/requests.ts';
import type { ExceededLimit } from '../rpc/shape.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { type Link, type LinkEnd, LinkEnded } from './link.ts';
import { isTooDeep } from './list-pages.ts';

/** The operating system could not start the command. */
export function explainSpawnError(
  error: NodeJS.ErrnoException,
  config: ChildConfig,
): SwitchboardError {
  const cmd = config.command?.cmd ?? '';
  const program = error.code === 'ENOENT' ? programBeforeArguments(cmd) : undefined;
  if (program !== undefined) return explainArguments(error, config, program);
  const reasons: Record<string, string> = {
    ENOENT: `${cmd} was not found`,
    EACCES: `${cmd} is not executable`,
    E2BIG: 'its arguments and environment are too long',
    EMFILE: 'too many files are open',
    EAGAIN: 'too many processes are running',
  };
  const reason = reasons[error.code ?? ''] ?? `${cmd} failed with ${error.code ?? error.message}`;
  return new SwitchboardError(
    'CHILD_START_FAILED',
    `Server "${config.name}" did not start: ${reason}.`,
    {
      hint: wayOut(error, cmd, config.origin),
      cause: error,
    },
  );
}

/** Hosts that use a shell accept a whole command line as the command. Don't quote it: it may contain a key. */
function explainArguments(
  cause: Error,
  { name, origin }: ChildConfig,
  program: string,
): SwitchboardError {
  return new SwitchboardError(
    'CHILD_START_FAILED',
    `Server "${name}" did not start: its command contains spaces, and there is no such program.`,
    { hint: `${suggestArgs(program)} in ${origin}.`, cause },
  );
}

function wayOut({ code }: NodeJS.ErrnoException, cmd: string, origin: string): string {
  if (code === 'EACCES') {
    return `Make it executable, or start it with its interpreter: "command" in ${origin}.`;
  }
  const isLookedFor = code === 'ENOENT' && !/[\\/]/.test(cmd);
  if (!isLookedFor) return `Check "command" in ${origin}.`;
  // Often it's installed, but the host doesn't find it.
  return `Install it, or set its full path as "command" in ${origin}: hosts often have a shorter PATH than your terminal.`;
}

export function explainMissingFolder(config: ChildConfig): SwitchboardError {
  return new SwitchboardError(
    'CHILD_START_FAILED',
    `Server "${config.name}" did not start: its working directory (cwd) ${config.cwd} does not exist.`,
    { hint: `Check "cwd" in ${config.origin}.` },
  );
}

/** The server ended while `task`. */
export function explainEnd(
  end: LinkEnd,
  config: ChildConfig,
  lastOutput: string,
  task: string,
): SwitchboardError {
  const { name } = config;
  const again = "It restarts the next time it's used.";
  const words =
    lastOutput === '' ? 'It printed nothing on stderr.' : `Its last output:\n${lastOutput}`;
  switch (end.kind) {
    case 'exited': {
      const how =
        end.signal === null ? `exited with code ${end.code}` : `was killed (${end.signal})`;
      return new SwitchboardError('CHILD_EXITED', `Child MCP ${name} ${how} while ${task}.`, {
        hint: `${again} ${words}`,
        data: { child: name, exitCode: end.code, signal: end.signal },
      });
    }
    case 'closed-output':
      return new SwitchboardError(
        'CHILD_EXITED',
        `Server "${name}" closed its output while ${task}.`,
        {
          hint: `${again} ${words}`,
        },
      );
    case 'closed-input':
      return new SwitchboardError(
        'CHILD_EXITED',
        `Server "${name}" closed its input while ${task}.`,
        { hint: `${again} ${words}` },
      );
    case 'unread-input':
      return new SwitchboardError(
        'CHILD_PROTOCOL',
        `Server "${name}" did not read its input (${end.bytes} bytes were waiting) and was stopped.`,
        { hint: again },
      );
    case 'unreadable':
      return new SwitchboardError(
        'CHILD_PROTOCOL',
        `Server "${name}" sent ${end.bytes} bytes without completing a message and was stopped.`,
        { hint: again },
      );
    case 'disconnected': {
      const reason = end.reason === undefined ? '' : ` (${end.reason})`;
      return new SwitchboardError(
        'CHILD_UNREACHABLE',
        `Server "${name}" ended the connection while ${task}${reason}.`,
        { hint: 'Switchboard reconnects the next time the server is used.', data: { child: name } },
      );
    }
    case 'oversized': {
      const limit = { name: 'messageBytes', most: config.messageBytes } as const;
      const { message, hint } = explainOversize(name, limit);
      return new SwitchboardError('MESSAGE_TOO_LARGE', message, {
        hint: `${hint} The connection was closed; Switchboard reconnects the next time the server is used.`,
      });
    }
    case 'released':
      return new SwitchboardError('CANCELLED', `This session no longer uses server "${name}".`, {
        hint: 'Call it again.',
        data: { child: name },
      });
    case 'failed':
      return new SwitchboardError(
        'CHILD_PROTOCOL',
        `Switchboard failed to handle a message from server "${name}" and closed the connection.`,
        {
          hint: "It restarts the next time it's used. The details are in Switchboard's log on stderr.",
        },
      );
  }
}

/** An answer exceeds a limit; only the request it belongs to fails. */
export function explainOversize(name: string, limit: ExceededLimit): SwitchboardError {
  const what = {
    messageBytes: `larger than ${limit.most} bytes`,
    depth: `nested more than ${limit.most} levels deep`,
    members: `with more than ${limit.most} array elements and object members`,
  };
  return new SwitchboardError(
    'MESSAGE_TOO_LARGE',
    `Server "${name}" sent a message ${what[limit.name]}.`,
    { hint: `Request less data at once, or raise limits.${limit.name} in the configuration.` },
  );
}

/** The server is running but didn't answer the handshake in time. */
export function explainSilence(
  config: ChildConfig,
  wait: {
    hasSpoken: boolean;
    nextFraming: string | undefined;
    wasTriedInBoth: boolean;
    lastOutput: string;
  },
): SwitchboardError {
  const { name, origin, timeouts } = config;
  const asksToProceed = /ok to proceed\?/i.test(wait.lastOutput);
  const ways = [
    asksToProceed
      ? 'It is waiting for confirmation: add "--yes" to its arguments.'
      : `If it needs longer to start, raise timeouts.childSpawnMs (server declared in ${origin}).`,
    wait.hasSpoken ? '' : explainFraming(wait),
    wait.lastOutput === '' ? '' : `Its last output:\n${wait.lastOutput}`,
  ];
  return new SwitchboardError(
    'CHILD_START_FAILED',
    `Server "${name}" did not respond to the handshake within ${timeouts.spawnMs} ms (command: ${commandLine(config)}).`,
    { hint: ways.filter(Boolean).join(' '), data: { child: name, silent: !wait.hasSpoken } },
  );
}

function explainFraming(wait: {
  nextFraming: string | undefined;
  wasTriedInBoth: boolean;
}): string {
  if (wait.wasTriedInBoth) {
    return 'It printed no JSON with either newline or content-length framing.';
  }
  if (wait.nextFraming === undefined) return '';
  return `It printed no JSON, so its next start uses ${wait.nextFraming} framing; set "framing" to choose one.`;
}

/** The URL seems reachable, but the handshake got no answer in time. */
export function explainRemoteSilence({ name, origin, timeouts }: ChildConfig): SwitchboardError {
  return new SwitchboardError(
    'CHILD_START_FAILED',
    `Server "${name}" did not respond to the handshake within ${timeouts.spawnMs} ms.`,
    {
      hint: `Check "url" in ${origin}; if it needs longer, raise timeouts.childSpawnMs.`,
      data: { child: name },
    },
  );
}

/** As configured: the values of its variables may be secret. */
function commandLine({ command }: ChildConfig): string {
  return command ? [command.cmd, ...command.args].join(' ') : '';
}

/** Why a request failed; `task` says what the server was doing. */
export function explainRequest(
  error: unknown,
  task: string,
  config: ChildConfig,
  { mask, lastOutput }: Link,
): unknown {
  const { name, origin, timeouts } = config;
  if (error instanceof RpcError) {
    const data = error.data && maskData(error.data, mask);
    const asksToVisit = error.code === URL_ELICITATION_REQUIRED;
    return new RpcError(
      error.code,
      `${mask(error.message)} (server "${name}", ${task})`,
      data && asksToVisit ? signElicitationsIn(data, name) : data,
    );
  }
  if (error instanceof RpcTimeout) {
    return new SwitchboardError(
      'CHILD_TIMEOUT',
      `${error.message}: server "${name}" did not respond within ${timeouts.rpcMs} ms (${task}).`,
      {
        hint: `If it needs longer, raise rpcTimeoutMs for it (declared in ${origin}).`,
        cause: error,
      },
    );
  }
  if (error instanceof LinkEnded) {
    return explainEnd(error.end, config, lastOutput, `working on ${task}`);
  }
  return error;
}

/** Error data without secrets. It's rewritten only if it contains one. */
function maskData(data: Verbatim, mask: Mask): Verbatim | undefined {
  if (mask(data.text) === data.text) return data;
  // Too deep to serialize: leave it out.
  return isTooDeep(data.text) ? undefined : Verbatim.of(maskValue(data.value, mask));
}
