// What `--help` prints below a command's options.

export const EXAMPLES = `
Examples:
  switchboard                                   serve MCP, as hosts start it
  switchboard doctor                            start each server and report problems
  switchboard tools memory                      list the tools of one server
  switchboard call memory.read_graph            call a tool
  switchboard call memory.search_nodes query=tea
  switchboard status                            see what is running
  switchboard show memory flip                  list its tools only while it is activated
  switchboard agents                            list agents and what they may use
  switchboard run agent_review "Review the last commit"
  switchboard assistant memory on               talk to it in plain language

Exit status: 0 success, 1 bug, 2 usage or configuration error, 3 server error, 4 tool error,
5 agent error, 130 interrupted.
Files: switchboard.config.json in the project and in $SWITCHBOARD_HOME (~/.switchboard).
`;

const AGENT_NAMES = `the agent's tool name, with or without the prefix (agent_review, review),
or its name in the file (Review)`;
export const ABOUT_AGENTS = `
[agent] is ${AGENT_NAMES}.
`;
export const ABOUT_RUN = `
<agent> is ${AGENT_NAMES}.
If the task starts with a dash, put it after --: switchboard run review -- "--help me"
`;

export const ABOUT_TOOLS = `
Shows each tool with its parameters: name(required: string, optional?: "a" | "b" = "a").
With [tool], shows its full description and schema.
`;

export const ABOUT_CALL = `
<tool> is <server>.<tool>, or <server> <tool>. Arguments are one of:
  key=value      typed by the tool's schema; repeat a key for a list
  key:=json      JSON, regardless of the schema
  '{"a": 1}'     all arguments as JSON, or - to read them from stdin

Examples:
  switchboard call memory.search_nodes query=tea
  switchboard call files.read_text_file path=notes.md head=20
  switchboard call memory search_nodes '{"query": "tea"}'
`;

export const ABOUT_ALONE =
  'serve from a process of its own, without the background process (or: SWITCHBOARD_ALONE=1)';

export const ABOUT_EXPLAIN = `
<tool> can also be a prompt or the URI of a resource.
`;

export const ABOUT_SHOW = `
[how] is suite, flip, direct or off.
`;

export const ABOUT_CHANGES = `
Switchboard compares each tool, each prompt and the instructions of a server with the version you
last accepted. With "toolChanges": "hold", changed ones are hidden until you accept them:
  switchboard changes accept                    accept everything
  switchboard changes accept memory             accept one server's changes
  switchboard changes accept memory read_graph  accept one tool or prompt, or "instructions"
`;
export const ABOUT_SCAN = `
Hard findings hide a tool until you accept it with "switchboard changes accept"; notes don't.
Exit status: 0 no hard findings, 3 a server didn't start, 4 hard findings.
`;

export const ABOUT_TRUST = `
[action] is list (the default), diff, approve, deny or revoke. [names] are names or hashes from the list.
Files from a git repository need your approval before Switchboard uses them, and again after each change.
`;

export const ABOUT_STOP = `
A server that was stopped starts again with its next use. Sessions continue with a new background
process, but calls in flight fail.
`;

export const ABOUT_ASSISTANT = `
[state] is on, off or status (the default).
`;

export const ABOUT_AUDIT = `
Without [action], shows the latest entries. [action] is one of:
  verify   report lines that were edited, removed, moved or cut off; exits with 2 if there are any
  export   print all entries as JSON, one per line
`;
