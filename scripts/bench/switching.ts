// Row 10: switching on a running server, from the request until the host is notified of the changed list, compared
// with a ping in the same session, the cheapest request there is. Each round is a separate session, because users
// switch a server on once in a while and not a thousand times, so nothing has been compiled or cached for it. The
// second time, the same server is switched on again after it was switched off; it must be the same process,
// initialized once.
//
// The answer to the request arrives later, on purpose: it is held until the host has fetched the list and has had
// time to show it. The total wait is shown next to it.
import { Client, type Program } from './client.ts';
import { compare, median, sleep, timeOf } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { CHILD } from './workspace.ts';

const SERVER = 'bench';
const LIST_CHANGED = 'notifications/tools/list_changed';
/** Pings before each switch; the median counts. */
const PINGS = 5;
const LOOK_AGAIN_MS = 10;

/** One switch: milliseconds for a ping, until the notification, and until the answer. */
interface Switch {
  readonly ping: number;
  readonly told: number;
  readonly answered: number;
}

export async function measureSwitching({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  progress('switching a server on, and on again');
  const server = { name: SERVER, description: 'measurements', args: [CHILD] };
  const program = workspace.switchboard('switching', [{ ...server, show: 'flip' }]);
  const taken: Record<'first' | 'again', Switch[]> = { first: [], again: [] };
  const count = rounds(31);
  for (let round = -1; round < count; round++) {
    const { first, again } = await switchTwice(program);
    if (round < 0) continue; // for the disk's cache
    taken.first.push(first);
    taken.again.push(again);
  }
  return [
    ...switchRows('switching on → notification', taken.first),
    ...switchRows('switching on again → notification', taken.again),
  ];
}

function switchRows(what: string, switches: readonly Switch[]): Row[] {
  const told = switches.map((one) => one.told);
  const ping = switches.map((one) => one.ping);
  const answered = median(switches.map((one) => one.answered)).toFixed(0);
  const measured = { group: 10, measured: median(told), unit: 'ms' } as const;
  return [
    {
      ...measured,
      what,
      against: { what: 'ping', value: median(ping) },
      ratio: compare(told, ping),
      budget: { most: 4 },
      beside: [`answered after ${answered} ms to a host that fetches the list at once`],
    },
    { ...measured, what: 'the same, in milliseconds', budget: { most: 5 }, beside: [] },
  ];
}

async function switchTwice(program: Program): Promise<Record<'first' | 'again', Switch>> {
  await using client = new Client(program);
  await client.shakeHands();
  await client.request('tools/list');
  await untilReady(client);
  const first = await switchOn(client);
  const life = await client.callTool('life'); // by its own name, because it's listed now
  await client.callTool('gateway_deactivate', { name: SERVER });
  await client.request('tools/list');
  const again = await switchOn(client);
  const lifeAgain = await client.callTool('life');
  if (life !== lifeAgain || !life.includes('"handshakes":1')) {
    throw new Error(`The server was started or greeted again: ${life}, then ${lifeAgain}.`);
  }
  return { first, again };
}

async function switchOn(client: Client): Promise<Switch> {
  const pings: number[] = [];
  while (pings.length < PINGS) pings.push(await timeOf(() => client.ask('ping')));
  const begin = performance.now();
  const news = client.news(LIST_CHANGED);
  const answer = client.ask('tools/call', {
    name: 'gateway_activate',
    arguments: { name: SERVER },
  });
  await news;
  const told = performance.now() - begin;
  await Promise.all([client.ask('tools/list'), answer]); // in either order
  return { ping: median(pings), told, answered: performance.now() - begin };
}

async function untilReady(client: Client): Promise<void> {
  while (!(await client.callTool('gateway_status')).includes('ready')) await sleep(LOOK_AGAIN_MS);
}
