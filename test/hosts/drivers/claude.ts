// Claude Code, headless: `claude -p`.
import { join } from 'node:path';
import { wholeLines } from '../../support/lines.ts';
import { messages } from '../model/messages.ts';
import { type HostDriver, PROMPT, SERVER } from './driver.ts';

/** An Elicitation hook answers questions with this, and appends them to a file. */
const REPLY = { action: 'accept', content: { name: 'Anna' } };
const QUESTIONS_FILE = 'host/questions.jsonl';

export const claude: HostDriver = {
  id: 'claude',
  api: messages,
  relists: true,
  toolSearch: 'ToolSearch',
  cannot: { defaultPolicy: 'headless, it refuses every MCP tool that no rule allows' },
  notes: { question: 'answered by an `Elicitation` hook' },
  reply: REPLY,
  questions: ({ dir }) =>
    wholeLines(join(dir, QUESTIONS_FILE)).map(
      (line) => (JSON.parse(line) as { message: string }).message,
    ),
  prepare({ project, program, modelUrl, entry, approval }) {
    const server =
      'url' in entry
        ? { type: 'http', url: entry.url, headers: { Authorization: `Bearer ${entry.token}` } }
        : { type: 'stdio', ...entry };
    const config = project.write('host/mcp.json', { mcpServers: { [SERVER]: server } });
    const answer = project.write('host/answer.json', {
      hookSpecificOutput: { hookEventName: 'Elicitation', ...REPLY },
    });
    const command = `(cat; echo) >> '${project.dir}/${QUESTIONS_FILE}'; cat '${answer}'`;
    const settings = project.write('host/settings.json', {
      hooks: { Elicitation: [{ hooks: [{ type: 'command', command }] }] },
    });
    const allow = ['--allowedTools', `mcp__${SERVER}`];
    const permissions = {
      all: allow,
      default: [],
      plan: [...allow, '--permission-mode', 'plan'],
    };
    return {
      command: program,
      args: [
        '-p',
        PROMPT,
        '--mcp-config',
        config,
        '--strict-mcp-config',
        '--settings',
        settings,
        '--output-format',
        'stream-json',
        '--verbose',
        ...permissions[approval],
      ],
      env: {
        CLAUDE_CONFIG_DIR: `${project.dir}/host/claude`,
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: 'sk-loopback',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
        MCP_TIMEOUT: '120000', // for busy machines
      },
    };
  },
  nameOf: (tool) => ({ tool: `mcp__${SERVER}__${tool}` }),
};
