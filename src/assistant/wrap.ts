// Servers that are spoken to through an assistant, as a switchboard starts them: in the server's place a
// program of ours, which starts the server itself. To everything else it is a server like any other.
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ChildConfig, Command, Config } from '../config/config.ts';
import { originalFile, wrapperIn } from '../config/files/laid-out.ts';
import { NEWEST_REVISION } from '../mcp/revisions.ts';
import { settleAssistant } from './settings.ts';

export interface Launch {
  /** Starts the assistant of a server. */
  readonly commandFor: (childName: string) => Pick<Command, 'cmd' | 'args'>;
  /** Hosts that share this program would share a conversation, too. */
  readonly hosts: 'one' | 'many';
  /** Where this program was started, so that the assistant finds the same configuration. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What an assistant needs beyond its own limit, to say that it was reached. */
const LAST_WORD_MS = 15_000;

export function withAssistants(config: Config, launch: Launch): Config {
  const children = [...config.children.values()].map((child) => asStarted(child, launch));
  return { ...config, children: new Map(children.map((child) => [child.name, child])) };
}

/** The servers themselves, for those who look at them and not at what speaks for them. */
export function withoutAssistants(config: Config): Config {
  const children = [...config.children.values()].map((child) => child.behind ?? child);
  return { ...config, children: new Map(children.map((child) => [child.name, child])) };
}

function asStarted(child: ChildConfig, launch: Launch): ChildConfig {
  // A wrapper that is not ours, or no longer: a server like any other.
  if (!child.behind && isForeignWrapper(child)) return withoutConversation(child, launch);
  const server = child.behind ?? (child.assistant && child);
  if (!server) return child;
  // Not through the wrapper in its folder, which would have to find the configuration by itself.
  const { cmd, args } = launch.commandFor(child.name);
  return {
    ...child,
    ...outerSettings(child, server, launch.env),
    // Ours, and nothing to be filled in; but what the wrapper is to have is for it.
    command: {
      cmd: plain(cmd),
      args: args.map(plain),
      env: child.behind ? (child.command?.env ?? {}) : {},
    },
    remote: undefined,
    cwd: launch.cwd,
    isCwdGiven: true,
    // It needs the key of the model; the server behind it gets what it is to have.
    environment: 'inherit',
    stderr: 'inherit',
    framing: 'newline',
    // In the newer era a call that waits for an answer of the user's could not be called off.
    protocolVersion: NEWEST_REVISION,
    behind: server,
  };
}

/** What holds for the assistant itself: the rules for subtools are kept by it, on the server's own. */
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
      rpcMs: Math.max(timeouts.rpcMs, timeoutMs + LAST_WORD_MS),
      // Time for it to end its own server in the same three steps.
      stopMs: 2 * timeouts.stopMs + 500,
    },
  };
}

/** Whether a server's file starts what is called a wrapper, beside what is called an original. */
function isForeignWrapper({ origin, command }: ChildConfig): boolean {
  if (basename(origin) !== '.mcp.json') return false;
  return wrapperIn({ command }) !== undefined && existsSync(originalFile(dirname(origin)));
}

/** It may well be ours with a line of the user's in it, and several hosts be behind us. */
function withoutConversation(child: ChildConfig, { hosts }: Launch): ChildConfig {
  const { command } = child;
  if (hosts === 'one' || !command) return child;
  const env = { ...command.env, SWITCHBOARD_SESSION_IDLE_MS: '0' };
  return { ...child, command: { ...command, env } };
}

/** Variables in commands are filled in when they are run; in a path of ours there are none. */
function plain(text: string): string {
  return text.replaceAll('${', () => '$${');
}
