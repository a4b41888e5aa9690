// Servers that are spoken to through an assistant, as a switchboard starts them: in the server's place a
// program of ours, which starts the server itself. To everything else it is a server like any other.
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { originalFile } from '../config/child-files.ts';
import type { ChildConfig, Command, Config } from '../config/config.ts';
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

function asStarted(child: ChildConfig, launch: Launch): ChildConfig {
  if (isAssistantFolder(child)) {
    const command = child.command && withoutConversation(child.command, launch);
    return { ...child, ...outerSettings(child, launch.env), command };
  }
  if (!child.assistant) return child;
  const { cmd, args } = launch.commandFor(child.name);
  return {
    ...child,
    ...outerSettings(child, launch.env),
    // Ours, and nothing to be filled in.
    command: { cmd: plain(cmd), args: args.map(plain), env: {} },
    remote: undefined,
    cwd: launch.cwd,
    // It needs the key of the model; the server behind it gets what it is to have.
    environment: 'inherit',
    stderr: 'inherit',
    framing: 'newline',
    protocolVersion: undefined,
    behind: child,
  };
}

/** What holds for the assistant itself: the rules for subtools are kept by it, on the server's own. */
function outerSettings({ assistant, timeouts }: ChildConfig, env: NodeJS.ProcessEnv) {
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

/** Whether a server's folder was laid out for an assistant, which its child file starts. */
function isAssistantFolder({ origin, command }: ChildConfig): boolean {
  if (basename(origin) !== '.mcp.json') return false;
  const isWrapper = command?.args.some((arg) => arg.endsWith('-claude-wrapper.mjs')) === true;
  return isWrapper && existsSync(originalFile(dirname(origin)));
}

function withoutConversation(command: Command, { hosts }: Launch): Command {
  if (hosts === 'one') return command;
  return { ...command, env: { ...command.env, SWITCHBOARD_SESSION_IDLE_MS: '0' } };
}

/** Variables in commands are filled in when they are run; in a path of ours there are none. */
function plain(text: string): string {
  return text.replaceAll('${', () => '$${');
}
