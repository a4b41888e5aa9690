// Row 11: how long a host waits at startup with 50 servers to warm up or to list directly, compared with no
// servers. Flip servers are all started then, with nothing cached; direct servers are cached from an earlier run,
// and aren't started.
import { Client, type Program } from './client.ts';
import { compare, median, sleep, takeTurns, timeOf } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { timeToList } from './startup.ts';
import { numberedServers } from './workspace.ts';

const SERVERS = 50;
const LOOK_AGAIN_MS = 50;

export async function measurePrewarming({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  const none = workspace.switchboard('none', []);
  const flip = workspace.switchboard('flip', numberedServers(SERVERS, 'flip'));
  const direct = workspace.withNewHome(
    workspace.switchboard('direct', numberedServers(SERVERS, 'direct')),
  );
  progress(`starting, with ${SERVERS} servers that are warmed up`);
  await untilListed(direct);
  const warmUp = await watchWarmUp(workspace.withNewHome(flip));
  const ms = await takeTurns(
    {
      none: () => timeToList(workspace.withNewHome(none)),
      flip: () => timeToList(workspace.withNewHome(flip)),
      direct: () => timeToList(direct),
    },
    { rounds: rounds(21) },
  );
  const row = (what: string, taken: readonly number[], beside: readonly string[]): Row => ({
    group: 11,
    what,
    measured: median(taken),
    unit: 'ms',
    against: { what: 'no server', value: median(ms.none) },
    ratio: compare(taken, ms.none),
    budget: { most: 1.5 },
    beside,
  });
  return [
    row(`start → tools/list, ${SERVERS} flip servers`, ms.flip, [
      `all ${SERVERS} are ready after ${(warmUp.ready / 1_000).toFixed(1)} s; until then a ping takes ${median(warmUp.pings).toFixed(1)} ms, at most ${Math.max(...warmUp.pings).toFixed(0)} ms`,
    ]),
    row(`start → tools/list, ${SERVERS} direct servers`, ms.direct, []),
  ];
}

/** Starts the servers and lists their tools. */
async function untilListed(program: Program): Promise<void> {
  await using client = new Client(program);
  await client.shakeHands();
  while ((await countTools(client)) < 3 * SERVERS) await sleep(LOOK_AGAIN_MS);
}

async function countTools(client: Client): Promise<number> {
  const { tools } = (await client.request('tools/list')) as { tools: unknown[] };
  return tools.length;
}

/** The time until all servers are ready, and how long a host waits for an answer meanwhile. */
async function watchWarmUp(program: Program): Promise<{ ready: number; pings: number[] }> {
  const begin = performance.now();
  await using client = new Client(program);
  await client.shakeHands();
  await client.ask('tools/list');
  const pings: number[] = [];
  do {
    pings.push(await timeOf(() => client.ask('ping')));
    await sleep(1);
  } while ((await countReady(client)) < SERVERS);
  return { ready: performance.now() - begin, pings };
}

async function countReady(client: Client): Promise<number> {
  const result = await client.request('tools/call', { name: 'gateway_status', arguments: {} });
  const meta = result['_meta'] as { 'switchboard/servers': { ready: boolean }[] };
  return meta['switchboard/servers'].filter(({ ready }) => ready).length;
}
