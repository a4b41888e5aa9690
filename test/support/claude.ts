// A fake `claude` that knows as much of `claude mcp` as an installation needs, and records its calls. Like
// the real one it keeps servers in `.claude.json`, never adds one twice, and fails to remove a missing one.
import { chmodSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { wholeLines } from './lines.ts';
import type { Project } from './project.ts';

const PROGRAM = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { CLAUDE_CALLS, CLAUDE_FAILS, CLAUDE_CONFIG_DIR, HOME } = process.env;
const [group, action, ...rest] = process.argv.slice(2);
appendFileSync(CLAUDE_CALLS, JSON.stringify(process.argv.slice(2)) + '\\n');
const file = join(CLAUDE_CONFIG_DIR || HOME, '.claude.json');
const content = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const servers = content.mcpServers ?? {};
const fail = (text) => { console.error(text); process.exit(1); };
if (CLAUDE_FAILS?.split(' ').includes(action)) fail('\\u001b[31mThe disk is full.\\u001b[0m');
if (CLAUDE_FAILS === 'hang') setInterval(() => {}, 1000);
else if (action === 'remove') {
  const [name] = rest;
  if (!servers[name]) fail('No user-scoped MCP server found with name: ' + name);
  delete servers[name];
} else if (action === 'add') {
  const [command, ...args] = rest.slice(rest.indexOf('--') + 1);
  const name = rest[rest.indexOf('--') - 1];
  if (servers[name]) fail('MCP server ' + name + ' already exists in user config');
  // Like the real one: -e takes everything up to the next option.
  const variables = rest.includes('-e') ? rest.slice(rest.indexOf('-e') + 1, rest.indexOf('-s')) : [];
  if (rest.indexOf('-e') > rest.indexOf('-s')) fail('Invalid environment variable format: ' + name);
  const env = Object.fromEntries(variables.map((variable) => variable.split('=')));
  servers[name] = { type: 'stdio', command, args, env };
} else if (action === 'add-json') {
  const [name, json] = rest.slice(-2);
  servers[name] = JSON.parse(json);
}
if (CLAUDE_FAILS !== 'hang') writeFileSync(file, JSON.stringify({ ...content, mcpServers: servers }));
`;

export interface FakeClaude {
  readonly env: Record<string, string>;
  /** The arguments of each call so far. */
  calls(): string[][];
}

/** Installs it in the project and returns a PATH with nothing else. */
export function createClaude(project: Project): FakeClaude {
  const calls = join(project.dir, 'claude-calls.jsonl');
  chmodSync(project.write('bin/claude', PROGRAM), 0o755);
  mkdirSync(project.env['HOME'] ?? '', { recursive: true });
  return {
    env: { PATH: join(project.dir, 'bin'), CLAUDE_CALLS: calls },
    calls: () => wholeLines(calls).map((line) => JSON.parse(line) as string[]),
  };
}

/** A PATH with these folders before the system's own. */
export function pathWith(...folders: string[]): string {
  return [...folders, '/usr/bin', '/bin'].join(delimiter);
}
