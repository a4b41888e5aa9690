// Rows 7 and 9: the tokens a model has to read. Nothing is timed; the lists come from the built program and the
// real servers.
import { Client, type Program } from './client.ts';
import { countTextTokens, countToolTokens, type Tool } from './count.ts';
import data from './data/real-servers.json' with { type: 'json' };
import { median } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { CHILD, realServer, type Server, type Workspace } from './workspace.ts';

/**
 * Row 7: the list of 45 published servers, by show mode. Suites and switches need only names and descriptions; the
 * server that is switched on is in node_modules and lists its own tools.
 */
export async function countCatalog({ workspace, progress }: Bench): Promise<Row[]> {
  progress('tokens of 45 published servers');
  const servers = data.servers.map(
    ({ npm, description }): Server => ({ name: npm, description, args: [CHILD] }),
  );
  const suites = await askOnce(workspace.switchboard('catalog', servers));
  if (suites.length !== servers.length) throw new Error(`Only ${suites.length} suites are listed.`);
  const measured = countToolTokens(suites);
  const each = suites.map((suite) => countToolTokens([suite]));
  const { gateway, switchedOn } = await askSwitches(workspace, servers);
  const everything = sum(data.servers.map(({ tokens }) => tokens));
  const ranked = data.servers.toSorted((a, b) => b.tokens - a.tokens);
  const largest = ranked.slice(0, 2).map(({ npm, tokens }) => `${npm} (${format(tokens)})`);
  const middle = ranked[Math.floor(ranked.length / 2)];
  return [
    {
      group: 7,
      what: 'tools/list, 45 published servers, suites',
      measured,
      unit: 'tokens',
      budget: { most: 5_000 },
      beside: [
        `their ${format(sum(data.servers.map(({ tools }) => tools)))} tools listed directly are ${format(everything)} tokens; the suites are ${formatLess(measured, everything)}`,
        `the largest are ${largest.join(' and ')}, the median is ${middle?.npm} (${format(middle?.tokens ?? 0)})`,
        `one suite: median ${format(median(each))} tokens, largest ${format(Math.max(...each))}`,
      ],
    },
    {
      group: 7,
      what: 'the same, flip, none on',
      measured: countToolTokens(gateway),
      unit: 'tokens',
      budget: { most: 1_000 },
      beside: [],
    },
    {
      group: 7,
      what: 'the same, number of tools',
      measured: gateway.length,
      unit: 'tools',
      budget: { most: 3 },
      beside: [],
    },
    {
      group: 7,
      what: 'the same, flip, server-filesystem on',
      measured: countToolTokens(switchedOn),
      unit: 'tokens',
      beside: [`${switchedOn.length - gateway.length} of its tools are listed then`],
    },
    {
      group: 7,
      what: 'the same, direct: their own lists',
      measured: everything,
      unit: 'tokens',
      beside: [],
    },
  ];
}

/** Row 9: three servers from node_modules, called directly and through Switchboard, in each mode. */
export async function countWorkflow({ workspace, progress }: Bench): Promise<Row[]> {
  progress('tokens of three servers, by how they are shown');
  const servers = [
    realServer('memory'),
    realServer('filesystem', workspace.dir),
    realServer('everything'),
  ];
  const direct: Tool[][] = [];
  for (const { args } of servers) direct.push(await askOnce(workspace.script(...args)));
  const all = countToolTokens(direct.flat());

  await using suites = new Client(workspace.switchboard('workflow', servers));
  const list = countToolTokens(await listTools(suites));
  const rows = [
    tokenRow(`tools/list, 3 servers, ${direct.flat().length} tools, suites`, list, all),
  ];
  for (const { name } of servers) {
    const introspection = await suites.callTool(`${name}_suite`, { action: 'introspect' });
    const measured = list + countTextTokens(introspection);
    rows.push(tokenRow(`the same + introspection of ${name}`, measured, all));
  }
  await using flips = new Client(workspace.switchboard('workflow-flip', asSwitches(servers)));
  const gateway = countToolTokens(await listTools(flips));
  rows.push(tokenRow('the same, flip, none on', gateway, all));
  for (const { name } of servers) {
    await flips.callTool('gateway_activate', { name });
    rows.push(tokenRow(`the same, flip, ${name} on`, countToolTokens(await relist(flips)), all));
    await flips.callTool('gateway_deactivate', { name });
  }
  return rows;
}

/** The lists while all servers are off, and while one of them is on. */
async function askSwitches(
  workspace: Workspace,
  servers: readonly Server[],
): Promise<{ gateway: Tool[]; switchedOn: Tool[] }> {
  const name = '@modelcontextprotocol/server-filesystem';
  const { args } = realServer('filesystem', workspace.dir);
  const real = servers.map((server) => (server.name === name ? { ...server, args } : server));
  await using client = new Client(workspace.switchboard('catalog-flip', asSwitches(real)));
  const gateway = await listTools(client);
  await client.callTool('gateway_activate', { name });
  return { gateway, switchedOn: await relist(client) };
}

/** Only servers that are switched on are started. */
function asSwitches(servers: readonly Server[]): Server[] {
  return servers.map((server) => ({ ...server, show: 'flip', start: 'lazy' }));
}

function tokenRow(what: string, measured: number, all: number): Row {
  return {
    group: 9,
    what,
    measured,
    unit: 'tokens',
    against: { what: 'all tools', value: all },
    ratio: { value: measured / all, spread: [measured / all, measured / all] },
    beside: [],
  };
}

async function askOnce(program: Program): Promise<Tool[]> {
  await using client = new Client(program);
  return await listTools(client);
}

async function listTools(client: Client): Promise<Tool[]> {
  await client.shakeHands();
  return await relist(client);
}

async function relist(client: Client): Promise<Tool[]> {
  const { tools } = (await client.request('tools/list')) as unknown as { tools: Tool[] };
  return tools;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function format(count: number): string {
  return count.toLocaleString('en');
}

function formatLess(measured: number, everything: number): string {
  return `${(100 * (1 - measured / everything)).toFixed(1)} % less`;
}
