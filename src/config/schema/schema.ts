// How the configuration may be written. This is the one description of it: the JSON schema, with
// which files are checked and which editors use, and the reference in docs/configuration.md are made
// from it (`npm run generate`), and it finds the words for what is wrong in a file. Nothing is
// filled in or changed here; resolve.ts says what it all means.
//
// Only its types may be imported on the way to serving: building it costs some 10 ms (measured).
import * as z from 'zod/mini';
import { SHOWS, STARTS } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { agentsSchema } from './agents-schema.ts';
import { assistantSchema } from './assistant-schema.ts';
import { atLeastOne, idleMilliseconds, key, milliseconds, text, texts } from './schema-parts.ts';

/** A message is one string, and V8 has none much longer than this. */
const MOST_BYTES = 512 * 1024 * 1024;

const environment = z.enum(['inherit', 'minimal']);
const results = z.strictObject({
  wrap: key(
    z.enum(['mcp', 'json']),
    '`mcp`: results reach the host as the server gave them. `json`: each result is put as JSON into one text.',
    DEFAULTS.wrap,
  ),
});
const expose = z.strictObject({
  allow: key(
    texts,
    'Only these tools of the server can be seen and called. `*` stands for any text. Unset: all.',
  ),
  deny: key(
    texts,
    'These tools can be neither seen nor called, even where `allow` names them. `*` stands for any text. Upper and lower case are the same, and so are `-`, `_` and spaces.',
  ),
});

/** What can be said about a child wherever it is declared, and in `suites.<name>` over that. */
const childKeys = {
  show: key(
    z.enum(SHOWS),
    'How the host sees the server. `suite`: as one tool. `flip`: its own tools, while it is switched on with `gateway_activate`. `direct`: its own tools, always. `off`: not at all. Unset: `suite`; for a server of a `servers.json`, `flip`.',
  ),
  start: key(
    z.enum(STARTS),
    'When the server is started: on first use, or as soon as the host is connected. Unset: `lazy`; with `show` `flip`, `eager`.',
  ),
  idleMs: key(
    idleMilliseconds,
    'The server is stopped after so many milliseconds without a call, and started again when it is needed. 0: never. Unset: 600000; with `show` `flip` or `start` `eager`, 0.',
  ),
  suiteName: key(text, 'The name of the tool that stands for this server. Unset: `<name>_suite`.'),
  description: key(z.string(), 'What the server is good for, in words for the model.'),
  keywords: key(
    texts,
    'Words by which hosts that hide tools find the one that stands for this server; the model does not see them.',
  ),
  expose: key(expose, 'Which tools of the server can be used.'),
  readOnlyTool: key(
    z.boolean(),
    'Adds a second tool, `<suite>_read`, that lists and calls only the tools the server marks as read-only. Hosts can run it without asking.',
    false,
  ),
  summaryMaxChars: key(
    atLeastOne,
    'The longest summary of a tool of this server, in characters. Unset: `introspection.summaryMaxChars`.',
  ),
  rpcTimeoutMs: key(
    milliseconds,
    'How long this server may take to answer a request, in milliseconds. Unset: `timeouts.rpcMs`.',
  ),
  framing: key(
    z.enum(['auto', 'newline', 'content-length']),
    'How messages to this server are set apart: one on each line, or with a `Content-Length` header. `auto` begins with lines and tries headers if the server stays silent.',
    DEFAULTS.framing,
  ),
  stderr: key(
    z.enum(['inherit', 'log', 'drop']),
    "What happens to the server's stderr. `inherit`: it is passed on to ours, each line with the server's name before it. `log`: it goes into a file in `$SWITCHBOARD_HOME/logs`. `drop`: it is thrown away. The last lines appear in errors in any case, and secrets are masked.",
    DEFAULTS.stderr,
  ),
  protocolVersion: key(
    z.enum(['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']),
    'The MCP revision to offer to this server, for one that refuses newer ones. Unset: the newest.',
  ),
  environment: key(
    environment,
    'As `environment` at the top, for this server alone. Unset: what stands there.',
  ),
  results: key(
    results,
    'As `results` at the top, for this server alone. Unset: what stands there.',
  ),
  assistant: key(
    z.union([z.boolean(), assistantSchema]),
    'The host speaks to the server in plain language: in place of its tools there is one, `natural_language`, behind which a model uses them. `true`, or an object with settings.',
    false,
  ),
};

const args = texts;
// Hosts' files have ports and switches as numbers and booleans here.
const env = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const command = z.union([
  text,
  z.looseObject({
    cmd: text.check(z.meta({ description: 'The program.' })),
    args: key(args, 'Its arguments.', []),
    env: key(env, 'Environment variables for it.', {}),
  }),
]);

const oauth = z.looseObject({
  clientId: key(text, 'The client id to use. Unset: Switchboard registers itself.'),
  clientSecret: key(text, 'Its secret, if it has one.'),
  scopes: key(texts, 'What to ask for. Unset: what the server says it needs.'),
  callbackPort: key(
    z.int().check(z.minimum(1), z.maximum(65_535)),
    'The port on this machine to which the browser is sent back. Unset: a free one.',
  ),
});

const entryKeys = {
  command: key(
    command,
    'The program that is the server, with `args` and `env` beside it or, as `{ "cmd", "args", "env" }`, within. Not run through a shell.',
  ),
  args: key(args, 'Arguments of the program.', []),
  env: key(env, 'Environment variables for the program.', {}),
  cwd: key(
    text,
    'The folder the program runs in. Unset: the project; for a child file, the folder of that file. A relative path starts at the same place.',
  ),
  disabled: key(
    z.boolean(),
    'Switches the server off, as `show` `off` does; it is what hosts write. `suites.<name>.show` can switch it on again.',
    false,
  ),
  type: key(
    z.string(),
    'How a server with a `url` is spoken to: `http` (Streamable HTTP, or the older HTTP with server-sent events if it knows only that), `sse` (the older one at once) or `ws` (WebSocket). Unset: `ws` for an address that begins so, otherwise `http`. A server with a `command` speaks over stdio.',
  ),
  url: key(
    text,
    'The address of a server that is reached over the network. An entry has either a `url` or a `command`.',
  ),
  headers: key(
    z.record(z.string(), z.string()),
    'HTTP headers for every request to `url`. Their values are treated as secrets.',
    {},
  ),
  oauth: key(oauth, 'For signing in with `switchboard login`, where the server at `url` needs it.'),
  ...childKeys,
};

export const suiteSchema = z.strictObject(childKeys);

/** An entry of `mcpServers`: open, because pasted entries carry keys of the host they come from. */
export const serverSchema = z.looseObject(entryKeys);

/** A `.mcp.json` in the folder of a server. */
export const childFileSchema = z.looseObject({
  name: text.check(z.meta({ description: 'The name of the server. Required.' })),
  switchboardDescription: key(
    z.string(),
    'The whole description of the tool that stands for this server. Wins over every other description.',
  ),
  ...entryKeys,
});

const timeouts = z.strictObject({
  childSpawnMs: key(
    milliseconds,
    'How long a server may take from its start to the end of the handshake. Unset, with a package runner such as `npx`, `uvx` or `docker` as command: `timeouts.rpcMs`, since it may have to download first.',
    DEFAULTS.timeouts.childSpawnMs,
  ),
  rpcMs: key(
    milliseconds,
    'How long a server may take to answer a request.',
    DEFAULTS.timeouts.rpcMs,
  ),
  stopMs: key(
    milliseconds,
    'How long to wait after each step of stopping a server: end of input, then SIGTERM, then SIGKILL. When a host closes its end of stdio, calls still have this long to finish.',
    DEFAULTS.timeouts.stopMs,
  ),
  questionMs: key(
    milliseconds,
    'How long the user of a host may take to answer what a server asks in the course of a call.',
    DEFAULTS.timeouts.questionMs,
  ),
});

const limits = z.strictObject({
  messageBytes: key(
    z.int().check(z.minimum(1024), z.maximum(MOST_BYTES)),
    'The largest message accepted from a host or a server, in bytes.',
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
    '`summary`: name, short description and input schema of each tool. `full`: everything the server says. `redacted`: names and short descriptions alone.',
    DEFAULTS.introspection.mode,
  ),
  summaryMaxChars: key(
    atLeastOne,
    'The longest summary of a tool, in characters.',
    DEFAULTS.introspection.summaryMaxChars,
  ),
});

const flip = z.strictObject({
  suites: key(
    z.enum(['auto', 'always', 'never']),
    'Whether servers with `show` `flip` are listed as suites, too, through which their tools can be called without being listed. `auto`: for hosts known to ignore a changed list (Codex).',
    DEFAULTS.flipSuites,
  ),
});

/** A `servers.json`: servers by name, and nothing else. */
export const serversFileSchema = z.record(z.string(), serverSchema);

export const configSchema = z.strictObject({
  $schema: key(z.string(), 'Where editors find the schema of this file. Not read by Switchboard.'),
  mcpServers: key(
    z.record(z.string(), serverSchema),
    "The servers, by name, in the shape of the hosts' own files.",
    {},
  ),
  suites: key(
    z.record(z.string(), suiteSchema),
    'Settings for servers by name, wherever those are declared. They win over what the declaration says.',
    {},
  ),
  serversFile: key(
    text,
    'A `servers.json` to read instead of those at the usual places. Relative to the project; `~/` is possible.',
  ),
  discoverGlobs: key(
    z.array(text),
    'Where child files are looked for, instead of the default places. Relative to the project; `~/` and absolute paths are possible.',
    DEFAULTS.discoverGlobs,
  ),
  era: key(
    z.enum(['auto', 'handshake', 'modern']),
    'Which revisions of MCP hosts are offered: those that begin with a handshake, those since 2026-07-28, or both. `auto`: both, or only the older ones if a server has `show` `flip`, since only they allow the tool list to change.',
    DEFAULTS.era,
  ),
  flip: key(flip, 'About servers that are switched on and off.'),
  timeouts: key(timeouts, 'Time limits, in milliseconds.'),
  limits: key(limits, 'Limits on messages from hosts and servers.'),
  introspection: key(introspection, "What the action `introspect` says about a server's tools."),
  environment: key(
    environment,
    'What servers get of our own environment: all of it, or only what programs need to run (`PATH`, `HOME` and the like). What `env` names is added.',
    DEFAULTS.environment,
  ),
  results: key(results, 'How results of tools are handed on.'),
  agents: key(agentsSchema, 'Agents as tools: see docs/agents.md.'),
});

export type ConfigFile = z.infer<typeof configSchema>;
export type SuiteKeys = z.infer<typeof suiteSchema>;
export type ServerEntry = z.infer<typeof serverSchema>;
export type ServersFile = z.infer<typeof serversFileSchema>;
export type ChildFile = z.infer<typeof childFileSchema>;
