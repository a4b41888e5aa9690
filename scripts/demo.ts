// Shows a newcomer what Switchboard does, in a few seconds and on one screen: starts the built
// program in a temporary project with two servers, asks what a host asks, and shows each answer,
// which processes run at each step, and what it saves. Ends with an error if anything is not as it
// is said to be, and leaves nothing behind.
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
  description: 'remembering things beyond a conversation',
};

/** Windows has no `ps`; there the processes are not looked at. */
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
  say(
    bold('One server for the host, two behind it: mock (an example) and memory (a real one).'),
    '',
  );

  const direct = [
    ...(await askDirectly(workspace, MOCK)),
    ...(await askDirectly(workspace, MEMORY)),
  ];
  const client = new Client(workspace.switchboard('project', [MOCK, MEMORY]));
  await client.shakeHands();
  const suites = toolsOf(await client.request('tools/list'));
  say(step(1, 'The host starts Switchboard and lists its tools. This is all that it sees:'));
  for (const suite of suites) {
    const { name, ...rest } = suite;
    say(
      `   ${dim('{"name":')}${cyan(JSON.stringify(name))}${dim(`,${JSON.stringify(rest).slice(1)}`)}`,
    );
  }
  check(suites.length === 2, 'There are two suites.');
  check(serversOf(client.pid).length === 0, 'No server runs yet.');
  say(runs(client.pid), '');

  const introspect = { action: 'introspect' };
  const introspection = textOf(await call(client, introspect));
  const { tools } = JSON.parse(introspection) as { tools: { name: string; summary: string }[] };
  say(step(2, `The model looks closer: memory_suite ${JSON.stringify(introspect)}`));
  for (const { name, summary } of tools.slice(0, 3)) say(`   ${cyan(name)}  ${dim(summary)}`);
  say(dim(`   … and ${tools.length - 3} more, each with its input schema`));
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
  say(step(3, `It calls a tool: memory_suite ${JSON.stringify(action)}`));
  say(`   ${dim("the server's own answer:")} ${answer.replaceAll(/\s+/g, ' ')}`);
  check(answer.includes(NEW_ENTITY.name), 'The answer is about what was asked for.');
  say('');

  const all = countToolTokens(direct);
  const listed = countToolTokens(suites);
  say(step(4, 'What the model has to read (tokens, o200k_base)'));
  say(tokens(`all ${direct.length} tools listed directly, in every conversation`, all, all));
  say(tokens('the two suites', listed, all));
  say(tokens('the two suites, and memory looked at', listed + countTextTokens(introspection), all));
  check(listed < all, 'The suites are smaller.');
  say(dim('   More servers save more: npm run bench -- --only=7 counts 45 of them.'), '');

  const before = serversOf(client.pid).map(({ pid }) => pid);
  await client[Symbol.asyncDispose]();
  check(!before.some(isAlive), 'No server is left when the host has gone.');
  say(
    step(5, `The host goes. ${green('Switchboard and the server have ended; nothing is left.')}`),
  );
}

function sayWhatNext(): void {
  const entry = { mcpServers: { switchboard: { command: 'node', args: [BUILT_PROGRAM] } } };
  say(
    '',
    bold('What to do next'),
    '   Put your servers into switchboard.config.json of your project, under "mcpServers", as they',
    '   stand in the file of your host, and see there whether they work:',
    `   ${cyan(`node ${BUILT_PROGRAM} doctor`)}`,
    '   Then give the host this one instead (README.md goes through it):',
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

/** What runs: Switchboard, and the servers it has started. */
function runs(pid: number): string {
  if (!canSeeProcesses) return '';
  const servers = serversOf(pid).map(({ command }) => command);
  const list = servers.length === 0 ? 'no server yet' : servers.join(', ');
  return `   ${dim('running:')} Switchboard, ${green(list)}`;
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
  if (!holds) throw new Error(`Not so: ${sentence}`);
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
