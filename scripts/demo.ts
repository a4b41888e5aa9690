// Shows what Switchboard does, in a few seconds and on one screen: starts the built program in a
// temporary project with two servers, sends what a host sends, and prints each answer, the running
// processes and the tokens saved. Every claim is checked; a wrong one fails the demo.
//
//   npm run demo
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { Client, stopAll, stopAtSignal } from './bench/client.ts';
import { countTextTokens, countToolTokens, type Tool } from './bench/count.ts';
import { BUILT_PROGRAM, realServer, type Server, Workspace } from './bench/workspace.ts';

const MOCK: Server = {
  name: 'mock',
  description: 'pretend browser tools',
  args: [fileURLToPath(new URL('../examples/mock-child/index.mjs', import.meta.url))],
};
const MEMORY: Server = {
  ...realServer('memory'),
  description: 'remembering facts across conversations',
};

/** Windows has no `ps`, so the processes aren't checked there. */
const canSeeProcesses = process.platform !== 'win32';

const NEW_ENTITY = {
  name: 'Switchboard',
  entityType: 'program',
  observations: ['shows one tool for each server'],
};

const hasColour = process.stdout.isTTY && !process.env['NO_COLOR'];
const paint =
  (style: 'bold' | 'dim' | 'green' | 'cyan') =>
  (text: string): string =>
    hasColour ? styleText(style, text) : text;
const bold = paint('bold');
const dim = paint('dim');
const green = paint('green');
const cyan = paint('cyan');

function say(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function demonstrate(workspace: Workspace): Promise<void> {
  say(bold('Switchboard in front of two servers: mock (an example) and memory (a real one)'), '');

  const direct = [
    ...(await askDirectly(workspace, MOCK)),
    ...(await askDirectly(workspace, MEMORY)),
  ];
  const client = new Client(workspace.switchboard('project', [MOCK, MEMORY]));
  await client.shakeHands();
  const suites = toolsOf(await client.request('tools/list'));
  say(
    step(1, 'The host lists its tools. It gets one tool per server, and no server is running yet:'),
  );
  for (const { name, description = '' } of suites) say(`   ${cyan(name)}  ${dim(description)}`);
  check(suites.length === 2, 'There are two suites.');
  check(serversOf(client.pid).length === 0, 'No server runs yet.');
  say(runs(client.pid), '');

  const introspect = { action: 'introspect' };
  const introspection = textOf(await call(client, introspect));
  const { tools } = JSON.parse(introspection) as { tools: { name: string; summary: string }[] };
  say(step(2, `The model asks what memory can do: memory_suite ${JSON.stringify(introspect)}`));
  for (const { name, summary } of tools.slice(0, 3)) say(`   ${cyan(name)}  ${dim(summary)}`);
  say(dim(`   … and ${tools.length - 3} more, with input schemas`));
  check(
    !canSeeProcesses || serversOf(client.pid).length === 1,
    'Only the memory server has been started.',
  );
  say(runs(client.pid), '');

  const action = {
    action: 'call',
    subtool: 'create_entities',
    args: { entities: [NEW_ENTITY] },
  };
  const answer = textOf(await call(client, action));
  say(step(3, `The model calls a tool: memory_suite ${JSON.stringify(action)}`));
  say(`   ${dim('result:')} ${answer.replaceAll(/\s+/g, ' ')}`);
  check(answer.includes(NEW_ENTITY.name), 'The result contains the new entity.');
  say('');

  const all = countToolTokens(direct);
  const listed = countToolTokens(suites);
  say(step(4, "Tokens in the model's context (o200k_base)"));
  say(tokens(`all ${direct.length} tools, listed directly`, all, all));
  say(tokens('the two suites', listed, all));
  say(
    tokens(
      'the two suites, plus introspecting memory',
      listed + countTextTokens(introspection),
      all,
    ),
  );
  check(listed < all, 'The suites are smaller.');
  say(dim('   With 45 servers: npm run bench -- --only=7'), '');

  const before = serversOf(client.pid).map(({ pid }) => pid);
  await client[Symbol.asyncDispose]();
  check(!before.some(isAlive), 'No server outlives the host.');
  say(step(5, `The host disconnects. ${green('All processes have exited.')}`));
}

function sayWhatNext(): void {
  const entry = { mcpServers: { switchboard: { command: 'node', args: [BUILT_PROGRAM] } } };
  say(
    '',
    bold('Next steps'),
    '   Paste your servers into switchboard.config.json, under "mcpServers", and check that they work:',
    `   ${cyan(`node ${BUILT_PROGRAM} doctor`)}`,
    '   Then replace them in your host with this entry (see README.md):',
    `   ${cyan(JSON.stringify(entry))}`,
  );
}

function step(number: number, text: string): string {
  return `${bold(String(number))}  ${bold(text)}`;
}

function tokens(what: string, count: number, all: number): string {
  const bar = '█'.repeat(Math.max(1, Math.round((24 * count) / all)));
  return `   ${count.toLocaleString('en').padStart(6)}  ${green(bar.padEnd(24))}  ${what}`;
}

/** The running processes: Switchboard, and the servers it has started. */
function runs(pid: number): string {
  if (!canSeeProcesses) return '';
  const servers = serversOf(pid).map(({ command }) => command);
  const list = servers.length === 0 ? 'no server yet' : servers.join(', ');
  return `   ${dim('running:')} switchboard, ${green(list)}`;
}

interface Running {
  readonly pid: number;
  readonly command: string;
}

/** The processes that a process has started. */
function serversOf(parent: number): Running[] {
  if (!canSeeProcesses) return [];
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args=']).toString().split('\n');
  return lines.flatMap((line) => {
    const [, pid, ppid, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    const command = /[^/]*(?:\/dist)?\/[^/]+$/.exec(args)?.[0] ?? args;
    return Number(ppid) === parent ? [{ pid: Number(pid), command }] : [];
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process, which is the answer
  }
}

async function askDirectly(workspace: Workspace, { args }: Server): Promise<Tool[]> {
  await using client = new Client(workspace.script(...args));
  await client.shakeHands();
  return toolsOf(await client.request('tools/list'));
}

function call(client: Client, args: object): Promise<Record<string, unknown>> {
  return client.request('tools/call', { name: 'memory_suite', arguments: args });
}

function toolsOf(result: Record<string, unknown>): Tool[] {
  return result['tools'] as Tool[];
}

function textOf(result: Record<string, unknown>): string {
  const [first] = result['content'] as { text: string }[];
  return first?.text ?? '';
}

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`Check failed: ${sentence}`);
}

if (!existsSync(BUILT_PROGRAM)) throw new Error('dist/index.js is missing. Run: npm run build');
using workspace = new Workspace(BUILT_PROGRAM);
stopAtSignal(() => workspace[Symbol.dispose]());
try {
  await demonstrate(workspace);
  sayWhatNext();
} finally {
  await stopAll();
}
