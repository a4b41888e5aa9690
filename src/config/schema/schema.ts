// The schema of the configuration files. `npm run generate` derives the JSON schema (which checks files and helps
// editors) and the reference in docs/configuration.md from it; problems.ts uses it to explain mistakes. It fills in
// no defaults: resolve.ts does.
//
// Only its types may be imported on the start path: building it takes about 10 ms (measured).
import * as z from 'zod/mini';
import { ENVIRONMENTS, RESULT_SECRETS, SHARES, SHOWS, STARTS, TOOL_CHANGES } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { agentsSchema } from './agents-schema.ts';
import { assistantSchema } from './assistant-schema.ts';
import {
  atLeastOne,
  idleMilliseconds,
  key,
  MOST_BYTES,
  milliseconds,
  nonEmpty,
  strings,
} from './schema-parts.ts';
import {
  auditSchema,
  hooksSchema,
  permissionsSchema,
  sandboxSchema,
  trustSchema,
} from './trust-schema.ts';

const environment = z.enum(ENVIRONMENTS);
const results = z.strictObject({
  wrap: key(
    z.enum(['mcp', 'json']),
    '`mcp`: pass results through unchanged. `json`: return each result as JSON in a single text block.',
    DEFAULTS.wrap,
  ),
  secrets: key(
    z.enum(RESULT_SECRETS),
    "What to do with secrets in results: the server's configured values, and well-known tokens such as GitHub's. `pass`: nothing. `note`: add a note to the result. `mask`: replace them with `***`. A project can't relax the setting in your own file.",
    DEFAULTS.resultSecrets,
  ),
});
const expose = z.strictObject({
  allow: key(strings, 'Expose only these tools. `*` matches any characters. Default: all tools.'),
  deny: key(
    strings,
    'Hide these tools and refuse calls to them. Takes precedence over `allow`. `*` matches any characters; case is ignored, and `-`, `_` and spaces are equivalent.',
  ),
});
const toolChanges = z.enum(TOOL_CHANGES);

/** Keys of a server, both where it is declared and in `suites.<name>`, which takes precedence. */
const childKeys = {
  show: key(
    z.enum(SHOWS),
    'How hosts see the server. `suite`: as one tool. `flip`: its own tools, while it is activated with `gateway_activate`. `direct`: its own tools, always. `off`: not at all. Default: `suite`, or `flip` for servers in a `servers.json`.',
  ),
  start: key(
    z.enum(STARTS),
    'When to start the server. `lazy`: on first use. `eager`: as soon as a host connects. Default: `lazy`, or `eager` if `show` is `flip`.',
  ),
  idleMs: key(
    idleMilliseconds,
    'Stop the server after this many milliseconds without a call. It is restarted on the next one. 0: never. Default: 600000, or 0 if `show` is `flip` or `start` is `eager`.',
  ),
  suiteName: key(nonEmpty, 'Name of the suite tool. Default: `<name>_suite`.'),
  description: key(z.string(), 'What the server is good for. The model reads this.'),
  keywords: key(
    strings,
    "Keywords that help hosts with tool search find the suite tool. The model doesn't see them.",
  ),
  expose: key(expose, 'Which tools of the server to expose.'),
  readOnly: key(
    z.boolean(),
    "Lists and calls only the tools the server marks as read-only. A project can't turn this off for your own servers.",
    false,
  ),
  readOnlyTool: key(
    z.boolean(),
    'Adds a second tool, `<suite>_read`, that lists and calls only the tools the server marks as read-only. Hosts can run it without asking.',
    false,
  ),
  summaryMaxChars: key(
    atLeastOne,
    'Maximum length of a tool summary, in characters. Default: `introspection.summaryMaxChars`.',
  ),
  rpcTimeoutMs: key(
    milliseconds,
    'Time limit for a request to this server, in milliseconds. Default: `timeouts.rpcMs`.',
  ),
  framing: key(
    z.enum(['auto', 'newline', 'content-length']),
    "How messages are framed: one per line, or with a `Content-Length` header. `auto` starts with lines and tries headers if the server doesn't respond.",
    DEFAULTS.framing,
  ),
  stderr: key(
    z.enum(['inherit', 'log', 'drop']),
    "Where the server's stderr goes. `inherit`: to Switchboard's stderr, each line prefixed with the server's name. `log`: to a file in `$SWITCHBOARD_HOME/logs/servers`. `drop`: nowhere. Error messages always include the last lines. Secrets are masked.",
    DEFAULTS.stderr,
  ),
  protocolVersion: key(
    z.enum(['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']),
    'MCP revision to offer this server, in case it rejects newer ones. Default: the newest.',
  ),
  environment: key(environment, 'Overrides the top-level `environment` for this server.'),
  passEnv: key(
    z.array(nonEmpty),
    'Names of environment variables the server gets from each session, whatever `environment` says. Sessions with different values get their own process.',
    [],
  ),
  share: key(
    z.enum(SHARES),
    "Which sessions share the server's process: all of the `user`'s, those in the same `project`, or none (`session`). Default: `user` for servers from your own files that run in your home folder or at a URL, `session` for browsers and other servers known to keep state for one session, `project` for all others.",
  ),
  lingerMs: key(
    idleMilliseconds,
    'Keep the server running for this many milliseconds after the last session that uses it has ended.',
    DEFAULTS.lingerMs,
  ),
  maxMemoryMb: key(
    atLeastOne,
    'Restart the server between calls when it uses more memory than this, in MB. Default: no limit.',
  ),
  toolChanges: key(toolChanges, 'Overrides the top-level `toolChanges` for this server.'),
  results: key(results, 'Overrides the top-level `results` for this server.'),
  redact: key(
    strings,
    'Arguments to keep out of everything Switchboard writes, as JSONPath: `$.apiKey`, `$.users[*].password`, `$..token`. The server still gets them. Their values are masked in its stderr and in errors. Paths from all files apply.',
    [],
  ),
  sandbox: key(
    z.union([z.boolean(), sandboxSchema]),
    "Run the server in a sandbox: it can change only the project and caches, and can't read your keys or other programs' sign-ins. `true`, or an object with settings. Linux and macOS. See docs/sandbox.md.",
    false,
  ),
  sandboxEnabled: key(
    z.boolean(),
    "VS Code's switch for `sandbox`. `false` ignores the settings next to it.",
  ),
  assistant: key(
    z.union([z.boolean(), assistantSchema]),
    "Replace the server's tools with one tool, `natural_language`: a model uses the tools to answer requests in plain language. `true`, or an object with settings.",
    false,
  ),
};

const args = strings;
// Hosts' files contain ports and flags as numbers and booleans.
const env = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const command = z.union([
  nonEmpty,
  z.looseObject({
    cmd: nonEmpty.check(z.meta({ description: 'Program to run.' })),
    args: key(args, 'Arguments for the program.', []),
    env: key(env, 'Environment variables for the program.', {}),
  }),
]);

const oauth = z.looseObject({
  clientId: key(nonEmpty, 'OAuth client ID. Default: Switchboard registers itself as a client.'),
  clientSecret: key(nonEmpty, 'OAuth client secret, if the client has one.'),
  scopes: key(strings, 'Scopes to request. Default: the scopes the server asks for.'),
  callbackPort: key(
    z.int().check(z.minimum(1), z.maximum(65_535)),
    'Local port for the redirect after sign-in. Default: any free port.',
  ),
});

const entryKeys = {
  command: key(
    command,
    'Program that runs the server. Use `args` and `env` next to it, or an object `{ "cmd", "args", "env" }`. Not run in a shell.',
  ),
  args: key(args, 'Arguments for the program.', []),
  env: key(env, 'Environment variables for the program.', {}),
  cwd: key(
    nonEmpty,
    "Working directory of the program. `${project}` is the project. Relative paths are relative to it or, in a child file, to the file's folder. Default: the project; for child files, their folder; for servers in your own files, your home directory. See [Where servers run](#where-servers-run).",
  ),
  disabled: key(
    z.boolean(),
    'Turns the server off, like `show` set to `off`. Hosts write this key. `suites.<name>.show` overrides it.',
    false,
  ),
  type: key(
    z.string(),
    'Transport for a server with a `url`: `http` (Streamable HTTP, falling back to the older HTTP+SSE), `sse` (HTTP+SSE only) or `ws` (WebSocket). Default: `ws` for `ws://` and `wss://` URLs, otherwise `http`. Servers with a `command` use stdio.',
  ),
  url: key(nonEmpty, 'URL of a remote server. Set either `url` or `command`.'),
  headers: key(
    z.record(z.string(), z.string()),
    'HTTP headers for every request to `url`. Values are treated as secrets.',
    {},
  ),
  oauth: key(
    oauth,
    'Settings for `switchboard login`, if the server at `url` requires signing in.',
  ),
  ...childKeys,
};

export const suiteSchema = z.strictObject(childKeys);

/** An entry of `mcpServers`. Loose, because pasted entries contain keys of the host they come from. */
export const serverSchema = z.looseObject(entryKeys);

/** A `.mcp.json` in the folder of a server. */
export const childFileSchema = z.looseObject({
  name: nonEmpty.check(z.meta({ description: 'Name of the server. Required.' })),
  switchboardDescription: key(
    z.string(),
    'Complete description of the suite tool. Takes precedence over all other descriptions.',
  ),
  ...entryKeys,
});

const timeouts = z.strictObject({
  childSpawnMs: key(
    milliseconds,
    'Time limit for starting a server, including the handshake. If unset and the command is a package runner such as `npx`, `uvx` or `docker`, `timeouts.rpcMs` applies, since it may have to download the server first.',
    DEFAULTS.timeouts.childSpawnMs,
  ),
  rpcMs: key(milliseconds, 'Time limit for a request to a server.', DEFAULTS.timeouts.rpcMs),
  stopMs: key(
    milliseconds,
    'Time to wait between the steps of stopping a server: end of input, SIGTERM, SIGKILL. Also the time calls have to finish after a host closes stdin.',
    DEFAULTS.timeouts.stopMs,
  ),
  questionMs: key(
    milliseconds,
    'Time limit for the user to answer a question a server asks during a call.',
    DEFAULTS.timeouts.questionMs,
  ),
});

const limits = z.strictObject({
  messageBytes: key(
    z.int().check(z.minimum(1024), z.maximum(MOST_BYTES)),
    'Maximum size of a message from a host or server, in bytes.',
    DEFAULTS.messageBytes,
  ),
  depth: key(
    atLeastOne,
    'Maximum nesting depth of a message larger than 64 KB.',
    DEFAULTS.messageShape.depth,
  ),
  members: key(
    atLeastOne,
    'Maximum number of array elements and object members in a message larger than 64 KB.',
    DEFAULTS.messageShape.members,
  ),
});

const introspection = z.strictObject({
  mode: key(
    z.enum(['summary', 'full', 'redacted']),
    '`summary`: name, short description and input schema of each tool. `full`: also the description, title, output schema and annotations. `redacted`: only names and short descriptions.',
    DEFAULTS.introspection.mode,
  ),
  summaryMaxChars: key(
    atLeastOne,
    'Maximum length of a tool summary, in characters.',
    DEFAULTS.introspection.summaryMaxChars,
  ),
});

const flip = z.strictObject({
  suites: key(
    z.enum(['auto', 'always', 'never']),
    'Also list servers with `show` set to `flip` as suites, so their tools can be called without being listed. `auto`: only for hosts known to ignore tool list changes (Codex).',
    DEFAULTS.flipSuites,
  ),
});

/** A `servers.json`: servers by name. */
export const serversFileSchema = z.record(z.string(), serverSchema);

export const configSchema = z.strictObject({
  $schema: key(z.string(), 'Schema for editors. Switchboard ignores it.'),
  mcpServers: key(
    z.record(z.string(), serverSchema),
    'Servers by name, in the same format hosts use.',
    {},
  ),
  suites: key(
    z.record(z.string(), suiteSchema),
    'Settings for servers by name, wherever they are declared. Take precedence over the declaration.',
    {},
  ),
  serversFile: key(
    nonEmpty,
    '`servers.json` to read instead of the default ones. Relative to the project; `~/` works.',
  ),
  discoverGlobs: key(
    z.array(nonEmpty),
    'Glob patterns for child files, relative to the project; `~/` and absolute paths work.',
    DEFAULTS.discoverGlobs,
  ),
  era: key(
    z.enum(['auto', 'handshake', 'modern']),
    'MCP revisions to offer hosts. `handshake`: revisions up to 2025-11-25. `modern`: 2026-07-28 and later. `auto`: both, or only `handshake` if a server has `show` set to `flip`, because only those revisions let the tool list change.',
    DEFAULTS.era,
  ),
  flip: key(flip, 'Settings for servers with `show` set to `flip`.'),
  timeouts: key(timeouts, 'Time limits, in milliseconds.'),
  limits: key(limits, 'Limits on messages from hosts and servers.'),
  introspection: key(introspection, "What `introspect` returns about a server's tools."),
  toolChanges: key(
    toolChanges,
    'What to do when a server changes a tool, a prompt or its instructions. `scan`: accept the change if the scanner finds nothing suspicious, and note it. `hold`: hide the changed tool until you accept it with `switchboard changes accept`. `off`: neither scan nor track tools. A project can only make this stricter than your own file. See docs/changes.md.',
    DEFAULTS.toolChanges,
  ),
  environment: key(
    environment,
    "Environment variables that servers inherit. `inherit`: those of the session, except variables that belong to one session or carry its credentials. `minimal`: only those programs need to run, such as `PATH` and `HOME`. `login`: those your login shell exports. `env` and `passEnv` are added to each. A project can't change `minimal` in your own file. See docs/sharing.md.",
    DEFAULTS.environment,
  ),
  maxMemoryMb: key(
    atLeastOne,
    'Limit for all servers together, in MB. Above it, the server that uses the most memory is restarted between calls. Default: no limit.',
  ),
  shared: key(
    z.boolean(),
    'Serve hosts from one background process for all sessions. With `false` in any file, each session has a process of its own. Can also be turned off with `--alone` or `SWITCHBOARD_ALONE=1`.',
    true,
  ),
  watch: key(
    z.boolean(),
    'Apply changes to configuration and agent files while sessions run. With `false` in any file, or with `SWITCHBOARD_WATCH=0`, they are applied by `switchboard reload`.',
    true,
  ),
  results: key(results, 'How tool results are returned.'),
  permissions: key(
    permissionsSchema,
    'Which tools, prompts and resources can be used. Rules are `server`, `server__tool`, `server__@read` (also `@write`, `@destructive`, `@open`) or patterns with `*`. If several files have permissions, the strictest decision counts. See docs/permissions.md.',
  ),
  audit: key(
    z.union([z.boolean(), auditSchema]),
    'Write a tamper-evident log of calls, decisions, starts and stops to `$SWITCHBOARD_HOME/audit`. `true`, or an object with settings. Only in the user file. See docs/audit.md.',
    false,
  ),
  hooks: key(
    hooksSchema,
    "Programs to run before and after tool calls. Yours run first, then the project's, once you have approved them. See docs/hooks.md.",
  ),
  trust: key(
    trustSchema,
    "Which of a project's files need approval. Works only in the user file, `$SWITCHBOARD_HOME/switchboard.config.json`. See docs/approvals.md.",
  ),
  agents: key(agentsSchema, 'Agents as tools. See docs/agents.md.'),
});

export type ConfigFile = z.infer<typeof configSchema>;
export type SuiteKeys = z.infer<typeof suiteSchema>;
export type ServerEntry = z.infer<typeof serverSchema>;
export type ServersFile = z.infer<typeof serversFileSchema>;
export type ChildFile = z.infer<typeof childFileSchema>;
