// Parses an agent file of any format. Lazy: loaded only if there is a file to parse.
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

/** Throws an `AgentFileError` if the file isn't an agent. */
export async function parseAgentFile(dialect: Dialect, file: AgentFile): Promise<Draft> {
  const { text } = file;
  if (!isReadable(text)) {
    throw new AgentFileError(1, 'The file is not UTF-8. Save it as UTF-8.');
  }
  const draft = await PARSERS[dialect](file);
  const at = text.indexOf(UNREADABLE);
  if (at === -1) return draft;
  const line = text.slice(0, at).split('\n').length;
  const warning = `${line}: A character is not valid UTF-8 and was lost. Save the file as UTF-8.`;
  return { ...draft, warnings: [...draft.warnings, warning] };
}

/** The replacement for invalid bytes. */
const UNREADABLE = '\ufffd';
