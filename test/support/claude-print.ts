// A fake `claude` that answers `claude -p` like the real one and records its arguments, its stdin and its
// server file. `CLAUDE_DOES` selects what else it does.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { pathWith } from './claude.ts';
import { wholeLines } from './lines.ts';
import type { Project } from './project.ts';

const PROGRAM = `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs');
const { spawn } = require('node:child_process');
const args = process.argv.slice(2);
const { CLAUDE_CALLS, CLAUDE_DOES = '' } = process.env;
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(CLAUDE_CODE|CLAUDECODE|MCP_)/.test(name)));
const input = readFileSync(0, 'utf8');
const [, system = ''] = /^<instructions>\\n([^]*)\\n<\\/instructions>\\n\\n/.exec(input) ?? [];
const query = input.replace(/^<instructions>[^]*<\\/instructions>\\n\\n/, '').replace(/^<query>\\n([^]*)\\n<\\/query>$/, '$1');
const file = args[args.indexOf('--mcp-config') + 1];
const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
appendFileSync(CLAUDE_CALLS, JSON.stringify({ args, input, system, query, mcpServers, cwd: process.cwd(), env }) + '\\n');
const tell = (event) => process.stdout.write(JSON.stringify(event) + '\\n');
const begin = (status) => tell({ type: 'system', subtype: 'init', mcp_servers: Object.keys(mcpServers).map((name) => ({ name, status })) });
const answer = (result, more = {}) => tell({
  type: 'result', subtype: 'success', is_error: false, result, num_turns: 3,
  session_id: 'session-' + query.length,
  usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 2 }, ...more,
});
/** Talks to its MCP server as a client, if it has one. */
async function callTools() {
  const [[serverName, { command, args, env }]] = Object.entries(mcpServers);
  const server = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  const waiting = new Map();
  server.stdout.on('data', (chunk) => {
    text += chunk;
    const lines = text.split('\\n');
    text = lines.pop();
    for (const line of lines) { const message = JSON.parse(line); waiting.get(message.id)?.(message); }
  });
  server.once('exit', (code) => {
    if (code === 0) return;
    begin('failed');
    setTimeout(() => answer('All of this is made up.'), 60000);
  });
  const ask = (id, method, params) => new Promise((resolve) => {
    waiting.set(id, resolve);
    server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\\n');
  });
  await ask(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'claude', version: '1' } });
  server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\\n');
  const { result: { tools } } = await ask(2, 'tools/list', {});
  begin('connected');
  const use = async (id, name) => {
    tell({ type: 'assistant', message: { content: [{ type: 'tool_use', id: 'use-' + id, name: 'mcp__' + serverName + '__' + name, input: {} }] } });
    const { result, error } = await ask(id, 'tools/call', { name, arguments: {} });
    const content = result?.content ?? error.message;
    const isError = Boolean(error ?? result?.isError);
    tell({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'use-' + id, content, is_error: isError }] } });
    return result;
  };
  await use(3, 'open_nodes');
  const result = await use(4, 'read_graph');
  server.stdin.end();
  await new Promise((resolve) => server.once('exit', resolve));
  answer(JSON.stringify({ tools: tools.map(({ name }) => name), graph: result.content[0].text }));
}
if (CLAUDE_DOES === 'use-tools') callTools();
else if (CLAUDE_DOES === 'hang') setInterval(() => {}, 1000);
else if (CLAUDE_DOES === 'fail') { console.error('Invalid API key · Please run /login'); process.exit(1); }
else if (CLAUDE_DOES === 'too-many') answer(undefined, { subtype: 'error_max_turns', is_error: true });
else if (CLAUDE_DOES === 'error') answer('Credit balance is too low', { is_error: true });
else answer(CLAUDE_DOES || 'You asked: ' + query);
`;

interface ClaudeCall {
  readonly args: string[];
  /** Its whole input; the parts are below. */
  readonly input: string;
  /** Its instructions. */
  readonly system: string;
  readonly query: string;
  readonly mcpServers: Record<string, { command: string; args: string[] }>;
  readonly cwd: string;
  /** Its variables that concern `claude` and MCP. */
  readonly env: Readonly<Record<string, string>>;
}

export interface PrintingClaude {
  readonly env: Record<string, string>;
  calls(): ClaudeCall[];
}

export function createPrintingClaude(project: Project): PrintingClaude {
  const file = join(project.dir, 'claude-calls.jsonl');
  chmodSync(project.write('bin/claude', PROGRAM), 0o755);
  return {
    // As inside Claude Code.
    env: {
      PATH: pathWith(join(project.dir, 'bin')),
      CLAUDE_CALLS: file,
      CLAUDECODE: '1',
      CLAUDE_CODE_SESSION_ID: 'of-the-host',
    },
    calls: () => wholeLines(file).map((line) => JSON.parse(line) as ClaudeCall),
  };
}
