// Starts one child: fills in its variables, starts its process, shakes hands. Either a child that
// can be used comes out, or an error that says what to do, and the process is stopped.
import type { Cancellation } from '../base/cancellation.ts';
import { SwitchboardError } from '../base/errors.ts';
import { isFolder, minimalEnvironment, withVariables } from '../base/process.ts';
import { createMask, type Mask } from '../base/secrets.ts';
import type { ChildConfig, Command } from '../config/config.ts';
import { expandCommand } from '../config/expand.ts';
import type { Framing } from '../rpc/framing.ts';
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
  /** All is in order, and the process is about to be started. */
  readonly onStarting: () => void;
  readonly onProcess: (pid: number) => void;
  /** The start has failed, and this is the end of what it had started. */
  readonly onStopping: (stopped: Promise<void>) => void;
  readonly onStderr: (line: string) => void;
  readonly onNotification: (method: string, params: unknown) => void;
  readonly onBug: (error: unknown) => void;
}

export async function startChild(config: ChildConfig, options: StartOptions): Promise<Child> {
  const command = expandCommand(config, options.env);
  if (!isFolder(config.cwd)) throw explainMissingFolder(config);
  options.onStarting();
  const secrets = Object.values(command.env);
  const link = await openLink(config, command, secrets, options);
  options.onProcess(link.pid);
  // A start that is called off must not leave the process waiting for the handshake's limit.
  const stop = (): void => options.onStopping(link.stop());
  options.cancellation.listen(stop);
  const mask = createMask(secrets);
  try {
    const greeting = await shakeHands(link.peer, {
      childName: config.name,
      protocolVersion: config.protocolVersion,
      timeoutMs: config.timeouts.spawnMs,
      cancellation: options.cancellation,
    });
    return new Child({ config, link, mask, greeting });
  } catch (error) {
    link.endOutput();
    stop();
    throw explainFailure(error, config, link, mask, options);
  } finally {
    options.cancellation.unlisten(stop);
  }
}

function explainFailure(
  error: unknown,
  config: ChildConfig,
  { printedJson, lastOutput }: Link,
  mask: Mask,
  { nextFraming }: StartOptions,
): unknown {
  if (error instanceof LinkEnded) return explainEnd(error.end, config, lastOutput, 'starting');
  if (error instanceof RpcTimeout) {
    const next = printedJson ? undefined : nextFraming;
    return explainSilence(config, { printedJson, nextFraming: next, lastOutput });
  }
  if (error instanceof RpcError) {
    return new SwitchboardError(
      'CHILD_START_FAILED',
      `Server "${config.name}" refused the handshake: ${mask(error.message).slice(0, 1_000)} (${error.code}).`,
      { hint: `Run: switchboard doctor ${config.name}`, cause: error },
    );
  }
  if (!(error instanceof SwitchboardError)) return error;
  const { code, message, hint } = error; // it may quote the child
  return new SwitchboardError(code, mask(message), { hint });
}

async function openLink(
  config: ChildConfig,
  command: Command,
  secrets: readonly string[],
  options: StartOptions,
): Promise<Link> {
  const { name, cwd, environment, messageBytes, timeouts } = config;
  const inherited = environment === 'minimal' ? minimalEnvironment(options.env) : options.env;
  const env = withVariables(inherited, { ...command.env, ...options.mark });
  const { framing, onStderr, onNotification, onBug } = options;
  try {
    return await Link.open({
      name,
      command: { cmd: command.cmd, args: command.args, cwd, env },
      framing,
      messageBytes,
      stopMs: timeouts.stopMs,
      secrets,
      onStderr,
      onNotification,
      onBug,
    });
  } catch (error) {
    throw explainSpawnError(error as NodeJS.ErrnoException, config);
  }
}
