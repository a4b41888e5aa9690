// An assistant and the server behind it, wherever the assistant runs.
import { Assistant, type AssistantParts } from '../assistant/assistant.ts';
import type { ToolServer } from '../assistant/choose.ts';
import { depthMark, refuseTooDeep } from '../assistant/depth.ts';
import { millisecondsIn, settleAssistant } from '../assistant/settings.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import { toolboxFor } from '../surface/assistant.ts';
import type { Switchboard } from '../switchboard.ts';
import { assistantCommand, type OwnCommandOptions } from './own-program.ts';

/** The server itself, as its assistant uses it. `isDirect`: a program with its own tool loop uses it. */
export function serverOf(
  declared: ChildConfig,
  env: NodeJS.ProcessEnv,
  isDirect: boolean,
): ChildConfig {
  // If the folder was set up for an assistant, its declaration is that assistant.
  const server = declared.behind ?? declared;
  if (server.problem?.code === 'APPROVAL_NEEDED') throw server.problem;
  const { timeouts, idleMs } = server;
  return {
    ...server,
    show: isDirect ? 'direct' : 'suite',
    start: 'lazy',
    idleMs: millisecondsIn(env, 'SWITCHBOARD_INTELLIGENT_IDLE_MS', 0) ?? idleMs,
    timeouts: {
      ...timeouts,
      rpcMs: millisecondsIn(env, 'SWITCHBOARD_CHILD_TIMEOUT_MS', 1) ?? timeouts.rpcMs,
    },
    wrapResults: 'mcp',
  };
}

interface OwnParts extends Pick<AssistantParts, 'env' | 'toolServer' | 'log'> {
  /** False if several hosts would share one conversation. */
  readonly hasConversation?: boolean;
}

/** Throws if it's nested too deeply. */
export function createAssistant(
  { pool, board, processes }: Switchboard,
  server: ChildConfig,
  { env, toolServer, log, hasConversation = true }: OwnParts,
): Assistant {
  refuseTooDeep(env, server.name);
  const settings = settleAssistant({ role: server.role, ...server.assistant }, env);
  return new Assistant({
    childName: server.name,
    settings: hasConversation ? settings : { ...settings, conversationMs: 0 },
    env,
    toolServer,
    processes,
    openToolbox: toolboxFor(pool, board.calls, server),
    log,
  });
}

interface ToolServerPlace {
  /** Where the server is declared, if not by its name. */
  readonly folder?: string | undefined;
  /** Whether it uses the processes that the user's sessions share. */
  readonly isShared?: boolean;
}

/** Starts Switchboard again with the server's own tools. */
export function toolServerFor(
  name: string,
  { project, home }: Pick<Config, 'project' | 'home'>,
  own: OwnCommandOptions,
  { folder, isShared = false }: ToolServerPlace = {},
): ToolServer {
  const which = folder === undefined ? ['--', name] : ['--folder', folder];
  const { cmd, args } = assistantCommand(own, [
    '--tools',
    ...(isShared ? ['--shared'] : []),
    ...which,
  ]);
  const env = { WORKSPACE_DIR: project, SWITCHBOARD_HOME: home, ...depthMark(own.env, true) };
  return { command: cmd, args, env };
}
