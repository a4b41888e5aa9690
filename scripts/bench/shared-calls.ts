// Row 25: small calls of a session in a background process, compared with a session alone: CPU time of the entry and
// the background process, without the server's, and throughput.
import { canCount, cpuMs, SharedProgram } from './background.ts';
import { callsPerSecond } from './calls.ts';
import { type Lane, openSuite } from './lanes.ts';
import { compare, formatTimes, median, takeTurns } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { CHILD } from './workspace.ts';

const BLOCK_CALLS = 400;

export async function measureSharedCalls(bench: Bench): Promise<Row[]> {
  const { workspace, rounds, progress } = bench;
  if (!canCount(bench)) return [];
  progress('calls of a shared session');
  const server = { name: 'bench', description: 'measurements', args: [CHILD] };
  const program = workspace.switchboard('shared-calls', [server]);
  await using joining = new SharedProgram(workspace, program);
  const alone = openSuite(program, 'handshake', 'bench_suite');
  const shared = openSuite(joining.program, 'handshake', 'bench_suite');
  await using aloneClient = alone.client;
  await using sharedClient = shared.client;
  for (const { client, format } of [alone, shared]) {
    await client.shakeHands();
    await client.exchange(format('echo', { message: 'ready' }));
  }
  const background = joining.pid;
  const cpu = await takeTurns(
    {
      alone: () => cpuPerCall(alone, aloneClient.pid),
      shared: () => cpuPerCall(shared, sharedClient.pid, background),
    },
    { rounds: rounds(41), warmUps: 25 },
  );
  const rate = await takeTurns(
    { alone: () => callsPerSecond(alone), shared: () => callsPerSecond(shared) },
    { rounds: rounds(31), warmUps: 6 },
  );
  const inFlight = await takeTurns(
    {
      alone: () => cpuInFlight(alone, aloneClient.pid),
      shared: () => cpuInFlight(shared, sharedClient.pid, background),
    },
    { rounds: rounds(15) },
  );
  return [
    {
      group: 25,
      what: 'CPU of a small call, shared session',
      measured: median(cpu.shared),
      unit: 'ms',
      against: { what: 'alone', value: median(cpu.alone) },
      ratio: compare(cpu.shared, cpu.alone),
      budget: { most: 1.6 },
      beside: [],
    },
    {
      group: 25,
      what: '50 small calls in flight, shared session',
      measured: median(rate.shared),
      unit: 'calls/s',
      against: { what: 'alone', value: median(rate.alone) },
      ratio: compare(rate.shared, rate.alone),
      budget: { least: 0.75 },
      beside: [`CPU of such a call: ${formatTimes(inFlight.shared, inFlight.alone)} alone`],
    },
  ];
}

/** Milliseconds of these processes for one of many calls, one after the other. */
async function cpuPerCall({ client, format }: Lane, ...pids: number[]): Promise<number> {
  const before = cpuMs(...pids);
  for (let call = 0; call < BLOCK_CALLS; call++) {
    await client.exchange(format('echo', { message: `call ${call}` }));
  }
  return (cpuMs(...pids) - before) / BLOCK_CALLS;
}

async function cpuInFlight(lane: Lane, ...pids: number[]): Promise<number> {
  const before = cpuMs(...pids);
  await callsPerSecond(lane);
  return cpuMs(...pids) - before;
}
