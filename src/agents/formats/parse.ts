// Reads a file as the agent it is. Loaded only when there is a file to be read.
import type { Dialect } from '../agent.ts';
import { parseChatmode } from './chatmode.ts';
import { parseClaude } from './claude.ts';
import { parseCodexToml } from './codex-toml.ts';
import { parseCopilot } from './copilot.ts';
import { type AgentFile, AgentFileError, type Draft, isReadable } from './draft.ts';
import { parseSwitchboardToml } from './switchboard-toml.ts';

const PARSERS: Record<Dialect, (file: AgentFile) => Promise<Draft>> = {
  'switchboard-toml': parseSwitchboardToml,
  'codex-toml': parseCodexToml,
  claude: parseClaude,
  chatmode: parseChatmode,
  copilot: parseCopilot,
};

/** Throws an `AgentFileError` for a file that is no agent. */
export async function parseAgentFile(dialect: Dialect, file: AgentFile): Promise<Draft> {
  const { text } = file;
  if (!isReadable(text)) {
    throw new AgentFileError(
      1,
      'It is not written in UTF-8, as some editors do. Save it as UTF-8.',
    );
  }
  const draft = await PARSERS[dialect](file);
  const at = text.indexOf(UNREADABLE);
  if (at === -1) return draft;
  const line = text.slice(0, at).split('\n').length;
  const warning = `${line}: A character is not written in UTF-8 and was lost. Save the file as UTF-8.`;
  return { ...draft, warnings: [...draft.warnings, warning] };
}

/** What stands for bytes that are no character. */
const UNREADABLE = '\ufffd';
