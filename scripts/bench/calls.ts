// Rows 3 and 4: small calls, sequential and concurrent. Rows 13 and 14: the same with a modern host, and a server
// of either era behind Switchboard.
import type { HostEra } from './host.ts';
import { type Lane, type LaneName, Lanes } from './lanes.ts';
import { compare, formatTimes, median, takeTurns } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { CHILD, MODERN_CHILD, realServer } from './workspace.ts';

const BLOCK_CALLS = 200;
const FLIGHT_CALLS = 3_000;
const IN_FLIGHT = 50;

/** Row 3: with the fastest possible server, and with one on the official SDK. */
export async function measureCalls(bench: Bench): Promise<Row[]> {
  bench.progress('calls, one after the other');
  const ms = await timeCalls(bench, 'handshake', CHILD);
  const real = await timeCalls(bench, 'handshake', ...realServer('everything').args);
  return [
    callRow(3, 'a small call', ms),
    callRow(3, 'a small call, server on the SDK', real),
    {
      group: 3,
      what: 'overhead over a direct call',
      measured: median(ms.switchboard) - median(ms.direct),
      unit: 'ms',
      budget: { most: 20 },
      beside: [],
    },
  ];
}

/** Row 4. */
export async function measureThroughput(bench: Bench): Promise<Row[]> {
  bench.progress(`calls, ${IN_FLIGHT} at a time`);
  const rate = await countCalls(bench, 'handshake', CHILD);
  return [flightRow(4, `${IN_FLIGHT} small calls in flight`, rate)];
}

/** Row 13: a modern host, with a handshake-era server and with a modern one. */
export async function measureModernCalls(bench: Bench): Promise<Row[]> {
  bench.progress('calls of a modern host, one after the other');
  const ms = await timeCalls(bench, 'modern', CHILD);
  const alike = await timeCalls(bench, 'modern', ...MODERN_CHILD);
  return [
    callRow(13, 'a small call, modern host', ms),
    callRow(13, 'the same, modern server', alike),
  ];
}

/** Row 14. */
export async function measureModernThroughput(bench: Bench): Promise<Row[]> {
  bench.progress(`calls of a modern host, ${IN_FLIGHT} at a time`);
  const rate = await countCalls(bench, 'modern', CHILD);
  const alike = await countCalls(bench, 'modern', ...MODERN_CHILD);
  return [
    flightRow(14, `${IN_FLIGHT} small calls in flight, modern host`, rate),
    flightRow(14, 'the same, modern server', alike),
  ];
}

type Taken = Record<LaneName, number[]>;

function callRow(group: number, what: string, ms: Taken): Row {
  return {
    group,
    what,
    measured: median(ms.switchboard),
    unit: 'ms',
    against: { what: 'relay', value: median(ms.relay) },
    ratio: compare(ms.switchboard, ms.relay),
    budget: { most: 1.15 },
    beside: [
      `direct: ${median(ms.direct).toFixed(3)} ms; the relay takes ${formatTimes(ms.relay, ms.direct)} that, Switchboard ${formatTimes(ms.switchboard, ms.direct)}`,
    ],
  };
}

function flightRow(group: number, what: string, rate: Taken): Row {
  return {
    group,
    what,
    measured: median(rate.switchboard),
    unit: 'calls/s',
    against: { what: 'relay', value: median(rate.relay) },
    ratio: compare(rate.switchboard, rate.relay),
    budget: { least: 0.9 },
    beside: [
      `direct: ${Math.round(median(rate.direct))} calls/s; the relay reaches ${formatTimes(rate.relay, rate.direct)} of that, Switchboard ${formatTimes(rate.switchboard, rate.direct)}`,
    ],
  };
}

async function timeCalls(bench: Bench, era: HostEra, ...server: string[]): Promise<Taken> {
  const { workspace, rounds } = bench;
  await using lanes = new Lanes(workspace, era, ...server);
  await lanes.prepare();
  const blocks = lanes.each((lane) => () => medianCall(lane));
  return await takeTurns(blocks, { rounds: rounds(50), warmUps: 50 });
}

async function countCalls(bench: Bench, era: HostEra, ...server: string[]): Promise<Taken> {
  const { workspace, rounds } = bench;
  await using lanes = new Lanes(workspace, era, ...server);
  await lanes.prepare();
  const flights = lanes.each((lane) => () => callsPerSecond(lane));
  return await takeTurns(flights, { rounds: rounds(21), warmUps: 6 });
}

/** Milliseconds per call, the median of a block of them. */
async function medianCall({ client, format }: Lane): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < BLOCK_CALLS; call++) {
    const json = format('echo', { message: `call ${call}` });
    const begin = performance.now();
    await client.exchange(json);
    times.push(performance.now() - begin);
  }
  return median(times);
}

export async function callsPerSecond({ client, format }: Lane): Promise<number> {
  const lines: Buffer[] = [];
  let left = FLIGHT_CALLS;
  const begin = performance.now();
  const caller = async (): Promise<void> => {
    while (left-- > 0) lines.push(await client.exchange(format('echo', { message: 'ready' })));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  const seconds = (performance.now() - begin) / 1_000;
  const ids = new Set(lines.map((line) => (JSON.parse(line.toString()) as { id: number }).id));
  if (ids.size !== FLIGHT_CALLS) throw new Error(`${ids.size} of ${FLIGHT_CALLS} were answered.`);
  return FLIGHT_CALLS / seconds;
}
