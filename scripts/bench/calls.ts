// Rows 3, 4 and 5: calls of one and the same server, made directly, through a bare relay, and
// through Switchboard. The three stand ready side by side and take turns.
import { Client } from './client.ts';
import { compare, median, sleep, takeTurns, timeOf } from './measure.ts';
import { residentMegabytes } from './resident.ts';
import type { Bench, Row } from './row.ts';
import { CHILD, type Workspace } from './workspace.ts';

interface Lane extends AsyncDisposable {
  readonly client: Client;
  /** A call of a tool of the server, as JSON. */
  readonly format: (tool: string, args: object) => string;
}

interface Lanes extends AsyncDisposable {
  readonly direct: Lane;
  readonly relay: Lane;
  readonly switchboard: Lane;
}

const LARGE_BYTES = 10 << 20;
const IN_FLIGHT = 50;
const SETTLE_MS = 5_000;

/** Row 3. */
export async function measureCalls({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  await using lanes = await openLanes(workspace);
  progress('calling, one after the other');
  const block = (lane: Lane) => () => medianCall(lane, 200);
  const ms = await takeTurns(mapLanes(lanes, block), { rounds: rounds(25), warmUps: 10 });
  const added = median(ms.switchboard) - median(ms.direct);
  return [
    {
      group: 3,
      what: 'one call, small, one after the other',
      measured: median(ms.switchboard),
      unit: 'ms',
      against: { what: 'through a bare relay', value: median(ms.relay) },
      ratio: compare(ms.switchboard, ms.relay),
      budget: { most: 1.15 },
      beside: [
        `direct: ${median(ms.direct).toFixed(3)} ms; against it the relay takes ${formatRatio(ms.relay, ms.direct)}, Switchboard ${formatRatio(ms.switchboard, ms.direct)}`,
      ],
    },
    {
      group: 3,
      what: 'what Switchboard adds to a direct call',
      measured: added,
      unit: 'ms',
      budget: { most: 20 },
      beside: [],
    },
  ];
}

/** Row 4. */
export async function measureThroughput({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  await using lanes = await openLanes(workspace);
  progress(`calling, ${IN_FLIGHT} at a time`);
  const flight = (lane: Lane) => () => callsPerSecond(lane, 3_000);
  const rate = await takeTurns(mapLanes(lanes, flight), { rounds: rounds(11), warmUps: 2 });
  return [
    {
      group: 4,
      what: `${IN_FLIGHT} calls in flight`,
      measured: median(rate.switchboard),
      unit: 'calls/s',
      against: { what: 'through a bare relay', value: median(rate.relay) },
      ratio: compare(rate.switchboard, rate.relay),
      budget: { least: 0.9 },
      beside: [
        `direct: ${Math.round(median(rate.direct))} calls/s; of that the relay reaches ${formatRatio(rate.relay, rate.direct)}, Switchboard ${formatRatio(rate.switchboard, rate.direct)}`,
      ],
    },
  ];
}
