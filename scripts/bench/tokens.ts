// Rows 7 and 9: what a model has to read. Nothing is timed; the lists are those that the built
// program and the real servers answer.
import { Client, type Program } from './client.ts';
import { countTextTokens, countToolTokens, type Tool } from './count.ts';
import data from './data/real-servers.json' with { type: 'json' };
import { median } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { CHILD, realServer } from './workspace.ts';

/** Row 7: the list of 45 published servers, of which only the names and descriptions are needed. */
export async function countCatalog({ workspace, progress }: Bench): Promise<Row[]> {
  progress('tokens of 45 published servers');
  const { servers } = data;
  const program = workspace.switchboard(
    'catalog',
    servers.map(({ npm, description }) => ({ name: npm, description, args: [CHILD] })),
  );
  await using client = new Client(program);
  const suites = await listTools(client);
  if (suites.length !== servers.length) throw new Error(`Only ${suites.length} suites are listed.`);
  const measured = countToolTokens(suites);
  const everything = sum(servers.map(({ tokens }) => tokens));
  const ranked = servers.toSorted((a, b) => b.tokens - a.tokens);
  const largest = ranked.slice(0, 2).map(({ npm, tokens }) => `${npm} (${format(tokens)})`);
  const middle = ranked[Math.floor(ranked.length / 2)];
  const each = suites.map((suite) => countToolTokens([suite]));
  return [
    {
      group: 7,
      what: 'tools/list, 45 published servers',
      measured,
      unit: 'tokens',
      budget: { most: 5_000 },
      beside: [
        `their ${format(sum(servers.map(({ tools }) => tools)))} tools listed directly are ${format(everything)} tokens; the suites are ${formatLess(measured, everything)}`,
        `the largest are ${largest.join(' and ')}, the median is ${middle?.npm} (${format(middle?.tokens ?? 0)})`,
        `one suite: median ${format(median(each))} tokens, largest ${format(Math.max(...each))}`,
      ],
    },
  ];
}

/** Row 9: three servers of node_modules, asked directly and through Switchboard. */
export async function countWorkflow({ workspace, progress }: Bench): Promise<Row[]> {
  progress('tokens of three servers and their suites');
  const servers = [
    realServer('memory'),
    realServer('filesystem', workspace.dir),
    realServer('everything'),
  ];
  const direct: Tool[][] = [];
  for (const { args } of servers) direct.push(await askOnce(workspace.script(...args)));
  const all = countToolTokens(direct.flat());

  await using client = new Client(workspace.switchboard('workflow', servers));
  const list = countToolTokens(await listTools(client));
  const rows = [tokenRow(`tools/list, 3 servers, ${direct.flat().length} tools`, list, all)];
  for (const { name } of servers) {
    const answer = await client.request('tools/call', {
      name: `${name}_suite`,
      arguments: { action: 'introspect' },
    });
    const { content } = answer as { content: [{ text: string }] };
    const introspection = countTextTokens(content[0].text);
    rows.push(tokenRow(`the same + introspection of ${name}`, list + introspection, all));
  }
  return rows;
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
