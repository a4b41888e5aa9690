// Starts one child: fills in its variables, starts its process, shakes hands. Either a child that
// can be used comes out, or an error that says what to do and no process.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { isFolder, minimalEnvironment } from '../base/process.ts';
import { createMask, type Mask } from '../base/secrets.ts';
import type { ChildConfig, Command } from '../config/config.ts';
import { expandCommand } from '../config/expand.ts';
import type { Framing } from '../rpc/framer.ts';
import { RpcError } from '../rpc/message.ts';
import { RpcTimeout } from '../rpc/peer.ts';
import { Child } from './child.ts';
import { explainEnd, explainMissingFolder, explainSilence, explainSpawnError } from './failures.ts';
import { shakeHands } from './handshake.ts';
import { Link, LinkEnded } from './link.ts';

export interface StartOptions {
  readonly framing: Framing;
  /** The framing of the next start, should this one end in silence; undefined if it is fixed. */
  readonly nextFraming: Framing | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** What is added to the environment so that the process can be found again. */
  readonly mark: Readonly<Record<string, string>>;
  /** Calls the start off. */
  readonly cancellation: Cancellation;
  readonly onProcess: (pid: number) => void;
  readonly onStderr: (line: string) => void;
  readonly onNotification: (method: string, params: unknown) => void;
  readonly onBug: (error: unknown) => void;
}

export async function startChild(config: ChildConfig, options: StartOptions): Promise<Child> {
  if (config.problem) throw config.problem;
  const command = expandCommand(config, options.env);
  if (!isFolder(config.cwd)) throw explainMissingFolder(config);
  const mask = createMask(Object.values(command.env));
  const link = await openLink(config, command, mask, options);
  options.onProcess(link.pid);
  // A start that is called off must not leave the process waiting for the handshake's limit.
  const stop = (): void => void link.stop();
  options.cancellation.listen(stop);
  try {
    const greeting = await shakeHands(link.peer, {
      childName: config.name,
      protocolVersion: config.protocolVersion,
      timeoutMs: config.timeouts.spawnMs,
      cancellation: options.cancellation,
    });
    return new Child(config, link, mask, greeting);
  } catch (error) {
    link.endOutput();
    const { printedJson, lastOutput } = link;
    stop();
    if (error instanceof LinkEnded) {
      throw explainEnd(error.end, config, lastOutput, 'starting');
    }
    if (error instanceof RpcTimeout) {
      throw explainSilence(config, {
        command: [command.cmd, ...command.args].map(mask).join(' '),
        printedJson,
        nextFraming: printedJson ? undefined : options.nextFraming,
        lastOutput,
      });
    }
    if (error instanceof RpcError) {
      throw new SwitchboardError(
        'CHILD_START_FAILED',
        `Server "${config.name}" refused the handshake: ${mask(error.message)} (${error.code}).`,
        { hint: `Run: switchboard doctor ${config.name}`, cause: error },
      );
    }
    throw error;
  }
}

async function openLink(
  config: ChildConfig,
  command: Command,
  mask: Mask,
  options: StartOptions,
): Promise<Link> {
  const inherited =
    config.environment === 'minimal' ? minimalEnvironment(options.env) : options.env;
  try {
    return await Link.open({
      name: config.name,
      command: {
        cmd: command.cmd,
        args: command.args,
        cwd: config.cwd,
        env: { ...inherited, ...command.env, ...options.mark },
      },
      framing: options.framing,
      messageBytes: config.messageBytes,
      stopMs: config.timeouts.stopMs,
      mask,
      onStderr: options.onStderr,
      onNotification: options.onNotification,
      onBug: options.onBug,
    });
  } catch (error) {
    throw explainSpawnError(error as NodeJS.ErrnoException, config, command.cmd);
  }
}
