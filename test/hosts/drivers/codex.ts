// Codex, headless: `codex exec`.
import { responses } from '../model/responses.ts';
import { type HostDriver, type McpEntry, PROMPT, SERVER } from './driver.ts';

/** From Codex's own catalog, so MCP tools are hidden behind its tool search. */
const MODEL = 'gpt-5.5';
const SUITES = 'through the suite, since it does not refresh its tool list';
const TOKEN_VARIABLE = 'SWITCHBOARD_HTTP_TOKEN';

export const codex: HostDriver = {
  id: 'codex',
  api: responses,
  relists: false,
  toolSearch: 'tool_search',
  cannot: { planMode: 'headless, it has no plan mode' },
  notes: {
    listed: 'found by its tool search',
    question: 'headless, it declines every question',
    flip: SUITES,
    httpFlip: SUITES,
    reload: 'new tools appear in the next session',
  },
  reply: { action: 'decline' },
  prepare({ project, program, modelUrl, entry, approval }) {
    const approvals = approval === 'all' ? 'default_tools_approval_mode = "approve"' : '';
    const config = [
      `model = "${MODEL}"`,
      'model_provider = "loopback"',
      'check_for_update_on_startup = false',
      '[analytics]',
      'enabled = false',
      '[model_providers.loopback]',
      'name = "loopback"',
      `base_url = "${modelUrl}/v1"`,
      'wire_api = "responses"',
      'requires_openai_auth = false',
      'supports_websockets = false',
      `[mcp_servers.${SERVER}]`,
      'required = true',
      'startup_timeout_sec = 120', // for busy machines
      approvals,
      ...entryLines(entry),
    ];
    project.write('host/codex/config.toml', config.join('\n'));
    return {
      command: program,
      args: ['exec', '--skip-git-repo-check', '--json', '-C', project.dir, PROMPT],
      env: {
        CODEX_HOME: `${project.dir}/host/codex`,
        ...('url' in entry && { [TOKEN_VARIABLE]: entry.token }),
      },
    };
  },
  nameOf: (tool) => ({ tool, namespace: `mcp__${SERVER}` }),
};

function entryLines(entry: McpEntry): string[] {
  if ('url' in entry) {
    return [`url = "${entry.url}"`, `bearer_token_env_var = "${TOKEN_VARIABLE}"`];
  }
  return [
    `command = ${JSON.stringify(entry.command)}`,
    `args = ${JSON.stringify(entry.args)}`,
    `[mcp_servers.${SERVER}.env]`,
    ...Object.entries(entry.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
  ];
}
