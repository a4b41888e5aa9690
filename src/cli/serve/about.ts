// What a person is told who starts the server by hand.

/** `program` is the path of the running program: what a host has to start. */
export function aboutServing(program: string): string {
  const entry = { mcpServers: { switchboard: { command: 'node', args: [program] } } };
  return `Switchboard is an MCP server: a host such as Claude Code, Codex or Cursor starts it and
talks to it over stdin. This is a terminal, so there is nobody to talk to.

To use it, add it to your host, for example
  claude mcp add --scope user switchboard -- node ${program}
or, in a host's configuration file
  ${JSON.stringify(entry)}

To look at your servers from here
  node ${program} doctor        start each server and say what works
  node ${program} tools         list the tools of every server
  node ${program} --help        all commands
`;
}
