// What a person is told who starts the server by hand.

export const ABOUT_SERVE = `Switchboard is an MCP server: a host such as Claude Code, Codex or Cursor starts it and
talks to it over stdin. This is a terminal, so there is nobody to talk to.

To use it, add it to your host, for example
  claude mcp add switchboard -- npx -y switchboard
or, in a host's configuration file
  { "mcpServers": { "switchboard": { "command": "npx", "args": ["-y", "switchboard"] } } }

To look at your servers from here
  switchboard doctor        start each server and say what works
  switchboard tools         list the tools of every server
  switchboard --help        all commands
`;
