// Row 6: the memory of an idle Switchboard that has answered tools/list, without a running server, and of an idle
// Node process. Several of each run at the same time.
import { Client, type Program } from './client.ts';
import { compare, median, sleep } from './measure.ts';
import { residentMegabytes } from './resident.ts';
import type { Bench, Row } from './row.ts';
import { numberedServers } from './workspace.ts';

const EACH = 5;
const SETTLE_MS = 3_000;

export async function measureIdle({ workspace, progress }: Bench): Promise<Row[]> {
  progress('memory at rest');
  const program = workspace.switchboard('idle', numberedServers(10));
  const bare = start(workspace.script('-e', 'process.stdin.resume()'));
  const switchboards = start(program);
  for (const client of switchboards) {
    await client.shakeHands();
    await client.ask('tools/list');
  }
  await sleep(SETTLE_MS);
  const megabytes = (clients: readonly Client[]): number[] =>
    clients.map(({ pid }) => residentMegabytes(pid));
  const taken = { bare: megabytes(bare), switchboard: megabytes(switchboards) };
  await Promise.all([...bare, ...switchboards].map((client) => client[Symbol.asyncDispose]()));
  return [
    {
      group: 6,
      what: 'memory at rest, no server running',
      measured: median(taken.switchboard),
      unit: 'MB',
      against: { what: 'bare node', value: median(taken.bare) },
      ratio: compare(taken.switchboard, taken.bare),
      budget: { most: 1.3 },
      beside: [],
    },
  ];
}

function start(program: Program): Client[] {
  return Array.from({ length: EACH }, () => new Client(program));
}
