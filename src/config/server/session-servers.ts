// Servers that keep state for one session, by package, program or image. Two sessions that share one would see each
// other's pages, terminals or thoughts, so by default each session starts its own. `share` overrides this list.

const BROWSER = 'it controls a browser';
const TERMINAL = 'it keeps terminals open';
const DEBUGGER = 'it keeps a program or a kernel running';
const STATE = 'it keeps state for one session';

/** Names as they appear in a command, without a version. */
export const SESSION_SERVERS: ReadonlyMap<string, string> = new Map([
  ...named(
    BROWSER,
    '@playwright/mcp',
    'playwright-mcp',
    'mcp-server-playwright',
    'mcr.microsoft.com/playwright/mcp',
    '@executeautomation/playwright-mcp-server',
    'chrome-devtools-mcp',
    '@modelcontextprotocol/server-puppeteer',
    'mcp/puppeteer',
    'puppeteer-mcp-server',
    '@browsermcp/mcp',
    'mcp-server-browsermcp',
    'browser-use',
    'browser-use-mcp-server',
    'mcp-browser-use',
    '@agent-infra/mcp-server-browser',
    '@angiejones/mcp-selenium',
    'mcp-selenium',
    '@browserbasehq/mcp',
    '@browserbasehq/mcp-server-browserbase',
    'mcp-server-browserbase',
    'hyperbrowser-mcp',
    'mcp-chrome-bridge',
  ),
  ...named(
    TERMINAL,
    '@wonderwhy-er/desktop-commander',
    'desktop-commander',
    '@mariozechner/terminalcp',
    'terminalcp',
    'tmux-mcp',
    'iterm-mcp',
  ),
  ...named(DEBUGGER, 'jupyter-mcp-server', 'mcp-server-gdb', 'mcp-debugger', 'xcodebuildmcp'),
  ...named(
    STATE,
    '@modelcontextprotocol/server-sequential-thinking',
    'mcp-server-sequential-thinking',
    'mcp/sequentialthinking',
    'serena',
    'serena-agent',
    'serena-mcp-server',
  ),
]);

function named(reason: string, ...names: string[]): [string, string][] {
  return names.map((name) => [name, reason]);
}
