// Reads a file as the agent it is. Loaded only when there is a file to be read.
import type { Dialect } from '../agent.ts';
import { parseChatmode } from './chatmode.ts';
import { parseClaude } from './claude.ts';
import { parseCodexToml } from './codex-toml.ts';
import { parseCopilot } from './copilot.ts';
import type { AgentFile, Draft } from './draft.ts';
import { parseSwitchboardToml } from './switchboard-toml.ts';

const PARSERS: Record<Dialect, (file: AgentFile) => Promise<Draft>> = {
  'switchboard-toml': parseSwitchboardToml,
  'codex-toml': parseCodexToml,
  claude: parseClaude,
  chatmode: parseChatmode,
  copilot: parseCopilot,
};

/** Throws an `AgentFileError` for a file that is no agent. */
export function parseAgentFile(dialect: Dialect, file: AgentFile): Promise<Draft> {
  return PARSERS[dialect](file);
}
