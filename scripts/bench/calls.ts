// Rows 3 and 4: small calls, one after the other and many at a time.
import { type Lane, Lanes } from './lanes.ts';
import { compare, median, takeTurns } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { CHILD } from './workspace.ts';

const BLOCK = 200;
const FLIGHT = 3_000;
const IN_FLIGHT = 50;

/** Row 3. */
export async function measureCalls({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  await using lanes = new Lanes(workspace, CHILD);
  await lanes.prepare();
  progress('calling, one after the other');
  const blocks = lanes.each((lane) => () => medianCall(lane));
  const ms = await takeTurns(blocks, { rounds: rounds(25), warmUps: 10 });
  return [
    {
      group: 3,
      what: 'one small call, one after the other',
      measured: median(ms.switchboard),
      unit: 'ms',
      against: { what: 'a bare relay', value: median(ms.relay) },
      ratio: compare(ms.switchboard, ms.relay),
      budget: { most: 1.15 },
      beside: [
        `direct: ${median(ms.direct).toFixed(3)} ms; the relay takes ${timesOf(ms.relay, ms.direct)} that, Switchboard ${timesOf(ms.switchboard, ms.direct)}`,
      ],
    },
    {
      group: 3,
      what: 'what it adds to a direct call',
      measured: median(ms.switchboard) - median(ms.direct),
      unit: 'ms',
      budget: { most: 20 },
      beside: [],
    },
  ];
}

/** Row 4. */
export async function measureThroughput({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  await using lanes = new Lanes(workspace, CHILD);
  await lanes.prepare();
  progress(`calling, ${IN_FLIGHT} at a time`);
  const flights = lanes.each((lane) => () => callsPerSecond(lane));
  const rate = await takeTurns(flights, { rounds: rounds(11), warmUps: 2 });
  return [
    {
      group: 4,
      what: `${IN_FLIGHT} small calls in flight`,
      measured: median(rate.switchboard),
      unit: 'calls/s',
      against: { what: 'a bare relay', value: median(rate.relay) },
      ratio: compare(rate.switchboard, rate.relay),
      budget: { least: 0.9 },
      beside: [
        `direct: ${Math.round(median(rate.direct))} calls/s; the relay reaches ${timesOf(rate.relay, rate.direct)} that, Switchboard ${timesOf(rate.switchboard, rate.direct)}`,
      ],
    },
  ];
}

/** Milliseconds of a call, the median of a block of them. */
async function medianCall({ client, format }: Lane): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < BLOCK; call++) {
    const json = format('echo', { message: `call ${call}` });
    const begin = performance.now();
    await client.exchange(json);
    times.push(performance.now() - begin);
  }
  return median(times);
}

async function callsPerSecond({ client, format }: Lane): Promise<number> {
  const lines: Buffer[] = [];
  let left = FLIGHT;
  const begin = performance.now();
  const caller = async (): Promise<void> => {
    while (left-- > 0) lines.push(await client.exchange(format('echo', { message: 'ready' })));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  const seconds = (performance.now() - begin) / 1_000;
  const ids = new Set(lines.map((line) => (JSON.parse(line.toString()) as { id: number }).id));
  if (ids.size !== FLIGHT) throw new Error(`${ids.size} of ${FLIGHT} calls were answered.`);
  return FLIGHT / seconds;
}

function timesOf(measured: readonly number[], reference: readonly number[]): string {
  return `${compare(measured, reference).value.toFixed(2)} ×`;
}
