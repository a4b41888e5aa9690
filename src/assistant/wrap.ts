// Starts an assistant in place of its server: our own program, which then starts the server. To the rest of
// Switchboard it's a server like any other.
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ChildConfig, Command, Config } from '../config/config.ts';
import { originalFile, wrapperIn } from '../config/files/assistant-folder.ts';
import { withoutVariables } from '../config/server/expand.ts';
import { REMEMBERS } from '../config/server/share.ts';
import { NEWEST_REVISION } from '../mcp/revisions.ts';
import { settleAssistant } from './settings.ts';

export interface Launch {
  /** The command that starts a server's assistant. */
  readonly commandFor: (childName: string) => Pick<Command, 'cmd' | 'args'>;
  /** Several hosts would share one conversation. */
  readonly hosts: 'one' | 'many';
  /** Where this program was started, so that the assistant finds the same configuration. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Extra time for an assistant to report that its own limit was reached. */
const REPORT_MS = 15_000;

export function withAssistants(config: Config, launch: Launch): Config {
  const children = [...config.children.values()].map((child) => asStarted(child, launch));
  return { ...config, children: new Map(children.map((child) => [child.name, child])) };
}

/** The servers themselves, for commands that inspect them. */
export function withoutAssistants(config: Config): Config {
  const children = [...config.children.values()].map((child) => child.behind ?? child);
  return { ...config, children: new Map(children.map((child) => [child.name, child])) };
}

function asStarted(child: ChildConfig, launch: Launch): ChildConfig {
  // Someone else's wrapper is a server like any other.
  if (!child.behind && isForeignWrapper(child)) return withoutConversation(child, launch);
  const server = child.behind ?? (child.assistant && child);
  if (!server) return child;
  // Bypasses the wrapper in its folder, which would have to find the configuration by itself.
  const { cmd, args } = launch.commandFor(child.name);
  return {
    ...child,
    ...(child.rules && { rules: child.rules.forAssistant() }),
    ...outerSettings(child, server, launch.env),
    // No variables to expand, but the wrapper's own environment stays.
    command: {
      cmd: withoutVariables(cmd),
      args: args.map(withoutVariables),
      env: child.behind ? (child.command?.env ?? {}) : {},
    },
    remote: undefined,
    cwd: launch.cwd,
    isCwdGiven: true,
    // The assistant needs the model's API key. The server behind it gets its own environment.
    environment: 'inherit',
    ...(launch.hosts === 'one'
      ? { share: 'session', shareBecause: REMEMBERS }
      : { share: 'project', shareBecause: 'its assistant has no memory that hosts would share' }),
    stderr: 'inherit',
    framing: 'newline',
    // The assistant reads Switchboard's files. It starts the server in its sandbox.
    sandbox: undefined,
    // In the modern era, a call that waits for the user's answer couldn't be cancelled.
    protocolVersion: NEWEST_REVISION,
    behind: server,
  };
}

/** The assistant's own settings. It applies the rules for subtools itself. */
function outerSettings(
  { timeouts }: ChildConfig,
  { assistant }: ChildConfig,
  env: NodeJS.ProcessEnv,
) {
  const { timeoutMs } = settleAssistant(assistant, env);
  return {
    expose: { allow: undefined, deny: undefined },
    timeouts: {
      ...timeouts,
      rpcMs: Math.max(timeouts.rpcMs, timeoutMs + REPORT_MS),
      // It needs time to stop its own server in the same three steps.
      stopMs: 2 * timeouts.stopMs + 500,
    },
  };
}

/** Whether a server's file starts a wrapper, and its folder still has the original file. */
function isForeignWrapper({ origin, command }: ChildConfig): boolean {
  if (basename(origin) !== '.mcp.json') return false;
  return wrapperIn({ command }) !== undefined && existsSync(originalFile(dirname(origin)));
}

/** It may be ours with changes by the user, and several hosts may share it. */
function withoutConversation(child: ChildConfig, { hosts }: Launch): ChildConfig {
  const { command } = child;
  if (hosts === 'one' || !command) return child;
  const env = { ...command.env, SWITCHBOARD_SESSION_IDLE_MS: '0' };
  return { ...child, command: { ...command, env } };
}
