// Row 8: the first introspection of a server that isn't running yet, through a running Switchboard, compared with
// starting the server and asking it directly (initialize, initialized, tools/list).
import { Client, type Program } from './client.ts';
import { compare, median, takeTurns, timeOf } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { realServer } from './workspace.ts';

export async function measureIntrospect({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  const servers = [realServer('memory'), realServer('everything')];
  const switchboard = workspace.switchboard('cold', servers);
  const rows: Row[] = [];
  for (const { name, args } of servers) {
    progress(`first introspection of server-${name}`);
    const ms = await takeTurns(
      {
        direct: () => timeDirect(workspace.script(...args)),
        switchboard: () => timeIntrospect(switchboard, `${name}_suite`),
      },
      { rounds: rounds(15) },
    );
    rows.push({
      group: 8,
      what: `first introspection, server-${name}`,
      measured: median(ms.switchboard),
      unit: 'ms',
      against: { what: 'direct', value: median(ms.direct) },
      ratio: compare(ms.switchboard, ms.direct),
      budget: { most: 1.2 },
      beside: [],
    });
  }
  return rows;
}

async function timeDirect(program: Program): Promise<number> {
  const begin = performance.now();
  await using client = new Client(program);
  await client.shakeHands();
  await client.request('tools/list');
  return performance.now() - begin;
}

async function timeIntrospect(program: Program, name: string): Promise<number> {
  await using client = new Client(program);
  await client.shakeHands();
  await client.request('tools/list');
  return await timeOf(() =>
    client.request('tools/call', { name, arguments: { action: 'introspect' } }),
  );
}
